"""kill -9 of the daemon and of supervisors at work (issue point 8).

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import signal
import subprocess
import textwrap
import time
import unittest

import harness
import jobs

ROUNDS = 120 if os.environ.get("MERIDIAN_SOAK") else 6

COUNTING = textwrap.dedent("""
    import os, sys, time
    for i in range(60):
        print(f"line {i}", flush=True)
        time.sleep(0.05)
    open(os.path.join(os.environ["SM_MODEL_DIR"], "done"), "w").write("60")
    sys.exit(int(os.environ.get("END_WITH", "0")))
""")


def supervisors(meridian):
    """Process ids of meridian-init supervisors of this daemon's instances."""
    found = []
    for run in meridian.data.glob("regions/*/jobs/**/run.json"):
        import json
        pid = json.loads(run.read_text())["pid"]
        if pathlib.Path(f"/proc/{pid}").exists() and not (run.parent / "exit.json").exists():
            found.append(pid)
    return found


class Restart(unittest.TestCase):
    def test_the_training_goes_on_and_nothing_is_missed(self):
        with harness.Daemon() as meridian:
            jobs.script_job(meridian, "survivor", COUNTING, wait=False)
            jobs.wait_log(meridian, "survivor", "line 5")
            for _ in range(3):
                meridian.kill()
                meridian.start()
                time.sleep(0.3)
            job = jobs.wait_end(meridian, "survivor")
            self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
            lines = [l for l in jobs.log_text(meridian, "survivor").splitlines() if l.startswith("line")]
            self.assertEqual(lines, [f"line {i}" for i in range(60)])
            self.assertEqual(jobs.artifact(meridian, job), {"done": b"60"})

    def test_an_end_during_the_downtime_is_found(self):
        with harness.Daemon() as meridian:
            jobs.script_job(meridian, "ends-alone", COUNTING, wait=False, Environment={"END_WITH": "4"})
            jobs.wait_log(meridian, "ends-alone", "line 5")
            meridian.kill()
            time.sleep(5)
            meridian.start()
            job = jobs.wait_end(meridian, "ends-alone")
            self.assertEqual(job["TrainingJobStatus"], "Failed")
            self.assertIn("exit code: 4", job["FailureReason"])
            self.assertIn("line 59", jobs.log_text(meridian, "ends-alone"))

    def test_kills_at_any_moment_of_the_job_lose_nothing(self):
        with harness.Daemon() as meridian:
            for round_number in range(ROUNDS):
                name = f"moment-{round_number}"
                jobs.script_job(meridian, name, "import time\ntime.sleep(0.2)\nprint('finished', flush=True)", wait=False)
                time.sleep(0.08 * (round_number % 12))
                meridian.kill()
                meridian.start()
                job = jobs.wait_end(meridian, name)
                self.assertEqual(job["TrainingJobStatus"], "Completed", (name, job.get("FailureReason")))
                self.assertEqual(jobs.log_text(meridian, name).count("finished"), 1)

    def test_a_killed_supervisor_ends_the_job_as_an_internal_error(self):
        with harness.Daemon() as meridian:
            jobs.script_job(meridian, "orphan", "import time\nprint('up', flush=True)\ntime.sleep(300)", wait=False)
            jobs.wait_log(meridian, "orphan", "up")
            for pid in supervisors(meridian):
                os.kill(pid, signal.SIGKILL)
            job = jobs.wait_end(meridian, "orphan")
            self.assertEqual(job["TrainingJobStatus"], "Failed")
            self.assertIn("InternalServerError", job["FailureReason"])

    def test_a_killed_supervisor_is_retried_by_the_retry_strategy(self):
        with harness.Daemon() as meridian:
            jobs.script_job(meridian, "retried", textwrap.dedent("""
                import pathlib, time
                seen = pathlib.Path("/opt/ml/checkpoints/seen")
                first = not seen.exists()
                seen.write_text("x")
                print("first" if first else "second", flush=True)
                time.sleep(300 if first else 0)
            """), wait=False, RetryStrategy={"MaximumRetryAttempts": 2},
                CheckpointConfig={"S3Uri": f"s3://{jobs.BUCKET}/checkpoints/retried"})
            jobs.wait_log(meridian, "retried", "first")
            # The marker must have reached the bucket before the loss, as a checkpoint would.
            harness.wait_for(lambda: meridian.client("s3").list_objects_v2(
                Bucket=jobs.BUCKET, Prefix="checkpoints/retried").get("KeyCount"), 90, "the checkpoint's upload")
            for pid in supervisors(meridian):
                os.kill(pid, signal.SIGKILL)
            job = jobs.wait_end(meridian, "retried")
            self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))

    def test_a_taken_port_is_named(self):
        with harness.Daemon() as meridian:
            port = meridian.run["port"]
            other = harness.Daemon()
            done = subprocess.run([str(harness.BIN / "meridian"), "--data", str(other.data), "up", "--port", str(port)],
                                  text=True, capture_output=True, timeout=30)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(str(port), done.stderr)
            self.assertIn("--port", done.stderr)

    def test_two_daemons_on_one_data_directory_are_refused(self):
        with harness.Daemon() as meridian:
            done = subprocess.run([str(harness.BIN / "meridian"), "--data", str(meridian.data), "up", "--port", "0"],
                                  text=True, capture_output=True, timeout=30)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("already", done.stderr)


if __name__ == "__main__":
    unittest.main()
