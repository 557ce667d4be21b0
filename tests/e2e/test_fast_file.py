"""Channels in FastFile mode: shown at once, read when the program reads, by FUSE where /dev/fuse opens.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import textwrap
import unittest

import harness
import jobs

MIB = 1 << 20


def fast_file(name, prefix, **more):
    return {"ChannelName": name, "InputMode": "FastFile", **more, "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/{prefix}"}}}


def message_of(job, status):
    return next(t["StatusMessage"] for t in job["SecondaryStatusTransitions"] if t["Status"] == status)


def why_not():
    """Why this user's instances cannot have files on demand, asked as the daemon asks; "" when they can."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([str(harness.BIN / "meridian-init"), "files-probe", place], stdout=subprocess.PIPE, text=True)
        return done.stdout.strip() if done.returncode else ""


def file_servers(meridian):
    """Process ids of the file servers of this daemon's running instances."""
    found = []
    for run in meridian.data.glob("regions/*/jobs/**/run.json"):
        pid = json.loads(run.read_text())["pid"]
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found += [int(c) for c in children if pathlib.Path(f"/proc/{c}/comm").read_text() == "meridian-files\n"]
        except OSError:
            continue
    return found


def moved(pid):
    """Bytes that a process has read and been sent since its start."""
    return int(pathlib.Path(f"/proc/{pid}/io").read_text().split("rchar: ")[1].split()[0])


def wait_file(host_ml, name):
    return harness.wait_for(lambda: (host_ml / name).exists() and (host_ml / name), 60, f"{name} of the program")


def ml_of(meridian, job):
    """/opt/ml of algo-1 as the host has it."""
    return harness.wait_for(lambda: next(meridian.data.glob(f"regions/*/jobs/{job}*/1/algo-1/ml"), None), 30,
                            f"the directory of {job}")


class FastFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why_not():
            raise unittest.SkipTest(f"no files on demand: {why_not()}")
        cls.meridian = harness.Daemon(config="s3: {sync: false}\n").start()
        cls.addClassCleanup(cls.meridian.close)
        jobs.ensure_bucket(cls.meridian)

    @property
    def s3(self):
        return self.meridian.client("s3")  # a daemon that was started again has another port

    def assertCompleted(self, name, job):
        self.assertEqual(job["TrainingJobStatus"], "Completed",
                         (job.get("FailureReason"), jobs.log_text(self.meridian, name)))

    def test_thousands_of_objects_are_read_as_files(self):
        objects = {f"{i % 30:02}/{i:04}.bin": f"object {i}".encode() * (i % 9) for i in range(2000)}
        s3, expected = self.s3, hashlib.sha256()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda key: s3.put_object(Bucket=jobs.BUCKET, Key="many/" + key, Body=objects[key]), objects))
        for key in sorted(objects):
            expected.update(key.encode() + objects[key])
        job = jobs.script_job(self.meridian, "many", textwrap.dedent("""
            import hashlib, os, pathlib
            top = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"])
            digest, count = hashlib.sha256(), 0
            for path in sorted(p for p in top.rglob("*") if p.is_file()):
                digest.update(str(path.relative_to(top)).encode() + path.read_bytes())
                count += 1
            print("read", count, digest.hexdigest(), flush=True)
        """), InputDataConfig=[fast_file("train", "many")])
        self.assertCompleted("many", job)
        self.assertIn(f"read 2000 {expected.hexdigest()}", jobs.log_text(self.meridian, "many"))
        self.assertEqual(message_of(job, "Downloading"), "Downloading input data")

    def test_of_a_huge_object_only_what_is_read_is_moved(self):
        # Several parts, so that nothing could be linked: File mode would copy it.
        with tempfile.NamedTemporaryFile() as big:
            big.truncate(192 * MIB)
            big.seek(150 * MIB)
            big.write(b"needle")
            big.flush()
            self.s3.upload_file(big.name, jobs.BUCKET, "huge/object.bin")
        jobs.script_job(self.meridian, "sparse", textwrap.dedent("""
            import os, pathlib, time
            path = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"], "object.bin")
            with open(path, "rb") as file:
                file.seek(150 << 20)
                found = file.read(6).decode()
            pathlib.Path("/opt/ml/checkpoints/found").write_text(f"{path.stat().st_size} {found}")
            while not os.path.exists("/opt/ml/checkpoints/go"):
                time.sleep(0.05)
        """), wait=False, InputDataConfig=[fast_file("train", "huge/")])
        ml = ml_of(self.meridian, "sparse")
        found = wait_file(ml, "checkpoints/found").read_text()
        servers = file_servers(self.meridian)
        self.assertEqual(len(servers), 1)
        bytes_moved = moved(servers[0])
        copies = [p for p in ml.parents[2].rglob("*") if p.is_file() and p.stat().st_size > MIB]
        (ml / "checkpoints/go").write_text("")
        self.assertCompleted("sparse", jobs.wait_end(self.meridian, "sparse"))
        self.assertEqual(found, f"{192 * MIB} needle")
        self.assertLess(bytes_moved, 16 * MIB)
        self.assertEqual(copies, [])

    def test_reading_goes_on_while_the_daemon_is_dead(self):
        for i in range(40):
            self.s3.put_object(Bucket=jobs.BUCKET, Key=f"alive/{i:02}", Body=f"{i}".encode() * 1000)
        jobs.script_job(self.meridian, "orphaned", textwrap.dedent("""
            import os, pathlib, time
            top = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"])
            marks = pathlib.Path("/opt/ml/checkpoints")
            for i in range(40):
                if i == 10:
                    (marks / "half").write_text("")
                    while not (marks / "go").exists():
                        time.sleep(0.05)
                assert (top / f"{i:02}").read_text() == str(i) * 1000, i
            (marks / "all").write_text("")
            pathlib.Path(os.environ["SM_MODEL_DIR"], "done").write_text("40")
        """), wait=False, InputDataConfig=[fast_file("train", "alive/")])
        ml = ml_of(self.meridian, "orphaned")
        wait_file(ml, "checkpoints/half")
        self.meridian.kill()
        (ml / "checkpoints/go").write_text("")
        wait_file(ml, "checkpoints/all")
        self.meridian.start()
        job = jobs.wait_end(self.meridian, "orphaned")
        self.assertCompleted("orphaned", job)
        self.assertEqual(jobs.artifact(self.meridian, job), {"done": b"40"})

    def test_writing_into_the_channel_is_refused(self):
        self.s3.put_object(Bucket=jobs.BUCKET, Key="ro/a", Body=b"as it was")
        job = jobs.script_job(self.meridian, "writer", textwrap.dedent("""
            import errno, os, pathlib
            top = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"])
            for harm in (lambda: open(top / "a", "w"), lambda: open(top / "b", "w"), lambda: os.unlink(top / "a"),
                         lambda: os.chmod(top / "a", 0o777), lambda: os.mkdir(top / "c"), lambda: os.rename(top / "a", top / "d")):
                try:
                    harm()
                    print("did it", flush=True)
                except OSError as error:
                    print("refused", errno.errorcode[error.errno], flush=True)
            print((top / "a").read_text(), os.listdir(top), flush=True)
        """), InputDataConfig=[fast_file("train", "ro/")])
        self.assertCompleted("writer", job)
        lines = jobs.log_text(self.meridian, "writer").splitlines()
        self.assertEqual([l for l in lines if l.startswith(("refused", "did"))], ["refused EROFS"] * 6)
        self.assertIn("as it was ['a']", lines)

    def test_each_instance_sees_its_own_shard(self):
        for i in range(6):
            self.s3.put_object(Bucket=jobs.BUCKET, Key=f"shards/{i}", Body=b"x")
        channel = fast_file("train", "shards/")
        channel["DataSource"]["S3DataSource"]["S3DataDistributionType"] = "ShardedByS3Key"
        job = jobs.script_job(self.meridian, "shards", textwrap.dedent("""
            import json, os
            print("mine=" + json.dumps(sorted(os.listdir(os.environ["SM_CHANNEL_TRAIN"]))), flush=True)
        """), instances=2, InputDataConfig=[channel])
        self.assertCompleted("shards", job)
        seen = [json.loads(l[5:]) for l in jobs.log_text(self.meridian, "shards").splitlines() if l.startswith("mine=")]
        self.assertEqual(sorted(sum(seen, [])), [str(i) for i in range(6)])
        self.assertTrue(all(seen))

    def test_a_uri_that_is_no_folder_is_the_requests_fault(self):
        self.s3.put_object(Bucket=jobs.BUCKET, Key="folder/a", Body=b"x")
        job = jobs.script_job(self.meridian, "no-folder", "print('never')", InputDataConfig=[fast_file("train", "fold")])
        self.assertEqual(job["TrainingJobStatus"], "Failed")
        self.assertIn("ClientError", job["FailureReason"])
        self.assertIn("FastFile needs a folder or one object", job["FailureReason"])

    def test_nothing_is_left_behind(self):
        self.s3.put_object(Bucket=jobs.BUCKET, Key="left/a", Body=b"x")
        job = jobs.script_job(self.meridian, "left", textwrap.dedent("""
            import os
            print(os.listdir(os.environ["SM_CHANNEL_TRAIN"]), flush=True)
        """), InputDataConfig=[fast_file("train", "left/")])
        self.assertCompleted("left", job)
        self.assertEqual(file_servers(self.meridian), [])
        self.assertNotIn(str(self.meridian.data), pathlib.Path("/proc/self/mounts").read_text())


