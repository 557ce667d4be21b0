"""The SageMaker SDK version 3 (ModelTrainer), by the environment of `meridian env` alone.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import tempfile
import unittest

import harness


def setUpModule():
    global meridian
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    meridian.export_environment()


class ModelTrainerLane(unittest.TestCase):
    def test_model_trainer_trains(self):
        from sagemaker.train import ModelTrainer
        from sagemaker.train.configs import Compute, SourceCode
        directory = pathlib.Path(tempfile.mkdtemp())
        (directory / "train.py").write_text(
            "import os, pathlib\nprint('trained by ModelTrainer', flush=True)\n"
            "pathlib.Path('/opt/ml/model/model.txt').write_text('x')\n")
        trainer = ModelTrainer(training_image="host", role=harness.ROLE, base_job_name="trainer",
                               source_code=SourceCode(source_dir=str(directory), entry_script="train.py"),
                               compute=Compute(instance_type="ml.m5.large", instance_count=1, volume_size_in_gb=5))
        trainer.train(wait=True)
        jobs = meridian.client("sagemaker").list_training_jobs(NameContains="trainer")["TrainingJobSummaries"]
        self.assertEqual([j["TrainingJobStatus"] for j in jobs], ["Completed"])


if __name__ == "__main__":
    unittest.main()
