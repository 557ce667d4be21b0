"""Cold build on this machine and the size of the binaries (goal: each .cpp under 10 s).

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import measure


def main():
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="meridian-build-"))
    env = dict(os.environ, CCACHE_DISABLE="1")
    started = time.perf_counter()
    subprocess.run(["cmake", "--preset", "release", "-B", str(scratch)], cwd=measure.ROOT, env=env, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(scratch), "meridian", "meridian-init"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    measure.report("cold build of meridian and meridian-init", "s", [time.perf_counter() - started])
    steps = []
    for line in (scratch / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, *_ = line.split("\t")
        if output.endswith(".cpp.o"):
            steps.append(((int(end) - int(begin)) / 1000, output.split("/", 1)[-1]))
    for seconds, name in sorted(steps, reverse=True)[:5]:
        print(f"  {seconds:6.1f} s  {name}")
    measure.report("slowest file", "s", [max(steps)[0]])
    for program in ("meridian", "meridian-init"):
        measure.report(f"size of {program}", "MiB", [(scratch / "bin" / program).stat().st_size / 2**20])
    shutil.rmtree(scratch)


main()
