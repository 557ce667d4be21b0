#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a two-layer net on handwritten digits with numpy, gradients averaged by MPI all-reduce.

Started by mpirun with any number of ranks; `python3 train.py --train DIR` runs one rank.
"""

import argparse
import os
import pathlib
import socket
import time

import numpy
from mpi4py import MPI


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--batch-size", type=int, default=16, help="images per rank and step")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint-dir", default="/opt/ml/checkpoints")
    parser.add_argument("--train", default=os.environ.get(
        "SM_CHANNEL_TRAIN", os.environ.get("SM_CHANNEL_TRAINING")))
    parser.add_argument("--validation", default=os.environ.get("SM_CHANNEL_VALIDATION"))
    parser.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR", "model"))
    arguments = parser.parse_args()
    if not arguments.train:
        parser.error("no training data: give a channel named 'train', or --train DIRECTORY")
    return arguments


def load_images(directory):
    """Pixels (N, 64) in 0..1 and digits (N), from every CSV file with the digit first."""
    files = sorted(pathlib.Path(directory).glob("**/*.csv"))
    if not files:
        raise SystemExit(f"no *.csv file below {directory}")
    rows = numpy.concatenate([numpy.loadtxt(f, delimiter=",", ndmin=2) for f in files])
    return rows[:, 1:] / 16.0, rows[:, 0].astype(int)


def load_data(arguments):
    pixels, digits = load_images(arguments.train)
    if arguments.validation:
        return (pixels, digits), load_images(arguments.validation)
    held_out = numpy.arange(len(digits)) % 5 == 4
    return (pixels[~held_out], digits[~held_out]), (pixels[held_out], digits[held_out])


class Net:
    """ReLU layer, softmax layer; all weights in one vector, so that one all-reduce is enough."""

    def __init__(self, hidden, seed):
        random = numpy.random.default_rng(seed)
        self.shapes = [(64, hidden), (hidden,), (hidden, 10), (10,)]
        self.weights = numpy.concatenate([
            (random.normal(0.0, (2.0 / s[0]) ** 0.5, s) if len(s) == 2 else numpy.zeros(s)).ravel()
            for s in self.shapes])

    def parts(self, vector):
        at, parts = 0, []
        for shape in self.shapes:
            size = int(numpy.prod(shape))
            parts.append(vector[at:at + size].reshape(shape))
            at += size
        return parts

    def probabilities(self, pixels):
        w1, b1, w2, b2 = self.parts(self.weights)
        hidden = numpy.maximum(pixels @ w1 + b1, 0.0)
        scores = hidden @ w2 + b2
        scores = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, scores / scores.sum(axis=1, keepdims=True)

    def gradient(self, pixels, digits):
        """Mean loss of the batch and its gradient as one vector."""
        hidden, probabilities = self.probabilities(pixels)
        rows = numpy.arange(len(digits))
        loss = -numpy.log(probabilities[rows, digits] + 1e-12).mean()
        delta = probabilities
        delta[rows, digits] -= 1.0
        delta /= len(digits)
        _, _, w2, _ = self.parts(self.weights)
        back = (delta @ w2.T) * (hidden > 0.0)
        parts = [pixels.T @ back, back.sum(axis=0), hidden.T @ delta, delta.sum(axis=0)]
        return loss, numpy.concatenate([p.ravel() for p in parts])


def load_checkpoint(directory, world):
    state = None
    file = directory / "checkpoint.npz"
    if world.rank == 0 and file.exists():
        with numpy.load(file) as saved:
            state = {name: saved[name] for name in saved.files}
    return world.bcast(state)


def save_checkpoint(directory, **state):
    """Written aside, then renamed: a checkpoint that is there is whole."""
    directory.mkdir(parents=True, exist_ok=True)
    numpy.savez(directory / "checkpoint.tmp.npz", **state)
    os.replace(directory / "checkpoint.tmp.npz", directory / "checkpoint.npz")


def train_epoch(net, momentum, data, epoch, arguments, world):
    pixels, digits = data
    order = numpy.random.default_rng([arguments.seed, epoch]).permutation(len(digits))
    per_rank = len(digits) // world.size
    order = order[world.rank * per_rank:(world.rank + 1) * per_rank]
    total, average = 0.0, numpy.empty_like(net.weights)
    for at in range(0, per_rank, arguments.batch_size):
        batch = order[at:at + arguments.batch_size]
        loss, gradient = net.gradient(pixels[batch], digits[batch])
        world.Allreduce(gradient, average)
        momentum *= 0.9
        momentum += average / world.size
        net.weights -= arguments.lr * momentum
        total += loss * len(batch)
    return total / per_rank, per_rank


def main():
    arguments = parse_arguments()
    world = MPI.COMM_WORLD
    print(f"rank {world.rank} of {world.size} ranks on {socket.gethostname()}", flush=True)
    training, validation = load_data(arguments)
    net = Net(arguments.hidden, arguments.seed)
    momentum = numpy.zeros_like(net.weights)
    directory = pathlib.Path(arguments.checkpoint_dir)
    first = 0
    state = load_checkpoint(directory, world)
    if state:
        net.weights, momentum, first = state["weights"], state["momentum"], int(state["epoch"])
    for epoch in range(first + 1, arguments.epochs + 1):
        start = time.monotonic()
        loss, seen = train_epoch(net, momentum, training, epoch, arguments, world)
        rate = seen / (time.monotonic() - start)
        part = slice(world.rank, None, world.size)
        _, probabilities = net.probabilities(validation[0][part])
        correct = int((probabilities.argmax(axis=1) == validation[1][part]).sum())
        sums = world.allreduce(numpy.array([loss, correct, rate]))
        if world.rank == 0:
            print(f"epoch={epoch} loss={sums[0] / world.size:.4f} "
                  f"accuracy={sums[1] / len(validation[1]):.4f} images_per_second={sums[2]:.1f}",
                  flush=True)
            save_checkpoint(directory, weights=net.weights, momentum=momentum, epoch=epoch)
    if world.rank == 0:
        model = pathlib.Path(arguments.model_dir)
        model.mkdir(parents=True, exist_ok=True)
        numpy.savez(model / "model.npz", weights=net.weights, hidden=arguments.hidden)


if __name__ == "__main__":
    main()
