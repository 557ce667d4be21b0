"""Runs the fuzzers and prints executions, coverage and time of each.

    tests/fuzz/run.py                        every fuzzer, a minute fast and a minute under sanitizers
    tests/fuzz/run.py json xml --runs 10000000 --seconds 7200 --asan-seconds 600
    tests/fuzz/run.py --minimise             what is new in coverage, smallest first, into tests/fuzz/corpus

Two builds: build/fuzz (-O2, no sanitizer: the volume; every property is still checked) and build/fuzz-asan
(ASan and UBSan, over everything the first one found). Inputs that widen coverage stay in build/fuzz-corpus.
A target may carry libFuzzer's options in a line of its own:

    // FUZZ: -max_len=512

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEEDS = ROOT / "tests/fuzz/corpus"
FOUND = ROOT / "build/fuzz-corpus"
LARGEST_CORPUS = 32 << 10  # bytes a target may have in the repository, beside what was put there by hand


def options_of(name):
    source = (ROOT / f"tests/fuzz/{name}_fuzz.cpp").read_text()
    line = re.search(r"^// FUZZ: (.*)$", source, re.M)
    return line[1].split() if line else []


def search(build, name, limits):
    """One libFuzzer run; prints its result and returns whether it found nothing."""
    corpus = FOUND / name
    corpus.mkdir(parents=True, exist_ok=True)
    (SEEDS / name).mkdir(exist_ok=True)
    log = FOUND / f"{name}-{build}.log"
    command = [ROOT / f"build/{build}/bin/fuzz_{name}", "-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1",
               f"-artifact_prefix={FOUND}/{name}-", *options_of(name), *limits, corpus, SEEDS / name]
    started = time.monotonic()
    with open(log, "w") as out:
        status = subprocess.run([str(w) for w in command], stdout=out, stderr=subprocess.STDOUT).returncode
    seconds = time.monotonic() - started
    text = log.read_text(errors="replace")
    runs = re.findall(r"^stat::number_of_executed_units: *(\d+)", text, re.M)
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", text)
    if status != 0:
        print("\n".join(text.splitlines()[-40:]))
        print(f"{name} ({build}): FAILED after {seconds:.0f} s, see {log.relative_to(ROOT)}", flush=True)
        return False
    edges, features = coverage[-1] if coverage else ("?", "?")
    print(f"{name} ({build}): {int(runs[-1]):,} executions in {seconds:.0f} s, {edges} edges, {features} features",
          flush=True)
    return True


def minimise(name):
    """Adds to the committed corpus what covers more than it does, small inputs first, within the limit."""
    kept = FOUND / f"{name}-kept"
    subprocess.run(["rm", "-rf", str(kept)], check=True)
    kept.mkdir(parents=True)
    command = [ROOT / f"build/fuzz/bin/fuzz_{name}", "-merge=1", *options_of(name), kept, SEEDS / name, FOUND / name]
    subprocess.run([str(w) for w in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seeds = {f.read_bytes() for f in (SEEDS / name).iterdir()}
    room, added = LARGEST_CORPUS, 0
    for file in sorted(kept.iterdir(), key=lambda f: (f.stat().st_size, f.name)):
        content = file.read_bytes()
        # A file occupies more than its bytes: in the index, in the directory, in the reader's patience.
        room -= len(content) + 200
        if room < 0:
            break
        if content not in seeds:
            (SEEDS / name / f"found_{file.name[:12]}").write_bytes(content)
            added += 1
    print(f"{name}: {added} of {len(list(kept.iterdir()))} inputs added")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=-1, help="executions of the fast build (default: until the time is up)")
    parser.add_argument("--seconds", type=int, default=60, help="at most, of the fast build")
    parser.add_argument("--asan-seconds", type=int, default=60, help="of the build with sanitizers; 0 leaves it out")
    parser.add_argument("--minimise", action="store_true")
    args = parser.parse_args()
    there = sorted(p.name.removesuffix("_fuzz.cpp") for p in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    for name in args.names:
        if name not in there:
            print(f"no fuzzer '{name}'; there are: {' '.join(there)}", file=sys.stderr)
            return 2
    FOUND.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    good = True
    for name in args.names or there:
        if args.minimise:
            minimise(name)
            continue
        good &= search("fuzz", name, [f"-runs={args.runs}", f"-max_total_time={args.seconds}"])
        if args.asan_seconds > 0:
            good &= search("fuzz-asan", name, [f"-max_total_time={args.asan_seconds}"])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
