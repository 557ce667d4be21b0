"""The same torch script under Meridian and by raw ranks: wall time and images/s (goals: ≤ 1.02, ≥ 0.98).

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import subprocess
import tempfile
import time

import measure
import jobs

EXAMPLE = measure.ROOT / "examples/digits-torch"
EPOCHS = int(os.environ.get("EPOCHS", "120"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def throughput(text):
    values = [float(v) for v in re.findall(r"\bimages_per_second=([0-9.]+)", text)]
    return sum(values[1:]) / max(1, len(values) - 1)


def raw(data):
    """Two ranks started by hand, as torchrun would."""
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        ranks = []
        for rank in range(2):
            env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                       MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", SM_CHANNEL_TRAIN=f"{data}/train",
                       SM_CHANNEL_VALIDATION=f"{data}/validation", SM_MODEL_DIR=scratch, OMP_NUM_THREADS="1")
            ranks.append(subprocess.Popen(
                ["/usr/bin/python3", str(EXAMPLE / "train.py"), "--batch-size", "16", "--epochs", str(EPOCHS),
                 "--lr", "0.004", "--checkpoint-dir", f"{scratch}/checkpoints"],
                env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        text = "".join(p.communicate()[0] for p in ranks)
        if any(p.returncode for p in ranks):
            raise RuntimeError(text)
        return time.perf_counter() - started, throughput(text)


def main():
    data = tempfile.mkdtemp()
    subprocess.run(["/usr/bin/python3", str(measure.ROOT / "examples/data/digits/split.py"), data], check=True)
    with measure.harness.Daemon() as meridian:
        s3 = jobs.ensure_bucket(meridian)
        for channel in ("train", "validation"):
            for file in pathlib.Path(data, channel).iterdir():
                s3.upload_file(str(file), jobs.BUCKET, f"digits/{channel}/{file.name}")
        source = jobs.upload_source(meridian, {"train.py": (EXAMPLE / "train.py").read_text()})
        counter = iter(range(1000))

        def under_meridian():
            name = f"overhead-{next(counter)}"
            started = time.perf_counter()
            meridian.client("sagemaker").create_training_job(**jobs.request(
                name, source, image="pytorch-training:1.13", instances=2, hyperparameters={
                    "sagemaker_torch_distributed_enabled": "true", "epochs": str(EPOCHS), "batch-size": "16",
                    "lr": "0.004"},
                InputDataConfig=[{"ChannelName": c, "DataSource": {"S3DataSource": {
                    "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/digits/{c}/"}}}
                    for c in ("train", "validation")]))
            job = jobs.wait_end(meridian, name, 900)
            wall = time.perf_counter() - started
            assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
            return wall, throughput(jobs.log_text(meridian, name))

        ours, peer = measure.in_turns(under_meridian, lambda: raw(data), ROUNDS)
    measure.report(f"wall time of {EPOCHS} epochs, 2 ranks", "s", [o[0] for o in ours], "raw ranks", [p[0] for p in peer])
    measure.report("images per second", "1/s", [o[1] for o in ours], "raw ranks", [p[1] for p in peer], "more")


main()
