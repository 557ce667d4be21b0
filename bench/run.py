"""Runs the benchmarks (all, or those named: p1 p2 p3 p4 p6 p7 p9 p10 p12 p13 p14 p15). Each prints medians, spreads and ratios.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    programs = sorted(HERE.glob("p[0-9]*.py"), key=lambda p: int(p.stem.split("_")[0][1:]))
    names = [p.stem.split("_")[0] for p in programs]
    wanted = sys.argv[1:] or names
    for name in wanted:
        if name not in names:
            print(f"bench: no '{name}'; there are: {', '.join(names)}", file=sys.stderr)
            return 2
    print(f"{os.cpu_count()} cores, {platform.platform()}", flush=True)
    status = 0
    for program, name in zip(programs, names):
        if name in wanted:
            print(f"\n== {program.stem}: {program.read_text().split(chr(34) * 3)[1].splitlines()[0]}", flush=True)
            status |= subprocess.run(["/usr/bin/python3", str(program)]).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
