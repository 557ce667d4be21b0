"""The SageMaker SDK's TensorFlow estimator: Keras on one and two instances, Horovod by mpirun on 2 × 2 ranks.

MERIDIAN_LANE_PYTHON is the interpreter that has TensorFlow (and Horovod), of a virtual environment of its own; the
image is mapped to it by a rule of config.yaml.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import harness

PYTHON = os.environ["MERIDIAN_LANE_PYTHON"]
SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"
EXAMPLES = harness.ROOT / "examples"
# The article's options, for Horovod on GPUs.
MPI_OPTIONS = ("-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 "
               "-x HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL")
MPI = {"mpi": {"enabled": True, "processes_per_host": 2, "custom_mpi_options": MPI_OPTIONS}}


def setUpModule():
    global meridian, session, digits
    meridian = harness.Daemon(config=f'images:\n  - match: "*/tensorflow-training:*"\n    run: host:{PYTHON}\n').start()
    unittest.addModuleCleanup(meridian.close)
    meridian.export_environment()
    import sagemaker
    session = sagemaker.Session()
    split = scratch()
    subprocess.run([sys.executable, str(EXAMPLES / "data/digits/split.py"), str(split)], check=True,
                   stdout=subprocess.DEVNULL)
    digits = {part: session.upload_data(str(split / part), key_prefix=f"digits/{part}")
              for part in ("train", "validation")}


def scratch():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="meridian-lane-"))
    unittest.addModuleCleanup(shutil.rmtree, directory, True)
    return directory


def fit(inputs, **arguments):
    """The estimator that was fitted, and what fit() printed."""
    from sagemaker.tensorflow import TensorFlow
    estimator = TensorFlow(role=harness.ROLE, framework_version="2.12", py_version="py310",
                           instance_type="ml.m5.large", environment={"TF_CPP_MIN_LOG_LEVEL": "2"}, **arguments)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            estimator.fit(inputs, logs=True)
    except Exception as error:
        raise AssertionError(f"{error}\n{printed.getvalue()[-6000:]}") from error
    return estimator, printed.getvalue()


def files_of_model(estimator):
    archive = scratch() / "model.tar.gz"
    bucket, key = estimator.model_data.removeprefix("s3://").split("/", 1)
    session.boto_session.client("s3").download_file(bucket, key, str(archive))
    with tarfile.open(archive) as tar:
        return tar.getnames()


class Keras(unittest.TestCase):
    def assert_learned(self, estimator, printed, said):
        accuracy = re.search(said + r" held_out_accuracy=([0-9.]+)", printed)
        self.assertTrue(accuracy, printed[-4000:])
        self.assertGreaterEqual(float(accuracy[1]), 0.95)
        print(accuracy[0], end=" ", flush=True)
        self.assertTrue(any(n.endswith("saved_model.pb") for n in files_of_model(estimator)))

    def test_one_instance(self):
        estimator, printed = fit(digits, entry_point="digits_keras.py", source_dir=str(SCRIPTS), instance_count=1,
                                 metric_definitions=[{"Name": "accuracy", "Regex": r" accuracy: ([0-9.]+)"}])
        self.assert_learned(estimator, printed, "workers=1")
        job = estimator.latest_training_job.describe()
        self.assertGreater({m["MetricName"]: m["Value"] for m in job["FinalMetricDataList"]}["accuracy"], 0.95)

    def test_two_instances_are_mirrored_workers(self):
        estimator, printed = fit(digits, entry_point="digits_keras.py", source_dir=str(SCRIPTS), instance_count=2,
                                 distribution={"multi_worker_mirrored_strategy": {"enabled": True}})
        self.assertIn("worker 0 of 2", printed)
        self.assertIn("worker 1 of 2", printed)
        self.assert_learned(estimator, printed, "workers=2")


class Horovod(unittest.TestCase):
    def setUp(self):
        done = subprocess.run([PYTHON, "-c", "import horovod.tensorflow"], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("not shown, Horovod does not import: " + (done.stderr.strip().splitlines() or ["?"])[-1])

    def test_two_instances_of_two_ranks_learn_the_digits(self):
        estimator, printed = fit(digits, entry_point="digits_horovod.py", source_dir=str(SCRIPTS), instance_count=2,
                                 distribution=MPI)
        ranks = set(re.findall(r"rank (\d) of 4, local (\d) of 2 on (algo-\d), fusion threshold 16777216", printed))
        self.assertEqual(ranks, {("0", "0", "algo-1"), ("1", "1", "algo-1"), ("2", "0", "algo-2"), ("3", "1", "algo-2")})
        result = re.search(r"ranks=4 held_out_accuracy=([0-9.]+) same_weights=True", printed)
        self.assertTrue(result, printed[-4000:])
        self.assertGreaterEqual(float(result[1]), 0.95)
        print(result[0], end=" ", flush=True)
        self.assertIn("1/saved_model.pb", files_of_model(estimator))

    def test_resnet50_from_tfrecords_by_the_articles_entry_point(self):
        records = scratch()
        subprocess.run(["/usr/bin/python3", str(EXAMPLES / "resnet50-tfrecord/make_tfrecords.py"), str(records),
                        "--images", "240", "--size", "32"], check=True, stdout=subprocess.DEVNULL)
        estimator, printed = fit({"train": session.upload_data(str(records), key_prefix="tfrecords")},
                                 entry_point="sagemaker_entry.py", source_dir=str(SCRIPTS), instance_count=2,
                                 dependencies=[str(EXAMPLES / "resnet50-tfrecord")], distribution=MPI)
        for rank in range(4):
            self.assertRegex(printed, rf"rank {rank} of 4 on algo-{1 + rank // 2}: 3 steps an epoch")
        result = re.search(r"epoch=2 loss=[0-9.]+ top1=[0-9.]+ images_per_second=[0-9.]+", printed)
        self.assertTrue(result, printed[-4000:])
        print(result[0], end=" ", flush=True)
        self.assertIn("resnet50.h5", files_of_model(estimator))


if __name__ == "__main__":
    unittest.main()
