"""An entry point that starts the training proper as a program, with flags of its own, as the article's does.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

if __name__ == "__main__":
    train_dir = os.environ.get("SM_CHANNEL_TRAIN")
    sys.exit(subprocess.call(
        ["python", "-W ignore", "resnet50-tfrecord/train_horovod.py",
         "--data_dir=%s" % train_dir, "--num_epochs=2", "-b=12", "--lr_decay_mode=poly", "--warmup_epochs=1",
         "--clear_log", "--num_classes=10", "--image_size=32", "--max_steps=3"]))
