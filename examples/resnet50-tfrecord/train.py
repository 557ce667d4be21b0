#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains ResNet-50 on TFRecord shards, data-parallel, with the flags of the well-known Horovod script.

Ranks find each other by RANK/WORLD_SIZE (torch.distributed) or, under mpirun, by Open MPI's own
variables; gradients are averaged by DistributedDataParallel either way.
"""

import json
import os
import pathlib
import shutil
import socket
import time

import torch
import torch.distributed as dist
from torch import nn

from data import training_batches, validation_batches
from options import learning_rate, parse_arguments
from resnet import resnet50
from tfrecord import count_records, find_shards


def join_ranks():
    """(rank, ranks) after the process group is up."""
    environment = os.environ
    if "OMPI_COMM_WORLD_RANK" in environment and "RANK" not in environment:
        environment["RANK"] = environment["OMPI_COMM_WORLD_RANK"]
        environment["WORLD_SIZE"] = environment["OMPI_COMM_WORLD_SIZE"]
        environment["LOCAL_RANK"] = environment["OMPI_COMM_WORLD_LOCAL_RANK"]
        environment.setdefault("MASTER_ADDR", json.loads(environment.get("SM_HOSTS", "null")
                                                         or '["127.0.0.1"]')[0])
        environment.setdefault("MASTER_PORT", "7777")
    ranks = int(environment.get("WORLD_SIZE", "1"))
    if ranks > 1:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return int(environment.get("RANK", "0")), ranks


def total(values, ranks, device):
    tensor = torch.tensor(values, dtype=torch.float64, device=device)
    if ranks > 1:
        dist.all_reduce(tensor)
    return tensor.tolist()


def accuracy(net, shards, arguments, rank, ranks, device):
    net.eval()
    correct = seen = 0
    with torch.no_grad():
        for images, labels in validation_batches(shards, arguments.image_size,
                                                 arguments.batch_size, rank, ranks):
            correct += int((net(images.to(device)).argmax(1).cpu() == labels).sum())
            seen += len(labels)
    correct, seen = total([correct, seen], ranks, device)
    return correct / max(1.0, seen)


class Trainer:
    def __init__(self, arguments, rank, ranks):
        self.arguments, self.rank, self.ranks = arguments, rank, ranks
        self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) \
            if torch.cuda.is_available() else torch.device("cpu")
        torch.manual_seed(arguments.seed)
        self.net = resnet50(arguments.num_classes).to(self.device)
        self.parallel = nn.parallel.DistributedDataParallel(self.net) if ranks > 1 else self.net
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9,
                                         nesterov=True, weight_decay=arguments.weight_decay)
        self.loss = nn.CrossEntropyLoss(label_smoothing=arguments.label_smoothing)
        self.shards = find_shards(arguments.data_dir, "train")
        steps = count_records(self.shards) // (arguments.batch_size * ranks)
        self.steps = min(steps, arguments.max_steps) if arguments.max_steps else steps
        if self.steps == 0:
            raise SystemExit(f"fewer images than one step needs "
                             f"({arguments.batch_size} × {ranks} ranks): lower -b")

    def epoch(self, number):
        """Mean loss and images per second of all ranks."""
        self.parallel.train()
        start, losses = time.monotonic(), 0.0
        data = training_batches(self.shards, self.arguments.image_size, self.arguments.batch_size,
                                self.rank, self.ranks, self.arguments.seed * 100_003 + number)
        for step, (images, labels) in zip(range(self.steps), data):
            rate = learning_rate(number - 1 + step / self.steps, self.arguments, self.ranks)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.zero_grad()
            loss = self.loss(self.parallel(images.to(self.device)), labels.to(self.device))
            loss.backward()
            self.optimizer.step()
            losses += loss.item()
        images = self.steps * self.arguments.batch_size
        sums = total([losses / self.steps, images / (time.monotonic() - start)], self.ranks,
                     self.device)
        return sums[0] / self.ranks, sums[1]

    def save(self, directory, number):
        directory.mkdir(parents=True, exist_ok=True)
        scratch = directory / "checkpoint.pt.tmp"
        torch.save({"epoch": number, "net": self.net.state_dict(),
                    "optimizer": self.optimizer.state_dict()}, scratch)
        os.replace(scratch, directory / "checkpoint.pt")

    def resume(self, directory):
        """Epochs done so far. Rank 0 reads; the others receive its state."""
        state = [None]
        if self.rank == 0 and (directory / "checkpoint.pt").exists():
            state = [torch.load(directory / "checkpoint.pt", map_location="cpu")]
        if self.ranks > 1:
            dist.broadcast_object_list(state)
        if not state[0]:
            return 0
        self.net.load_state_dict(state[0]["net"])
        self.optimizer.load_state_dict(state[0]["optimizer"])
        return state[0]["epoch"]


def main():
    arguments = parse_arguments()
    if not torch.cuda.is_available():
        torch.set_num_threads(1)
    rank, ranks = join_ranks()
    directory = pathlib.Path(arguments.checkpoint_dir)
    if arguments.clear_log and rank == 0 and directory.is_dir():
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    trainer = Trainer(arguments, rank, ranks)
    print(f"rank {rank} of {ranks} on {socket.gethostname()}: {trainer.steps} steps an epoch",
          flush=True)
    validation = find_shards(arguments.data_dir, "validation")
    for number in range(trainer.resume(directory) + 1, arguments.num_epochs + 1):
        loss, rate = trainer.epoch(number)
        top1 = accuracy(trainer.net, validation, arguments, rank, ranks, trainer.device)
        if rank == 0:
            print(f"epoch={number} loss={loss:.4f} top1={top1:.4f} images_per_second={rate:.1f}",
                  flush=True)
            trainer.save(directory, number)
    if rank == 0:
        model = pathlib.Path(arguments.model_dir)
        model.mkdir(parents=True, exist_ok=True)
        torch.save(trainer.net.state_dict(), model / "resnet50.pt")


if __name__ == "__main__":
    main()
