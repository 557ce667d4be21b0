"""Runs every test there is and closes with "N passed, N failed, N skipped".

Unit tests: each GoogleTest program of the build (one per folder). End to end: every tests/e2e/test_*.py,
as unittest against the built programs. Skipped tests are listed with their reason and never count as passed.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []


def failures_in(output: str) -> str:
    """What the failed tests of a GoogleTest program said."""
    said = re.findall(r"^\[ RUN      \] (\S+)\n(.*?)^\[  FAILED  \] \1", output, re.M | re.S)
    return "\n".join(f"{name}\n{text[-4000:]}" for name, text in said)


def run_gtest(program: pathlib.Path, tally: Tally, deadline: float) -> str:
    with tempfile.TemporaryDirectory(prefix="meridian-test") as scratch:
        report = pathlib.Path(scratch) / "report.json"
        env = dict(os.environ, TMPDIR=scratch)
        started = time.monotonic()
        try:
            done = subprocess.run([str(program), f"--gtest_output=json:{report}"], env=env, cwd=ROOT,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=deadline,
                                  errors="replace")
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode(errors="replace")
            code = f"no end after {deadline:.0f} s"
        failed_here = []
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    name = f"{program.name}: {suite['name']}.{test['name']}"
                    if test.get("failures"):
                        failed_here.append(name)
                    elif test["result"] == "SKIPPED":
                        said = re.search(rf"Skipped\n((?:(?!\[       OK \]).)*?)\n+\[  SKIPPED \] "
                                         rf"{re.escape(suite['name'] + '.' + test['name'])}", output, re.S)
                        tally.skipped.append((name, said[1].splitlines()[0] if said else "no reason given"))
                    elif test["result"] == "COMPLETED":
                        tally.passed += 1
        if code != 0 and not failed_here:
            failed_here.append(f"{program.name} as a whole ({code})")
        tally.failed += failed_here
        if failed_here:
            print(failures_in(output) or output[-12000:])
        return f"{program.name}: {'FAILED' if failed_here else 'ok'} in {time.monotonic() - started:.1f} s"


def run_replay(program: pathlib.Path, tally: Tally) -> str:
    corpus = ROOT / "tests/fuzz/corpus" / program.name.removeprefix("fuzz_replay_")
    if not corpus.is_dir():
        tally.skipped.append((program.name, f"no corpus at {corpus.relative_to(ROOT)}"))
        return f"{program.name}: no corpus"
    done = subprocess.run([str(program), str(corpus)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, errors="replace", text=True)
    if done.returncode == 0:
        tally.passed += 1
    else:
        tally.failed.append(program.name)
        print(done.stdout[-4000:])
    return f"{program.name}: {'ok' if done.returncode == 0 else 'FAILED'}"


def run_e2e(module: pathlib.Path, tally: Tally, bin_dir: pathlib.Path, deadline: float) -> str:
    with tempfile.TemporaryDirectory(prefix="meridian-e2e") as scratch:
        report = pathlib.Path(scratch) / "report.json"
        env = dict(os.environ, MERIDIAN_BIN=str(bin_dir), MERIDIAN_REPORT=str(report))
        env["PYTHONPATH"] = str(ROOT / "tests/e2e")
        started = time.monotonic()
        try:
            done = subprocess.run(["/usr/bin/python3", str(ROOT / "tests/lib/unittest_report.py"), str(module)],
                                  env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=deadline, errors="replace", text=True)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode(errors="replace")
            code = f"no end after {deadline:.0f} s"
        failed_here = []
        if report.exists():
            result = json.loads(report.read_text())
            tally.passed += len(result["passed"])
            failed_here = [f"{module.name}: {n}" for n in result["failed"]]
            tally.skipped += [(f"{module.name}: {n}", why) for n, why in result["skipped"]]
        if code != 0 and not failed_here:
            failed_here.append(f"{module.name} as a whole ({code})")
        tally.failed += failed_here
        if failed_here:
            print(output[-12000:])
        return f"{module.name}: {'FAILED' if failed_here else 'ok'} in {time.monotonic() - started:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--unit-only", action="store_true")
    parser.add_argument("--e2e-only", action="store_true")
    parser.add_argument("--label", help="in the last line, where it is not the whole truth about a change")
    parser.add_argument("names", nargs="*", help="only tests whose file name holds one of these")
    args = parser.parse_args()
    bin_dir = (ROOT / args.build / "bin").resolve()

    def wanted(path):
        return not args.names or any(n in path.name for n in args.names)

    tally = Tally()
    unit = [p for p in sorted(bin_dir.glob("*_test")) if wanted(p)]
    replay = [p for p in sorted(bin_dir.glob("fuzz_replay_*")) if wanted(p)]
    e2e = [p for p in sorted((ROOT / "tests/e2e").glob("test_*.py")) if wanted(p)]
    if not args.e2e_only:
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for line in pool.map(lambda p: run_gtest(p, tally, 900), unit):
                print(line, flush=True)
            for line in pool.map(lambda p: run_replay(p, tally), replay):
                print(line, flush=True)
    if not args.unit_only:
        for module in e2e:
            print(run_e2e(module, tally, bin_dir, 900), flush=True)

    if tally.skipped:
        print("\nskipped:")
        for name, reason in tally.skipped:
            print(f"  {name}: {reason}")
    if tally.failed:
        print("\nfailed:")
        for name in tally.failed:
            print(f"  {name}")
    if args.label:
        print(f"\n{args.label}: {tally.passed} tests passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
        return 1 if tally.failed or tally.passed == 0 else 0
    print(f"\n{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