class OrdinaryUser(unittest.TestCase):
    SCRIPT = textwrap.dedent("""
        import os, pathlib
        file = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"], "a.txt")
        kind = [l.split()[2] for l in open("/proc/self/mounts") if l.split()[1] == str(file.parent)][-1]
        print("read", file.read_text(), "from", kind, "as", os.getuid(), flush=True)
    """)

    def run_job(self, **daemon):
        with harness.Daemon(user="nobody" if os.getuid() == 0 else None, **daemon) as meridian:
            jobs.ensure_bucket(meridian).put_object(Bucket=jobs.BUCKET, Key="in/a.txt", Body=b"data")
            job = jobs.script_job(meridian, "plain", self.SCRIPT, InputDataConfig=[fast_file("train", "in/")])
            self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
            return job, jobs.log_text(meridian, "plain")

    def test_where_the_device_does_not_open_the_channel_is_staged_and_said_so(self):
        if os.getuid() != 0 and not why_not():
            self.skipTest("/dev/fuse opens for this user")
        if os.getuid() == 0 and stat.S_IMODE(os.stat("/dev/fuse").st_mode) & 0o006 == 0o006:
            self.skipTest("/dev/fuse opens for everybody")
        job, log = self.run_job()
        self.assertIn("read data from overlay", log)
        self.assertIn("channel 'train': InputMode FastFile is staged as File: cannot open /dev/fuse",
                      message_of(job, "Downloading"))

    def test_where_the_device_opens_the_channel_is_on_demand(self):
        if os.getuid() != 0:
            self.skipTest("needs root to give an ordinary user a /dev/fuse that opens")
        with tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)
            device = pathlib.Path(place, "fuse")
            os.mknod(device, stat.S_IFCHR | 0o666, os.stat("/dev/fuse").st_rdev)
            os.chmod(device, 0o666)
            job, log = self.run_job(launcher=["unshare", "--mount", "sh", "-c",
                                              'mount --bind "$0" /dev/fuse && exec "$@"', str(device)])
        self.assertIn("read data from fuse", log)
        self.assertEqual(message_of(job, "Downloading"), "Downloading input data")


if __name__ == "__main__":
    unittest.main()
