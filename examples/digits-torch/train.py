#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional net on handwritten digits, data-parallel over all ranks.

Every rank sees its own part of each epoch; DistributedDataParallel averages the gradients. Without
RANK and WORLD_SIZE in the environment it trains alone.

A run that was interrupted and resumed ends with the very weights of a run that was not: the order
of the images and the random numbers of an epoch depend only on seed, epoch and rank, and the
checkpoint written after each epoch holds the weights and the optimizer.
"""

import argparse
import hashlib
import os
import pathlib
import socket
import time

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.004)
    parser.add_argument("--batch-size", type=int, default=16, help="images per rank and step")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--min-epoch-seconds", type=float, default=0.0,
                        help="makes short epochs last, to have time to interrupt a demonstration")
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
    """Images (N, 1, 8, 8) in 0..1 and digits (N), from every CSV file with the digit first."""
    files = sorted(pathlib.Path(directory).glob("**/*.csv"))
    if not files:
        raise SystemExit(f"no *.csv file below {directory}")
    rows = numpy.concatenate(
        [numpy.loadtxt(f, delimiter=",", dtype=numpy.float32, ndmin=2) for f in files])
    images = torch.from_numpy(rows[:, 1:] / 16.0).reshape(-1, 1, 8, 8)
    return images, torch.from_numpy(rows[:, 0]).long()


def load_data(arguments):
    images, digits = load_images(arguments.train)
    if arguments.validation:
        return (images, digits), load_images(arguments.validation)
    held_out = torch.arange(len(digits)) % 5 == 4
    return (images[~held_out], digits[~held_out]), (images[held_out], digits[held_out])


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.2),
        nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10))


def epoch_order(count, epoch, arguments, rank, ranks):
    """This rank's part of the epoch's order; equally long on every rank, so that none waits."""
    generator = torch.Generator().manual_seed(arguments.seed * 100_003 + epoch)
    order = torch.randperm(count, generator=generator)
    per_rank = count // ranks
    return order[rank * per_rank:(rank + 1) * per_rank]


def train_epoch(net, optimizer, data, epoch, arguments, rank, ranks):
    """Mean loss of this rank's part."""
    torch.manual_seed((arguments.seed * 100_003 + epoch) * 1_009 + rank)  # dropout
    images, digits = data
    net.train()
    total = 0.0
    order = epoch_order(len(digits), epoch, arguments, rank, ranks)
    for batch in order.split(arguments.batch_size):
        optimizer.zero_grad()
        loss = cross_entropy(net(images[batch]), digits[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(order), len(order)


def count_correct(net, data, rank, ranks):
    images, digits = data
    net.eval()
    with torch.no_grad():
        answers = net(images[rank::ranks]).argmax(dim=1)
    return int((answers == digits[rank::ranks]).sum())


def sum_over_ranks(values, ranks):
    tensor = torch.tensor(values, dtype=torch.float64)
    if ranks > 1:
        dist.all_reduce(tensor)
    return tensor.tolist()


def save_checkpoint(directory, state):
    """Written aside, then renamed: a checkpoint that is there is whole."""
    directory.mkdir(parents=True, exist_ok=True)
    scratch = directory / "checkpoint.pt.tmp"
    torch.save(state, scratch)
    os.replace(scratch, directory / "checkpoint.pt")


def load_checkpoint(directory, rank, ranks):
    """Rank 0 reads, all ranks receive: no two ranks can resume from different epochs."""
    state = [None]
    file = directory / "checkpoint.pt"
    if rank == 0 and file.exists():
        state = [torch.load(file)]
    if ranks > 1:
        dist.broadcast_object_list(state)
    return state[0]


def settle_buckets(parallel, images):
    """One backward pass without a step.

    DistributedDataParallel lays its gradient buckets out anew after the first backward pass, which
    changes the order of floating-point sums. Done here, that falls on the same place in a run that
    resumes and in one that does not, and both end with the same bits.
    """
    parallel(images).sum().backward()
    parallel.zero_grad()


def weights_digest(net):
    digest = hashlib.sha256()
    for value in net.state_dict().values():
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()


def train(arguments, rank, ranks):
    training, validation = load_data(arguments)
    torch.manual_seed(arguments.seed)
    net = make_net()
    optimizer = torch.optim.Adam(net.parameters(), lr=arguments.lr)
    directory = pathlib.Path(arguments.checkpoint_dir)
    first = 0
    state = load_checkpoint(directory, rank, ranks)
    if state:
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
        if rank == 0:
            print(f"resuming after epoch {first}", flush=True)
    parallel = nn.parallel.DistributedDataParallel(net) if ranks > 1 else net
    settle_buckets(parallel, training[0][:1])

    for epoch in range(first + 1, arguments.epochs + 1):
        start = time.monotonic()
        loss, seen = train_epoch(parallel, optimizer, training, epoch, arguments, rank, ranks)
        own_rate = seen / (time.monotonic() - start)
        losses, correct, rate = sum_over_ranks(
            [loss, count_correct(net, validation, rank, ranks), own_rate], ranks)
        if int(os.environ.get("LOCAL_RANK", "0")) == 0:
            local_ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
            print(f"epoch={epoch} instance={socket.gethostname()} "
                  f"instance_throughput={own_rate * local_ranks:.1f}", flush=True)
        if rank == 0:
            print(f"epoch={epoch} loss={losses / ranks:.4f} "
                  f"accuracy={correct / len(validation[1]):.4f} images_per_second={rate:.1f}",
                  flush=True)
            save_checkpoint(directory, {"epoch": epoch, "net": net.state_dict(),
                                        "optimizer": optimizer.state_dict()})
        time.sleep(max(0.0, arguments.min_epoch_seconds - (time.monotonic() - start)))
    return net


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)  # one core a rank; more threads only wait for each other
    rank = int(os.environ.get("RANK", "0"))
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if ranks > 1:
        dist.init_process_group("gloo")
    print(f"rank {rank} of {ranks} ranks on {socket.gethostname()}", flush=True)
    net = train(arguments, rank, ranks)
    if rank == 0:
        model = pathlib.Path(arguments.model_dir)
        model.mkdir(parents=True, exist_ok=True)
        torch.save(net.state_dict(), model / "model.pt")
        print(f"weights_sha256={weights_digest(net)}", flush=True)
    if ranks > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
