"""Long proofs at their full size: `./dev soak NAME`; without a name it lists them.

The same programs run at a twentieth of this size in every `./dev test`.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/dev/bin"


def dev_build():
    subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", "build/dev"], cwd=ROOT, check=True)


def gtest(program, filter_text):
    dev_build()
    return subprocess.run([str(BUILD / program), f"--gtest_filter={filter_text}"],
                          env=dict(os.environ, MERIDIAN_SOAK="1")).returncode


def e2e(*names):
    dev_build()
    return subprocess.run(["/usr/bin/python3", "tests/run.py", "--build", "build/dev", "--e2e-only", *names], cwd=ROOT,
                          env=dict(os.environ, MERIDIAN_SOAK="1")).returncode


SOAKS = {
    "store-crash": ("kill -9 of a writing process, 800 rounds", lambda: gtest("store_test", "*Crash*:*Kill*")),
    "store-model": ("the store against its model, 2,000 steps a seed", lambda: gtest("store_test", "*Model*")),
    "s3": ("S3 at full size: 5 GiB multipart by ranges, 10,000-key listings", lambda: e2e("test_s3")),
    "restart": ("kill -9 of daemon and supervisors, twenty times as often", lambda: e2e("test_restart")),
    "watches": ("1,000 watches; a watch over 100,000 unrelated writes", lambda: e2e("test_kube_watch")),
    "fuzz": ("every fuzzer until 1e7 executions or an hour", lambda: subprocess.run(
        ["./dev", "fuzz", "all", "3600"], cwd=ROOT).returncode),
}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SOAKS:
        for name, (what, _) in SOAKS.items():
            print(f"{name:12} {what}")
        return 0 if len(sys.argv) < 2 else 2
    started = time.monotonic()
    status = SOAKS[sys.argv[1]][1]()
    print(f"soak {sys.argv[1]}: {'passed' if status == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
