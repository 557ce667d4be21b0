#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a tiny ImageNet-shaped set: the handwritten digits, enlarged, as TFRecord shards.

Names and features are those of ImageNet's usual conversion (train-00000-of-00004, image/encoded,
image/class/label from 1), so that the training cannot tell the difference.
"""

import argparse
import io
import pathlib

import numpy

from tfrecord import make_example, write_record


def encode(pixels, kind):
    if kind == "raw":
        return pixels.tobytes()
    from PIL import Image
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, quality=90)
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=64, help="pixels; a multiple of 8")
    parser.add_argument("--images", type=int, default=1797, help="of 1797, from the first")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--format", choices=["raw", "jpeg"], default="raw",
                        help="raw needs nothing; jpeg needs Pillow (python3-pil)")
    arguments = parser.parse_args()
    rows = numpy.loadtxt(pathlib.Path(__file__).parent / "../data/digits/digits.csv",
                         delimiter=",", dtype=numpy.uint8)[:arguments.images]
    held_out = numpy.arange(len(rows)) % 5 == 4
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for part, chosen, shards in (("train", rows[~held_out], arguments.shards),
                                 ("validation", rows[held_out], 1)):
        for shard in range(shards):
            name = f"{part}-{shard:05d}-of-{shards:05d}"
            with open(arguments.directory / name, "wb") as file:
                for row in chosen[shard::shards]:
                    pixels = (row[1:].reshape(8, 8).astype(numpy.uint16) * 255 // 16)
                    pixels = numpy.kron(pixels.astype(numpy.uint8),
                                        numpy.ones((arguments.size // 8,) * 2, numpy.uint8))
                    pixels = numpy.repeat(pixels[:, :, None], 3, axis=2)
                    write_record(file, make_example({
                        "image/encoded": [encode(pixels, arguments.format)],
                        "image/format": [arguments.format.upper().encode()],
                        "image/height": [arguments.size], "image/width": [arguments.size],
                        "image/class/label": [int(row[0]) + 1]}))
        print(f"{part}: {len(chosen)} images in {shards} shard{'s' if shards > 1 else ''}")


if __name__ == "__main__":
    main()
