"""Staging: a channel from the local store (peers: cp -r, aws s3 cp), and over HTTP (peers: s5cmd, aws s3 cp).

SMALL and LARGE_MIB set the sizes; the goal's own are 100,000 files and 10,240 MiB. What does not fit on the disk
is made smaller, and said.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

import measure
import jobs

SMALL = int(os.environ.get("SMALL", "5000"))
LARGE_MIB = int(os.environ.get("LARGE_MIB", "1024"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
LARGE_FILES = 4
COPIES = 4  # of the large files at once: the original, the store's, and two targets


def large_mib(place):
    free = shutil.disk_usage(place).free // 2**20
    most = max(256, int(free * 0.8) // COPIES)
    if LARGE_MIB > most:
        print(f"only {free} MiB are free: {most} MiB in large files instead of {LARGE_MIB}", flush=True)
    return min(LARGE_MIB, most)


def make_files(local, mib):
    small, large = local / "small", local / "large"
    small.mkdir()
    large.mkdir()
    for i in range(SMALL):
        (small / f"{i:06}").write_bytes(b"x" * 256)
    block = os.urandom(1 << 20)
    for i in range(LARGE_FILES):
        with open(large / f"{i}", "wb") as out:
            for _ in range(mib // LARGE_FILES):
                out.write(block)
    return small, large


class Copies:
    """Each copies one of the prefixes to a new folder, and gives the seconds it took."""

    def __init__(self, meridian, local):
        self.meridian, self.local = meridian, local
        self.s5cmd = measure.s5cmd()
        self.count = 0

    def timed(self, *command):
        target = self.local / "target"
        seconds = measure.timed(lambda: subprocess.run(
            [str(part).replace("TARGET", str(target)) for part in command], env=self.meridian.env, check=True,
            stdout=subprocess.DEVNULL))
        found = sum(1 for f in target.rglob("*") if f.is_file())
        shutil.rmtree(target)
        return seconds, found

    def checked(self, prefix, *command):
        seconds, found = self.timed(*command)
        expected = SMALL if prefix == "small" else LARGE_FILES
        assert found == expected, f"{command[0]} copied {found} of {expected} files"
        return seconds

    def cp(self, prefix):
        return self.checked(prefix, "cp", "-r", self.local / prefix, "TARGET")

    def aws(self, prefix):
        return self.checked(prefix, "aws", "s3", "cp", "--recursive", "--quiet", f"s3://{jobs.BUCKET}/{prefix}/", "TARGET")

    def client(self, prefix):
        return self.checked(prefix, measure.harness.BIN / "meridian", "s3", "cp", "--recursive", "--quiet",
                            f"s3://{jobs.BUCKET}/{prefix}/", "TARGET")

    def by_s5cmd(self, prefix):
        return self.checked(prefix, self.s5cmd, "--log", "error", "--endpoint-url", self.meridian.endpoint, "cp",
                            f"s3://{jobs.BUCKET}/{prefix}/*", "TARGET/")

    def staged(self, prefix):
        self.count += 1
        name = f"stage-{prefix}-{self.count}"
        self.meridian.client("sagemaker").create_training_job(**jobs.request(
            name, None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/true"]},
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/{prefix}/"}}}]))
        job = jobs.wait_end(self.meridian, name, 900)
        step = next(t for t in job["SecondaryStatusTransitions"] if t["Status"] == "Downloading")
        return (step["EndTime"] - step["StartTime"]).total_seconds()


def upload(copies, directory, prefix, peer):
    place = f"s3://{jobs.BUCKET}/{prefix}/"
    command = ([copies.s5cmd, "--log", "error", "--endpoint-url", copies.meridian.endpoint, "cp", f"{directory}/", place]
               if peer else
               [measure.harness.BIN / "meridian", "s3", "cp", "--recursive", "--quiet", directory, place])
    return measure.timed(lambda: subprocess.run([str(c) for c in command], env=copies.meridian.env, check=True,
                                                stdout=subprocess.DEVNULL))


def main():
    with measure.harness.Daemon(config="s3: {sync: false}\n") as meridian:
        jobs.ensure_bucket(meridian)
        local = pathlib.Path(tempfile.mkdtemp(prefix="meridian-bench-"))
        try:
            mib = large_mib(local)
            small, large = make_files(local, mib)
            copies = Copies(meridian, local)
            if copies.s5cmd is None:
                measure.skip("s5cmd", "its package is out of reach")
            for directory, what in (small, f"small files, {SMALL} × 256 B"), (large, f"large files, {LARGE_FILES} × {mib // LARGE_FILES} MiB"):
                prefix = directory.name
                ours = [upload(copies, directory, prefix, peer=False)]
                theirs = [upload(copies, directory, f"s5cmd-{prefix}", peer=True)] if copies.s5cmd else None
                measure.report(f"upload by HTTP, {what}", "s", ours, "s5cmd", theirs)
                if theirs:  # room again
                    meridian.cli("s3", "rm", "--recursive", f"s3://{jobs.BUCKET}/s5cmd-{prefix}/")
                ours, peer = measure.in_turns(lambda: copies.staged(prefix), lambda: copies.cp(prefix), ROUNDS)
                measure.report(f"staging, {what}", "s", ours, "cp -r", peer)
                aws = [copies.aws(prefix)]
                measure.report(f"staging, {what}", "s", ours, "aws s3 cp", aws)
                if copies.s5cmd:
                    ours, peer = measure.in_turns(lambda: copies.client(prefix), lambda: copies.by_s5cmd(prefix), ROUNDS)
                    measure.report(f"download by HTTP, {what}", "s", ours, "s5cmd", peer)
                else:
                    ours = [copies.client(prefix) for _ in range(ROUNDS)]
                measure.report(f"download by HTTP, {what}", "s", ours, "aws s3 cp", aws)
        finally:
            shutil.rmtree(local, ignore_errors=True)


main()
