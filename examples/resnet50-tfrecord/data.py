# SPDX-License-Identifier: Apache-2.0
"""Batches of images from TFRecord shards, one part of the shards' records for each rank."""

import io
import random

import numpy
import torch

from tfrecord import parse_example, read_records

MEAN = torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)
SPREAD = torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)


def decode(features):
    """uint8 image (3, height, width)."""
    encoded = features["image/encoded"][0]
    kind = features.get("image/format", [b"JPEG"])[0].upper()
    if kind == b"RAW":  # bytes of an RGB image: no decoder needed
        shape = (features["image/height"][0], features["image/width"][0], 3)
        pixels = numpy.frombuffer(encoded, numpy.uint8).reshape(shape)
    else:
        try:
            from PIL import Image
        except ImportError:
            raise SystemExit(f"{kind.decode()} images need Pillow: apt install python3-pil")
        pixels = numpy.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"))
    return torch.from_numpy(pixels.copy()).permute(2, 0, 1)


def crop(image, size, generator):
    """Training (generator): random square of 35–100 % of the area, perhaps mirrored. Otherwise the
    central seven eighths."""
    height, width = image.shape[1:]
    side = int(min(height, width) * 0.875)
    top, left = (height - side) // 2, (width - side) // 2
    if generator:
        side = max(1, int(min(height, width) * generator.uniform(0.35, 1.0) ** 0.5))
        top, left = generator.randint(0, height - side), generator.randint(0, width - side)
    image = image[:, top:top + side, left:left + side].float().unsqueeze(0) / 255.0
    image = torch.nn.functional.interpolate(image, (size, size), mode="bilinear",
                                            align_corners=False)[0]
    if generator and generator.random() < 0.5:
        image = image.flip(2)
    return (image - MEAN) / SPREAD


def examples(shards, rank, ranks, generator=None):
    """This rank's records: each rank reads its own shards when there are enough of them."""
    shards = list(shards)
    if generator:
        generator.shuffle(shards)
    by_shard = len(shards) >= ranks and len(shards) % ranks == 0
    for shard in shards[rank::ranks] if by_shard else shards:
        for number, record in enumerate(read_records(shard)):
            if by_shard or number % ranks == rank:
                yield parse_example(record)


def training_batches(shards, size, batch, rank, ranks, seed):
    """Endless (images, labels) tensors, shuffled and distorted: shards may differ in length, but no
    rank may run out of batches before the others."""
    order = random.Random(seed)  # the same order of shards on all ranks
    distortion = random.Random(seed * 1_009 + rank)
    images, labels = [], []
    while True:
        found = False
        for features in examples(shards, rank, ranks, order):
            found = True
            images.append(crop(decode(features), size, distortion))
            labels.append(label(features))
            if len(images) == batch:
                yield torch.stack(images), torch.tensor(labels)
                images, labels = [], []
        if not found:
            raise SystemExit(f"rank {rank} of {ranks} has no images: too few records")


def validation_batches(shards, size, batch, rank, ranks):
    """Every record of this rank's part once."""
    images, labels = [], []
    for features in examples(shards, rank, ranks):
        images.append(crop(decode(features), size, None))
        labels.append(label(features))
        if len(images) == batch:
            yield torch.stack(images), torch.tensor(labels)
            images, labels = [], []
    if images:
        yield torch.stack(images), torch.tensor(labels)


def label(features):
    return features["image/class/label"][0] - 1  # ImageNet's labels begin at 1
