"""Every example as its README runs it, on a real daemon (real data, real models).

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import harness
import jobs

EXAMPLES = harness.ROOT / "examples"


def setUpModule():
    global meridian
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)



def run_example(name, *args, script="run.sh", timeout=600):
    env = dict(meridian.env)
    env["PATH"] = f"{harness.BIN}:{env['PATH']}"
    done = subprocess.run([str(EXAMPLES / name / script), *args], env=env, text=True, capture_output=True,
                          timeout=timeout)
    if done.returncode != 0:
        raise AssertionError(f"{name}/{script}: exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout + done.stderr


def metric(job, name):
    return {m["MetricName"]: m["Value"] for m in job["FinalMetricDataList"]}[name]


class DigitsTorch(unittest.TestCase):
    def test_two_instances_of_two_ranks_learn_the_digits(self):
        output = run_example("digits-torch", "--job-name", "torch")
        job = jobs.describe(meridian, "torch")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertGreaterEqual(metric(job, "accuracy"), 0.95)
        self.assertGreater(metric(job, "images_per_second"), 0)
        self.assertIn("model.tar.gz", output)
        self.assertTrue(jobs.artifact(meridian, job))
        hosts = {e["message"] for e in jobs.log_events(meridian, "torch")}
        self.assertTrue(any("4 ranks" in h or "world" in h.lower() for h in hosts), sorted(hosts)[:20])

    def test_a_reclaimed_and_resumed_run_ends_with_the_same_weights(self):
        common = ("--hp", "epochs=5", "--spot", "--hp", "min-epoch-seconds=1")
        run_example("digits-torch", "--job-name", "whole", *common)
        run_example("digits-torch", "--job-name", "broken", "--detach", *common)
        jobs.wait_log(meridian, "broken", "epoch=2")
        meridian.cli("spot", "reclaim", "broken")
        job = jobs.wait_end(meridian, "broken", 300)
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn("Interrupted", [t["Status"] for t in job["SecondaryStatusTransitions"]])
        text = jobs.log_text(meridian, "broken")
        self.assertIn("resuming after epoch", text)
        digest = re.compile(r"weights_sha256=([0-9a-f]{64})")
        self.assertEqual(set(digest.findall(text)), set(digest.findall(jobs.log_text(meridian, "whole"))))
        self.assertTrue(digest.search(text))

        def losses(name):
            return {m[1]: m[2] for m in re.finditer(r"epoch=(\d+) loss=([0-9.]+)", jobs.log_text(meridian, name))}
        self.assertEqual(losses("whole"), losses("broken"))


class DigitsMpi(unittest.TestCase):
    def test_mpirun_over_two_instances_with_the_custom_options(self):
        run_example("digits-mpi", "--job-name", "mpi")
        job = jobs.describe(meridian, "mpi")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertGreaterEqual(metric(job, "accuracy"), 0.95)


class DigitsXgboost(unittest.TestCase):
    def test_the_built_in_algorithm_through_boto3(self):
        output = run_example("digits-xgboost")
        self.assertRegex(output, r"accuracy|merror|Completed")
        name = next(j["TrainingJobName"] for j in meridian.client("sagemaker").list_training_jobs(
            NameContains="xgboost")["TrainingJobSummaries"])
        job = jobs.describe(meridian, name)
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn("xgboost-model", jobs.artifact(meridian, job))


class ResNet(unittest.TestCase):
    def test_resnet50_on_a_tiny_tfrecord_set(self):
        if not (EXAMPLES / "resnet50-tfrecord/run.sh").exists():
            self.skipTest("examples/resnet50-tfrecord has no run.sh yet")
        run_example("resnet50-tfrecord", "--job-name", "resnet", timeout=900)
        job = jobs.describe(meridian, "resnet")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))


class OwnImage(unittest.TestCase):
    def test_an_image_built_by_podman(self):
        if shutil.which("podman") is None:
            self.skipTest("podman is not installed")
        run_example("own-image")
        job = next(j for j in meridian.client("sagemaker").list_training_jobs(
            NameContains="own-image")["TrainingJobSummaries"])
        self.assertEqual(job["TrainingJobStatus"], "Completed")
        # An entry point of the request replaces the image's own.
        meridian.client("sagemaker").create_training_job(**jobs.request(
            "entry-of-image", None, image="localhost/digits-own:1",
            OutputDataConfig={"S3OutputPath": "s3://meridian-us-west-2-000000000000/out"},
            AlgorithmSpecification={"ContainerEntrypoint": ["/usr/bin/python3", "-c"],
                                    "ContainerArguments": ["import sys; print('mine', sys.argv[1:])", "a b"]}))
        described = jobs.wait_end(meridian, "entry-of-image")
        self.assertEqual(described["TrainingJobStatus"], "Completed", described.get("FailureReason"))
        self.assertIn("mine ['a b']", jobs.log_text(meridian, "entry-of-image"))


if __name__ == "__main__":
    unittest.main()
