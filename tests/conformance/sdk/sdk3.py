"""The SageMaker SDK version 3 (ModelTrainer), by the environment of `meridian env` alone.

SPDX-License-Identifier: Apache-2.0
"""
import io
import pathlib
import shutil
import tarfile
import tempfile
import textwrap
import unittest

import harness


def setUpModule():
    global meridian
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    meridian.export_environment()


# Gradients of two instances with two processes each, by the processors alone.
RANKS = textwrap.dedent("""
    import argparse, os, pathlib, socket, torch
    import torch.distributed as dist
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float)
    scale = parser.parse_args().scale
    dist.init_process_group("gloo")
    total = torch.tensor([scale * (dist.get_rank() + 1)])
    dist.all_reduce(total)
    rows = len(pathlib.Path(os.environ["SM_CHANNEL_TRAIN"], "rows.csv").read_text().split())
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} on {socket.gethostname()}: sum={total.item()} rows={rows}",
          flush=True)
    if dist.get_rank() == 0:
        pathlib.Path(os.environ["SM_MODEL_DIR"], "sum.txt").write_text(str(total.item()))
    dist.barrier()
""")


class ModelTrainerLane(unittest.TestCase):
    def trainer(self, name, program, **more):
        from sagemaker.train import ModelTrainer
        from sagemaker.train.configs import Compute, SourceCode
        directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, directory)
        (directory / "train.py").write_text(program)
        compute = Compute(instance_type="ml.m5.large", instance_count=more.pop("instances", 1), volume_size_in_gb=5)
        return ModelTrainer(training_image="host", role=harness.ROLE, base_job_name=name, compute=compute,
                            source_code=SourceCode(source_dir=str(directory), entry_script="train.py"), **more)

    def job(self, name):
        sagemaker = meridian.client("sagemaker")
        (found,) = sagemaker.list_training_jobs(NameContains=name)["TrainingJobSummaries"]
        return sagemaker.describe_training_job(TrainingJobName=found["TrainingJobName"])

    def log(self, job):
        logs, group = meridian.client("logs"), "/aws/sagemaker/TrainingJobs"
        events = logs.filter_log_events(logGroupName=group, logStreamNamePrefix=job["TrainingJobName"] + "/")["events"]
        return "\n".join(event["message"] for event in events)

    def test_model_trainer_trains(self):
        self.trainer("trainer", "import os\nprint('trained by ModelTrainer', flush=True)\n"
                     "open(os.environ['SM_MODEL_DIR'] + '/model.txt', 'w').write('x')\n").train(wait=True)
        job = self.job("trainer")
        self.assertEqual(job["TrainingJobStatus"], "Completed")
        self.assertIn("trained by ModelTrainer", self.log(job))
        bucket, key = job["ModelArtifacts"]["S3ModelArtifacts"].removeprefix("s3://").split("/", 1)
        archive = meridian.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            self.assertIn("model.txt", tar.getnames())

    def test_torchrun_over_two_instances(self):
        from sagemaker.train.configs import InputData
        from sagemaker.train.distributed import Torchrun
        data = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, data)
        (data / "rows.csv").write_text("1\n2\n3\n")
        # Debian's torchrun (1.13 on Python 3.11) does not find its own default for what becomes of the ranks' output.
        trainer = self.trainer("ranks", RANKS, instances=2, hyperparameters={"scale": 0.5},
                               environment={"PET_REDIRECTS": "1", "PET_TEE": "1"},
                               distributed=Torchrun(process_count_per_node=2))
        try:
            trainer.train(input_data_config=[InputData(channel_name="train", data_source=str(data))], wait=True)
        except Exception as error:
            raise AssertionError(self.log(self.job("ranks"))[-6000:]) from error
        printed = self.log(self.job("ranks"))
        for rank in range(4):
            self.assertIn(f"rank {rank} of 4 on algo-{1 + rank // 2}: sum=5.0 rows=3", printed)

    def test_a_failing_script_raises_with_the_reason_that_the_sdk_writes(self):
        from sagemaker.core.utils.exceptions import FailedStatusError
        with self.assertRaises(FailedStatusError) as raised:
            self.trainer("failing", "raise ValueError('no rows in the data')\n").train(wait=True)
        # The SDK's own driver names the command; what the script said is in the log.
        self.assertRegex(str(raised.exception), r"(?s)AlgorithmError: .*CalledProcessError: .*train\.py.*exit code: 1")
        self.assertIn("no rows in the data", self.log(self.job("failing")))


if __name__ == "__main__":
    unittest.main()
