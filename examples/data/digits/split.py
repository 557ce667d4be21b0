#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Splits digits.csv into a training and a validation channel, the same way every time."""

import pathlib
import sys


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: split.py DIRECTORY", file=sys.stderr)
        return 2
    target = pathlib.Path(sys.argv[1])
    parts = {"train": [], "validation": []}
    source = pathlib.Path(__file__).with_name("digits.csv")
    for number, line in enumerate(source.read_text().split()):
        part = "validation" if number % 5 == 4 else "train"
        parts[part].append(line + "\n")
    for name, lines in parts.items():
        directory = target / name
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.csv").write_text("".join(lines))
        print(f"{directory / name}.csv: {len(lines)} images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
