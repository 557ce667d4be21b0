"""What an unmodified training script or image relies on, beside test_training: files, keys, packages, TensorFlow's
and torchrun's variables, code in images, and interruptions as the configuration asks for them.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import unittest
import uuid

from botocore.config import Config
from botocore.exceptions import ClientError

import harness
import jobs

# Pools of their own for spot jobs, so that what interrupts one disturbs no other test.
CONFIG = """
pools:
  - {name: default, types: [ml.m5.large], count: 8}
  - {name: impatient, types: [ml.m4.xlarge], count: 2, spot: {reclaim_after: [2s]}}
  - {name: scarce, types: [ml.c5.xlarge], count: 2, spot: {trace: scarce.json}}
"""
SCARCE = {"metadata": {"gap_seconds": 4}, "data": [1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}


def setUpModule():
    global meridian
    meridian = harness.Daemon(config=CONFIG)
    (meridian.data / "scarce.json").write_text(json.dumps(SCARCE))
    meridian.start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)


def script(text):
    return textwrap.dedent(text)


def completed(test, name, text, **more):
    """Runs the script to its end; returns what it printed as `facts=JSON`."""
    job = jobs.script_job(meridian, name, script(text), **more)
    test.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
    return jobs.printed_json(meridian, name, "facts")


class Files(unittest.TestCase):
    def test_files_that_nobody_describes(self):
        jobs.ensure_bucket(meridian).put_object(Bucket=jobs.BUCKET, Key="files/sub/a.csv", Body=b"1")
        facts = completed(self, "files", """
            import json, os
            config = {n: json.load(open("/opt/ml/input/config/" + n)) for n in os.listdir("/opt/ml/input/config")}
            print("facts=" + json.dumps({
                "config": config,
                "manifest": json.load(open("/opt/ml/input/data/train-manifest")),
                "directories": [d for d in ("metrics/sagemaker", "profiler", "intermediate", "data")
                                if os.access("/opt/ml/output/" + d, os.W_OK)]}), flush=True)
        """, InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/files/"}}}])
        self.assertEqual(facts["manifest"], [{"prefix": f"s3://{jobs.BUCKET}/files/"}, "sub/a.csv"])
        self.assertEqual(facts["directories"], ["metrics/sagemaker", "profiler", "intermediate", "data"])
        self.assertEqual(facts["config"]["trainingjobconfig.json"]["TrainingJobName"], "files")
        self.assertEqual(facts["config"]["init-config.json"]["hostConfig"], {"clusterSize": 1, "hostNumber": 1})
        self.assertIn("upstreamoutputdataconfig.json", facts["config"])

    def test_input_above_the_volume_is_refused_by_name(self):
        source = jobs.upload_source(meridian, {"train.py": "pass"}, key="code/volume.tar.gz")
        jobs.ensure_bucket(meridian).put_object(Bucket=jobs.BUCKET, Key="volume/a", Body=b"1")
        # Debian's client holds that no volume is smaller than 1; the service takes 0.
        client = meridian.client("sagemaker", config=Config(parameter_validation=False))
        client.create_training_job(**jobs.request(
            "volume", source, ResourceConfig={"VolumeSizeInGB": 0},
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/volume/"}}}]))
        reason = jobs.wait_end(meridian, "volume")["FailureReason"]
        self.assertTrue(reason.startswith("ClientError: "), reason)
        self.assertIn("VolumeSizeInGB", reason)


class Keys(unittest.TestCase):
    SCRIPT = """
        import json, os
        import boto3
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            os.environ.pop(name, None)
        session = boto3.Session()
        keys = session.get_credentials()
        facts = {"method": keys.method if keys else None,
                 "relative": os.environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")}
        if keys:
            s3 = session.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
            s3.put_object(Bucket="training-bucket", Key="written-by-a-container-role", Body=b"1")
        print("facts=" + json.dumps(facts), flush=True)
    """

    def test_a_program_without_keys_in_its_environment_finds_those_of_the_container(self):
        facts = completed(self, "container-keys", self.SCRIPT, instances=2)
        self.assertEqual(facts["method"], "container-role")
        self.assertTrue(facts["relative"].startswith("/v2/credentials/"), facts)

    def test_an_isolated_program_gets_none(self):
        facts = completed(self, "isolated-keys", self.SCRIPT, EnableNetworkIsolation=True)
        self.assertEqual(facts, {"method": None, "relative": None})


class Launch(unittest.TestCase):
    def test_a_package_is_installed_and_run_as_a_module(self):
        source = jobs.upload_source(meridian, {
            "setup.py": "from setuptools import setup\nsetup(name='mine', version='3.1', py_modules=['mine'])\n",
            "mine.py": script("""
                import json, sys
                from importlib.metadata import version
                print("facts=" + json.dumps({"version": version("mine"), "argv": sys.argv[1:]}), flush=True)
            """)}, key="code/package.tar.gz")
        meridian.client("sagemaker").create_training_job(**jobs.request(
            "package", source, program="mine.py", hyperparameters={"lr": "0.1"}))
        job = jobs.wait_end(meridian, "package")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(jobs.printed_json(meridian, "package", "facts"), {"version": "3.1", "argv": ["--lr", "0.1"]})

    def test_a_package_that_can_not_be_installed_is_the_failure(self):
        source = jobs.upload_source(meridian, {"setup.py": "raise SystemExit('no compiler here')", "mine.py": ""},
                                    key="code/broken-package.tar.gz")
        meridian.client("sagemaker").create_training_job(**jobs.request("broken-package", source, program="mine.py"))
        reason = jobs.wait_end(meridian, "broken-package")["FailureReason"]
        self.assertIn("cannot install setup.py: ", reason)

    def test_the_program_may_be_named_by_the_environment(self):
        source = jobs.upload_source(meridian, {"other.py": "print('facts=\"other\"', flush=True)"},
                                    key="code/by-environment.tar.gz")
        body = jobs.request("by-environment", None, Environment={
            "SAGEMAKER_PROGRAM": "other.py", "SAGEMAKER_SUBMIT_DIRECTORY": source})
        meridian.client("sagemaker").create_training_job(**body)
        job = jobs.wait_end(meridian, "by-environment")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(jobs.printed_json(meridian, "by-environment", "facts"), "other")

    def test_mirrored_workers_find_each_other_in_tf_config(self):
        facts = completed(self, "mirrored", """
            import json, os, socket
            config = json.loads(os.environ["TF_CONFIG"])
            for address in config["cluster"]["worker"]:
                socket.gethostbyname(address.split(":")[0])
            if config["task"]["index"] == 0:
                print("facts=" + json.dumps(config), flush=True)
        """, instances=2, hyperparameters={"sagemaker_multi_worker_mirrored_strategy_enabled": "true"})
        hosts, ports = zip(*(address.split(":") for address in facts["cluster"]["worker"]))
        self.assertEqual(hosts, ("algo-1", "algo-2"))
        self.assertEqual(ports[0], "8890")
        self.assertEqual(facts["task"], {"index": 0, "type": "worker"})

    def test_ranks_look_as_if_torchrun_had_started_them(self):
        facts = completed(self, "torchrun", """
            import json, os
            import torch.distributed as dist
            dist.init_process_group("gloo")
            if dist.get_rank() == 0:
                print("facts=" + json.dumps({"world": dist.get_world_size(), **{
                    k: os.environ[k] for k in ("TORCHELASTIC_RUN_ID", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE")}}), flush=True)
            dist.barrier()
        """, instances=2, hyperparameters={"sagemaker_torch_distributed_enabled": "true",
                                           "sagemaker_torch_processes_per_host": "1"})
        self.assertEqual(facts, {"world": 2, "TORCHELASTIC_RUN_ID": "none", "GROUP_WORLD_SIZE": "2",
                                 "ROLE_WORLD_SIZE": "2"})


class Field(unittest.TestCase):
    """Cases A of the field that test_training has not."""

    def test_without_docker_the_job_says_what_runs_it(self):
        job = jobs.script_job(meridian, "no-docker", "pass")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        messages = [t["StatusMessage"] for t in job["SecondaryStatusTransitions"]]
        self.assertTrue(any("host runtime with /usr/bin/python3" in m for m in messages), messages)

    def test_a_relative_program_without_its_source_names_the_path(self):
        meridian.client("sagemaker").create_training_job(**jobs.request(
            "no-source", None, hyperparameters={"sagemaker_program": "foo.py"}))
        self.assertIn("/opt/ml/code/foo.py", jobs.wait_end(meridian, "no-source")["FailureReason"])

    def test_a_local_output_beside_code_in_s3_is_what_is_refused(self):
        source = jobs.upload_source(meridian, {"train.py": "pass"}, key="code/local-output.tar.gz")
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").create_training_job(**jobs.request(
                "local-output", source, OutputDataConfig={"S3OutputPath": "file:///tmp/out"}))
        error = raised.exception.response["Error"]
        self.assertEqual(error["Code"], "ValidationException")
        self.assertIn("file:///tmp/out", error["Message"])
        self.assertNotIn("sourcedir", error["Message"])

    def test_model_packages_are_not_served_and_the_answer_says_so(self):
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").list_model_packages()
        error = raised.exception.response["Error"]
        self.assertIn("ListModelPackages", error["Message"])


class Images(unittest.TestCase):
    def build(self, name, files):
        """An image of this machine's Python with files below /."""
        base = "localhost/digits-own:1"
        if subprocess.run(["podman", "image", "exists", base]).returncode != 0:
            subprocess.run([str(harness.ROOT / "examples/own-image/build.sh"), base], check=True, capture_output=True)
        with tempfile.TemporaryDirectory() as context:
            lines = [f"FROM {base}"]
            for path, text in files.items():
                local = path.strip("/").replace("/", "_")
                (pathlib.Path(context) / local).write_text(text)
                lines.append(f"COPY {local} {path}")
            lines += ["ENV SAGEMAKER_PROGRAM=train.py", 'ENTRYPOINT ["/usr/bin/python3", "/opt/ml/code/train.py"]']
            (pathlib.Path(context) / "Containerfile").write_text("\n".join(lines) + "\n")
            subprocess.run(["podman", "build", "--isolation", "chroot", "--tag", name, context], check=True,
                           capture_output=True)
        self.addCleanup(subprocess.run, ["podman", "rmi", "--force", name], capture_output=True)

    def test_code_in_an_image_wins_over_the_requests(self):
        if shutil.which("podman") is None:
            self.skipTest("podman is not installed")
        image = f"localhost/with-code:{uuid.uuid4().hex[:8]}"  # other runs of this test share podman
        self.build(image, {"/opt/ml/code/train.py": "import sys; print('the image', sys.argv[1:])\n"})
        source = jobs.upload_source(meridian, {"train.py": "print('the request')"}, key="code/of-request.tar.gz")
        meridian.client("sagemaker").create_training_job(**jobs.request(
            "with-code", source, image=image))
        job = jobs.wait_end(meridian, "with-code")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        # As on AWS the argument is `train`.
        self.assertIn("the image ['train']", jobs.log_text(meridian, "with-code"))
        self.assertIn("wins over sagemaker_submit_directory", meridian.cli("describe", "with-code").stdout)


class Spot(unittest.TestCase):
    STEPS = """
        import os, pathlib, signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (print("asked to stop", flush=True), sys.exit(0)))
        state = pathlib.Path("/opt/ml/checkpoints/step.txt")
        step = int(state.read_text()) if state.exists() else 0
        print(f"start at {step}", flush=True)
        while step < 40:
            step += 1
            time.sleep(0.1)
            state.with_suffix(".tmp").write_text(str(step))
            state.with_suffix(".tmp").rename(state)
        print("facts=" + str(step), flush=True)
    """

    def run_spot(self, name, instance_type):
        return completed(self, name, self.STEPS, EnableManagedSpotTraining=True,
                         StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
                         ResourceConfig={"InstanceType": instance_type},
                         CheckpointConfig={"S3Uri": f"s3://{jobs.BUCKET}/checkpoints/{name}"})

    def starts(self, name):
        return [int(l.split()[-1]) for l in jobs.log_text(meridian, name).splitlines() if l.startswith("start at")]

    def test_the_configuration_reclaims(self):
        self.assertEqual(self.run_spot("impatient", "ml.m4.xlarge"), 40)
        self.assertEqual(len(self.starts("impatient")), 2)
        self.assertGreater(self.starts("impatient")[1], 0)
        self.assertIn("asked to stop", jobs.log_text(meridian, "impatient"))
        job = jobs.describe(meridian, "impatient")
        self.assertIn("Interrupted", [t["Status"] for t in job["SecondaryStatusTransitions"]])

    def test_a_trace_keeps_a_job_waiting(self):
        self.assertEqual(self.run_spot("scarce", "ml.c5.xlarge"), 40)
        job = jobs.describe(meridian, "scarce")
        messages = [t["StatusMessage"] for t in job["SecondaryStatusTransitions"]]
        self.assertTrue(any("too few spot instances" in m for m in messages), messages)
        # The gap is neither run nor billed.
        self.assertLess(job["BillableTimeInSeconds"], job["TrainingTimeInSeconds"])


class Limits(unittest.TestCase):
    def refusal(self, **more):
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").create_training_job(**jobs.request("never", None, **more))
        return raised.exception.response["Error"]["Message"]

    def test_a_month_is_too_long(self):
        self.assertIn("28 days", self.refusal(StoppingCondition={"MaxRuntimeInSeconds": 30 * 86400}))

    def test_a_key_that_encrypts_nothing_is_named_or_refused(self):
        body = jobs.request("with-key", None, OutputDataConfig={"KmsKeyId": "alias/mine"}, AlgorithmSpecification={
            "ContainerEntrypoint": ["/bin/true"]})
        meridian.client("sagemaker").create_training_job(**body)
        job = jobs.wait_end(meridian, "with-key")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn("OutputDataConfig.KmsKeyId: not enforced", meridian.cli("describe", "with-key").stdout)
        key = job["ModelArtifacts"]["S3ModelArtifacts"].removeprefix(f"s3://{jobs.BUCKET}/")
        self.assertNotIn("ServerSideEncryption", meridian.client("s3").head_object(Bucket=jobs.BUCKET, Key=key))
        with harness.Daemon(options=["--strict"]) as strict:
            jobs.ensure_bucket(strict)
            with self.assertRaises(ClientError) as raised:
                strict.client("sagemaker").create_training_job(**body)
            self.assertIn("OutputDataConfig.KmsKeyId", raised.exception.response["Error"]["Message"])

    def test_a_job_that_the_pool_lost_its_instances_for_ends(self):
        with harness.Daemon() as other:
            jobs.ensure_bucket(other)
            jobs.script_job(other, "holder", "import time\nprint('holding', flush=True)\ntime.sleep(600)",
                            wait=False, instances=6)
            jobs.wait_log(other, "holder", "holding")
            jobs.script_job(other, "waiter", "pass", wait=False, instances=4)
            other.stop()
            (other.data / "config.yaml").write_text("pools: [{name: default, count: 2}]\n")
            other.start()
            job = jobs.wait_end(other, "waiter")
            self.assertEqual(job["TrainingJobStatus"], "Failed")
            self.assertTrue(job["FailureReason"].startswith(
                "CapacityError: Unable to provision requested ML compute capacity."), job["FailureReason"])
            other.client("sagemaker").stop_training_job(TrainingJobName="holder")
            jobs.wait_end(other, "holder")


if __name__ == "__main__":
    unittest.main()
