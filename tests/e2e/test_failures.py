"""What surrounds the daemon fails: the disk is full or read-only, a port is taken, the clock jumps.

The errors are plain, and what was acknowledged is there afterwards.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import datetime
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import textwrap
import time
import unittest
import unittest.mock

from botocore.exceptions import ClientError

import harness
import jobs

BUCKET = jobs.BUCKET
MEGABYTE = 1 << 20
REAL_DATETIME = datetime.datetime
FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def mount(*arguments):
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise unittest.SkipTest(f"mount {' '.join(arguments)}: {done.stderr.strip()}")


def needs_root(case):
    if os.getuid() != 0:
        case.skipTest("a file system of our own needs root")


def up(data, *arguments, user=None):
    """`meridian up`, expected to refuse at once."""
    command = [str(harness.BIN / "meridian"), "--data", str(data), "up", "--port", "0", *arguments]
    if user:
        command = ["runuser", "-u", user, "--"] + command
    return subprocess.run(command, text=True, capture_output=True, timeout=60, start_new_session=True)


class Refusals(unittest.TestCase):
    """`meridian up` that cannot work says why, in a line, and what to do."""

    def assert_plain(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("meridian: ")]
        self.assertEqual(len(said), 1, done.stderr)
        for word in words:
            self.assertRegex(said[0], word)

    def read_only(self):
        """A directory that lies on a read-only file system."""
        needs_root(self)
        directory = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-ro-"))
        self.addCleanup(directory.rmdir)
        mount("-t", "tmpfs", "-o", "ro", "tmpfs", str(directory))
        self.addCleanup(subprocess.run, ["umount", str(directory)])
        return directory

    def test_a_read_only_data_directory_is_named(self):
        directory = self.read_only()
        self.assert_plain(up(directory), str(directory), "Read-only file system")
        self.assert_plain(up(directory / "new"), str(directory / "new"), "Read-only file system")

    def test_a_read_only_data_directory_is_named_in_the_background_too(self):
        directory = self.read_only()
        self.assert_plain(up(directory, "--detach"), str(directory), "Read-only file system")

    def test_an_installation_that_became_read_only_is_named(self):
        needs_root(self)
        with harness.Daemon() as meridian:
            pass_by = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-ro-"))
            self.addCleanup(pass_by.rmdir)
            meridian.stop()
            mount("--bind", str(meridian.data), str(pass_by))
            self.addCleanup(subprocess.run, ["umount", str(pass_by)])
            mount("-o", "remount,bind,ro", str(pass_by))
            self.assert_plain(up(pass_by), str(pass_by), "Read-only file system")
            meridian.start()

    def test_a_directory_of_somebody_else_is_named(self):
        needs_root(self)
        directory = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-foreign-"))
        self.addCleanup(shutil.rmtree, directory)
        directory.chmod(0o755)
        # Where that user may read the program.
        programs = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-bin-"))
        self.addCleanup(shutil.rmtree, programs)
        programs.chmod(0o755)
        shutil.copy(harness.BIN / "meridian", programs)
        with unittest.mock.patch.object(harness, "BIN", programs):
            self.assert_plain(up(directory, user=pwd.getpwuid(65534).pw_name), str(directory), "Permission denied")

    def test_a_full_disk_is_named_and_the_next_start_works(self):
        needs_root(self)
        with tiny_disk(self, 4) as meridian:
            fill(meridian)
            self.assert_plain(up(meridian.data), str(meridian.data), "No space left on device|disk is full")
            free(meridian)
            meridian.start()
            jobs.ensure_bucket(meridian)

    def test_a_taken_port_is_named(self):
        for offset in (0, 2):  # the AWS APIs, the admin page
            with self.subTest(offset=offset), socket.create_server(("127.0.0.1", 0)) as taken:
                port = taken.getsockname()[1]
                data = tempfile.mkdtemp(prefix="meridian-e2e-port-")
                self.addCleanup(shutil.rmtree, data)
                self.assert_plain(up(data, "--port", str(port - offset)), str(port), "--port")


@contextlib.contextmanager
def tiny_disk(case, megabytes):
    """A daemon, not yet started, whose data directory is a file system of that size."""
    meridian = harness.Daemon()
    mount("-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(meridian.data))
    try:
        with contextlib.closing(meridian):
            yield meridian
    finally:
        subprocess.run(["umount", "-l", str(meridian.data)])
        shutil.rmtree(meridian.data, ignore_errors=True)


def fill(meridian):
    """Not a byte is left."""
    with open(meridian.data / "ballast", "ab", buffering=0) as ballast:
        for piece in (MEGABYTE, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    ballast.write(bytes(piece))


def free(meridian):
    (meridian.data / "ballast").unlink()


class FullDisk(unittest.TestCase):
    def setUp(self):
        needs_root(self)
        self.meridian = self.enterContext(tiny_disk(self, 48))
        self.meridian.start()
        jobs.ensure_bucket(self.meridian)

    def refused(self, call, **arguments):
        """The call's error, which must say that space is missing; never a broken connection."""
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        answer = caught.exception.response
        self.assertGreaterEqual(answer["ResponseMetadata"]["HTTPStatusCode"], 500, answer)
        self.assertRegex(answer["Error"].get("Message", ""), "(?i)space|disk", answer)
        return caught.exception

    def assert_objects(self, kept):
        s3 = self.meridian.client("s3")
        listed = [o["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="kept/")
                  for o in page.get("Contents", [])]
        self.assertEqual(listed, sorted(kept))
        for key, body in kept.items():
            self.assertEqual(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read(), body, key)

    def assert_works(self, name):
        self.meridian.client("s3").put_object(Bucket=BUCKET, Key=f"new-{name}", Body=b"x")
        job = jobs.script_job(self.meridian, name, "print('fine')")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))

    def test_acknowledged_objects_stay_and_the_daemon_goes_on(self):
        s3 = self.meridian.client("s3")
        kept = {}
        for number in range(200):
            body = os.urandom(MEGABYTE // 2)
            try:
                s3.put_object(Bucket=BUCKET, Key=f"kept/{number:03}", Body=body)
            except ClientError:
                break
            kept[f"kept/{number:03}"] = body
        self.assertLess(len(kept), 100)
        fill(self.meridian)
        self.refused(s3.put_object, Bucket=BUCKET, Key="kept/last", Body=os.urandom(MEGABYTE))
        self.assert_objects(kept)
        free(self.meridian)
        gone = sorted(kept)[:8]
        for key in gone:
            s3.delete_object(Bucket=BUCKET, Key=key)
            del kept[key]
        self.assert_objects(kept)
        self.assert_works("after")
        self.meridian.kill()
        self.meridian.start()
        self.assert_objects(kept)
        self.assert_works("after-restart")

    def test_a_broken_upload_gives_its_space_back(self):
        s3 = self.meridian.client("s3")
        for _ in range(3):  # each larger than what is left
            self.refused(s3.put_object, Bucket=BUCKET, Key="kept/large", Body=bytes(64 * MEGABYTE))
        upload = s3.create_multipart_upload(Bucket=BUCKET, Key="kept/parts")["UploadId"]
        self.refused(s3.upload_part, Bucket=BUCKET, Key="kept/parts", UploadId=upload, PartNumber=1,
                     Body=bytes(64 * MEGABYTE))
        s3.abort_multipart_upload(Bucket=BUCKET, Key="kept/parts", UploadId=upload)
        body = os.urandom(20 * MEGABYTE)
        s3.put_object(Bucket=BUCKET, Key="kept/fits", Body=body)
        self.assert_objects({"kept/fits": body})

    def test_jobs_are_refused_plainly_and_those_that_were_accepted_are_there(self):
        sagemaker = self.meridian.client("sagemaker")
        source = jobs.upload_source(self.meridian, {"train.py": "print('ran')"})
        accepted = []
        fill(self.meridian)
        for number in range(100):
            try:
                sagemaker.create_training_job(**jobs.request(f"job-{number}", source))
                accepted.append(f"job-{number}")
            except ClientError as error:
                self.assertEqual(error.response["ResponseMetadata"]["HTTPStatusCode"] // 100, 5, error.response)
                break
        else:
            self.fail("100 jobs were accepted on a full disk")
        self.assertEqual({j["TrainingJobName"] for j in sagemaker.list_training_jobs(MaxResults=100)[
            "TrainingJobSummaries"]}, set(accepted))
        free(self.meridian)
        for name in accepted:
            jobs.wait_end(self.meridian, name)
        self.assert_works("afterwards")

    def test_a_job_runs_through_a_full_disk(self):
        jobs.script_job(self.meridian, "through", textwrap.dedent("""
            import os, pathlib, time
            for i in range(80):
                print(f"line {i}", flush=True)
                time.sleep(0.1)
            pathlib.Path(os.environ["SM_MODEL_DIR"], "model").write_text("trained")
        """), wait=False)
        jobs.wait_log(self.meridian, "through", "line 5")
        fill(self.meridian)
        time.sleep(2)
        self.assertEqual(jobs.describe(self.meridian, "through")["SecondaryStatus"], "Training")
        free(self.meridian)
        job = jobs.wait_end(self.meridian, "through")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(jobs.artifact(self.meridian, job), {"model": b"trained"})
        self.assertIn("line 79", jobs.log_text(self.meridian, "through"))

    def test_an_end_on_a_full_disk_is_not_lost(self):
        jobs.script_job(self.meridian, "ends-full", textwrap.dedent("""
            import os, pathlib, sys, time
            pathlib.Path(os.environ["SM_MODEL_DIR"], "model").write_text("trained")
            print("ready", flush=True)
            time.sleep(3)
        """), wait=False)
        jobs.wait_log(self.meridian, "ends-full", "ready")
        fill(self.meridian)
        time.sleep(5)
        self.assertEqual(jobs.describe(self.meridian, "ends-full")["TrainingJobStatus"], "InProgress")
        free(self.meridian)
        job = jobs.wait_end(self.meridian, "ends-full")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(jobs.artifact(self.meridian, job), {"model": b"trained"})


class ClockJump(unittest.TestCase):
    """The wall clock of the daemon and its supervisors jumps; monotonic time goes on."""

    def setUp(self):
        if not FAKETIME.exists():
            self.skipTest("libfaketime is not installed")
        self.offset_file = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-clock-")) / "offset"
        self.addCleanup(shutil.rmtree, self.offset_file.parent)
        self.addCleanup(setattr, datetime, "datetime", REAL_DATETIME)
        self.jump(0)
        environment = dict(LD_PRELOAD=str(FAKETIME), FAKETIME_TIMESTAMP_FILE=str(self.offset_file),
                           FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_RESET="1")
        self.meridian = harness.Daemon()
        self.addCleanup(self.meridian.close)
        with unittest.mock.patch.dict(os.environ, environment):
            self.meridian.start()

    def jump(self, hours):
        """The daemon's wall clock is that much ahead from now on; this client's goes with it."""
        text = f"{hours * 3600:+d}\n"
        temporary = self.offset_file.with_suffix(".new")
        temporary.write_text(text)
        temporary.rename(self.offset_file)

        class Shifted(REAL_DATETIME):
            @classmethod
            def utcnow(cls):
                return REAL_DATETIME.utcnow() + datetime.timedelta(hours=hours)

        # botocore signs by the datetime of this very module.
        datetime.datetime = Shifted if hours else REAL_DATETIME

    def test_a_jump_changes_no_bill_and_loses_no_line(self):
        jobs.script_job(self.meridian, "jumped", textwrap.dedent("""
            import time
            for i in range(60):
                print(f"line {i} loss={60 - i}", flush=True)
                time.sleep(0.1)
        """), wait=False, AlgorithmSpecification={"MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9]+)"}]})
        started = time.monotonic()
        jobs.wait_log(self.meridian, "jumped", "line 5")
        self.jump(30)
        jobs.wait_log(self.meridian, "jumped", "line 20")
        self.jump(-30)
        job = jobs.wait_end(self.meridian, "jumped")
        took = time.monotonic() - started
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        for figure in ("TrainingTimeInSeconds", "BillableTimeInSeconds"):
            self.assertGreaterEqual(job[figure], 5)
            self.assertLessEqual(job[figure], took + 2)
        lines = [l.split()[1] for l in jobs.log_text(self.meridian, "jumped").splitlines() if l.startswith("line")]
        self.assertEqual(lines, [str(i) for i in range(60)])
        self.assertEqual([m["Value"] for m in job["FinalMetricDataList"]], [1.0])
        # After the jumps everything still works, and a restart finds the same.
        self.meridian.kill()
        self.meridian.start()
        self.jump(0)
        self.assertEqual(jobs.script_job(self.meridian, "next", "print('fine')")["TrainingJobStatus"], "Completed")


if __name__ == "__main__":
    unittest.main()
