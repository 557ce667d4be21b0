# SPDX-License-Identifier: Apache-2.0
"""What both trainings share, whichever framework they use: the flags, the learning rate."""

import argparse
import math
import os


def truth(text):
    """'False' is false: hyperparameters arrive as text."""
    return str(text).strip().lower() in ("1", "true", "yes")


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", default=os.environ.get(
        "SM_CHANNEL_TRAIN", os.environ.get("SM_CHANNEL_TRAINING")))
    parser.add_argument("--num_epochs", type=int, default=90)
    parser.add_argument("-b", "--batch_size", type=int, default=256, help="images per rank")
    parser.add_argument("--lr", type=float, default=0.1, help="for 256 images a step; scaled")
    parser.add_argument("--lr_decay_mode", choices=["poly", "cosine", "steps"], default="poly")
    parser.add_argument("--warmup_epochs", type=float, default=5)
    parser.add_argument("--weight_decay", type=float, default=1e-4)
    parser.add_argument("--label_smoothing", type=float, default=0.1)
    parser.add_argument("--num_classes", type=int, default=1000)
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--clear_log", type=truth, nargs="?", const=True, default=False,
                        help="forget an earlier run: empties the checkpoint directory first")
    parser.add_argument("--max_steps", type=int, default=0, help="steps per epoch; 0 = all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint_dir", default="/opt/ml/checkpoints")
    parser.add_argument("--model_dir", default=os.environ.get("SM_MODEL_DIR", "model"))
    arguments = parser.parse_args()
    if not arguments.data_dir:
        parser.error("no data: give a channel named 'train', or --data_dir DIRECTORY")
    return arguments


def learning_rate(progress, arguments, ranks):
    """Linear warm-up to the scaled rate (Goyal et al. 2017), then decay; progress in epochs."""
    peak = arguments.lr * arguments.batch_size * ranks / 256
    if progress < arguments.warmup_epochs:
        return peak * max(progress, 1e-3) / arguments.warmup_epochs
    rest = (progress - arguments.warmup_epochs) / max(
        1e-9, arguments.num_epochs - arguments.warmup_epochs)
    if arguments.lr_decay_mode == "poly":
        return peak * max(0.0, 1.0 - rest) ** 2
    if arguments.lr_decay_mode == "cosine":
        return peak * 0.5 * (1.0 + math.cos(math.pi * min(1.0, rest)))
    return peak * 0.1 ** sum(progress >= step * arguments.num_epochs / 90 for step in (30, 60, 80))
