"""examples/grid-batch against four regions: the array trains in all of them, and what ends a child ends its training.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
EXAMPLE = harness.ROOT / "examples/grid-batch"
ENDS = ("SUCCEEDED", "FAILED")


class TestGridBatch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.meridian = harness.Daemon(regions=REGIONS).start()
        cls.addClassCleanup(cls.meridian.close)
        cls.batch = cls.meridian.client("batch")
        cls.env = dict(cls.meridian.env, PATH=f"{harness.BIN}:{cls.meridian.env['PATH']}")

    def run_example(self, *arguments, columns="epochs=3", **env):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as manifest:
            for line in (EXAMPLE / "array.txt").read_text().split("\n"):
                manifest.write(f"{line} , {columns}\n" if line else "\n")
            manifest.flush()
            done = subprocess.run([str(EXAMPLE / "run.sh"), *arguments], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=400, env=dict(self.env, MANIFEST=manifest.name, **env))
        self.assertEqual(done.returncode, 0, done.stdout + self.logs(done.stdout))
        return re.search(r"submitted (\S+) with 4 children", done.stdout)[1], done.stdout

    def logs(self, output):
        found = re.search(r"submitted (\S+) with", output)
        return "\n".join(self.output(f"{found[1]}:{i}") for i in range(4)) if found else ""

    def output(self, child):
        described = self.batch.describe_jobs(jobs=[child])["jobs"][0]
        stream = described["container"].get("logStreamName")
        if stream is None:
            return described.get("statusReason", "")
        events = self.meridian.client("logs").get_log_events(
            logGroupName="/aws/batch/job", logStreamName=stream, startFromHead=True)["events"]
        return "\n".join(e["message"] for e in events)

    def training(self, job, index, attempt=1):
        """The training of a child, wherever it is; None when it is not there yet."""
        sagemaker = self.meridian.client("sagemaker", REGIONS[index])
        try:
            return sagemaker.describe_training_job(TrainingJobName=f"grid-{job[:8]}-{index}-{attempt}")
        except sagemaker.exceptions.ClientError:
            return None

    def wait_training(self, job, index, *statuses, attempt=1):
        def look():
            found = self.training(job, index, attempt)
            return found if found and (found["TrainingJobStatus"] in statuses or found["SecondaryStatus"] in statuses) else None
        return harness.wait_for(look, 90, f"training {index}/{attempt} of {job} in {statuses}")

    def wait(self, job, *states):
        return harness.wait_for(lambda: (lambda d: d if d["status"] in states else None)(
            self.batch.describe_jobs(jobs=[job])["jobs"][0]), 120, f"{job} in {states}")

    def test_a_row_becomes_a_training_in_its_region(self):
        job, output = self.run_example()
        self.assertEqual(len(re.findall(r"Completed .*accuracy=0\.\d+", output)), 4, output)
        for index, region in enumerate(REGIONS):
            found = self.training(job, index)
            self.assertEqual(found["TrainingJobStatus"], "Completed")
            self.assertEqual(found["ResourceConfig"]["InstanceCount"], 2)
            self.assertEqual(found["HyperParameters"]["epochs"], "3")
            self.assertIn(f":{region}:", found["TrainingJobArn"])

    def test_a_child_that_ends_takes_its_training_along(self):
        job, _ = self.run_example(columns="epochs=1000000", DETACH="1")
        for index in range(4):
            self.wait_training(job, index, "Training")
        self.batch.terminate_job(jobId=f"{job}:1", reason="only this one")
        self.assertEqual(self.wait(f"{job}:1", *ENDS)["statusReason"], "only this one")
        self.wait_training(job, 1, "Stopped")
        for index in (0, 2, 3):
            self.assertEqual(self.training(job, index)["TrainingJobStatus"], "InProgress")
        # A driver that is killed outright stops nothing; its next attempt does, before it starts anew.
        os.kill(self.driver_of(f"{job}:2"), signal.SIGKILL)
        self.wait_training(job, 2, "Training", attempt=2)
        self.wait_training(job, 2, "Stopped", attempt=1)
        # Nor does one without a further attempt: that is left to the sweep.
        os.kill(self.driver_of(f"{job}:2"), signal.SIGKILL)
        self.wait(f"{job}:2", "FAILED")
        self.assertEqual(self.training(job, 2, 2)["TrainingJobStatus"], "InProgress")
        subprocess.run([str(EXAMPLE / "driver.py"), "sweep", *REGIONS], env=dict(self.env, BATCH_REGION="us-east-1"),
                       check=True, timeout=60)
        self.wait_training(job, 2, "Stopped", attempt=2)
        self.assertEqual(self.training(job, 0)["TrainingJobStatus"], "InProgress", "its child still runs")
        self.batch.terminate_job(jobId=job, reason="all of them")
        self.assertEqual(self.wait(job, *ENDS)["status"], "FAILED")
        for index in (0, 3):
            self.wait_training(job, index, "Stopped")

    def driver_of(self, child):
        """The pid of the driver process of an array child of ours."""
        wanted = f"AWS_BATCH_JOB_ID={child}".encode()

        def look():
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    if b"run" in words and words[0].endswith(b"python3") and \
                            wanted in (process / "environ").read_bytes().split(b"\0"):
                        return int(process.name)
                except OSError:
                    continue
            return None
        return harness.wait_for(look, 30, f"the driver of {child}")

    def test_a_job_that_is_no_array_says_so(self):
        self.run_example(DETACH="1")
        single = self.batch.submit_job(jobName="single", jobQueue="default", jobDefinition="grid-driver")["jobId"]
        self.assertEqual(self.wait(single, *ENDS)["container"]["exitCode"], 1)
        self.assertIn("no child of an array", self.output(single))

    def test_the_driver_in_an_image(self):
        if shutil.which("podman") is None:
            self.skipTest("podman is not installed")
        build = subprocess.run([str(EXAMPLE / "build.sh")], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(build.returncode, 0, build.stdout)
        self.addCleanup(subprocess.run, ["podman", "rmi", "--force", "localhost/grid-driver:1", "localhost/grid-base:1"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, output = self.run_example("localhost/grid-driver:1", columns="epochs=1")
        self.assertEqual(len(re.findall(r"Completed .*accuracy=", output)), 4, output)


if __name__ == "__main__":
    unittest.main()
