"""Staging a channel: large files and many small ones, seen as the Downloading time of a job (peers: cp -r, aws s3 cp).

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

import measure
import jobs

SMALL = int(os.environ.get("SMALL", "5000"))      # the goal's own size is 100,000
LARGE_MIB = int(os.environ.get("LARGE_MIB", "1024"))  # the goal's own size is 10,240
ROUNDS = 3


def main():
    with measure.harness.Daemon(config="s3: {sync: false}\n") as meridian:
        s3 = jobs.ensure_bucket(meridian)
        local = pathlib.Path(tempfile.mkdtemp(prefix="meridian-bench-"))
        small, large = local / "small", local / "large"
        small.mkdir()
        large.mkdir()
        for i in range(SMALL):
            (small / f"{i:06}").write_bytes(b"x" * 256)
        block = os.urandom(1 << 20)
        for i in range(4):
            with open(large / f"{i}", "wb") as out:
                for _ in range(LARGE_MIB // 4):
                    out.write(block)
        for directory in (small, large):
            for file in directory.iterdir():
                with open(file, "rb") as body:
                    s3.put_object(Bucket=jobs.BUCKET, Key=f"{directory.name}/{file.name}", Body=body)
        counter = iter(range(1000))

        def staged(prefix):
            name = f"stage-{next(counter)}"
            meridian.client("sagemaker").create_training_job(**jobs.request(
                name, None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/true"]},
                InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                    "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/{prefix}/"}}}]))
            job = jobs.wait_end(meridian, name, 300)
            step = next(t for t in job["SecondaryStatusTransitions"] if t["Status"] == "Downloading")
            return (step["EndTime"] - step["StartTime"]).total_seconds()

        def copied(directory):
            target = local / "copy"
            seconds = measure.timed(lambda: subprocess.run(["cp", "-r", str(directory), str(target)], check=True))
            shutil.rmtree(target)
            return seconds

        def by_aws(prefix):
            target = local / "aws"
            seconds = measure.timed(lambda: subprocess.run(
                ["aws", "s3", "cp", "--recursive", "--quiet", f"s3://{jobs.BUCKET}/{prefix}/", str(target)],
                env=meridian.env, check=True))
            shutil.rmtree(target)
            return seconds

        for name, directory, size in (("small files", small, f"{SMALL} × 256 B"), ("large files", large, f"4 × {LARGE_MIB // 4} MiB")):
            ours, peer = measure.in_turns(lambda: staged(directory.name), lambda: copied(directory), ROUNDS)
            measure.report(f"{name}, {size}", "s", ours, "cp -r", peer)
            measure.report(f"{name}, {size}", "s", ours, "aws s3 cp", [by_aws(directory.name)])


main()
