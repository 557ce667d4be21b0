"""Cold build on this machine (no compiler cache) and the size of the programs (goal: each .cpp under 10 s).

Seconds of processor time say more than those on the clock where others compute too; the load is printed beside them.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

import measure

PROGRAMS = ("meridian", "meridian-init")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load():
    return "load %.1f" % os.getloadavg()[0]


def build(scratch):
    """Configures and builds; the log has a line for each compilation: user, system, wall seconds, command."""
    log = scratch / "compilations"
    launcher = ";".join(["/usr/bin/time", "-a", "-o", str(log), "-f", "%U %S %e %C"])
    subprocess.run(["cmake", "--preset", "release", "-B", str(scratch), "-DCCACHE=OFF",
                    f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"], cwd=measure.ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(scratch), f"-j{os.cpu_count()}", *PROGRAMS], check=True,
                   stdout=subprocess.DEVNULL)
    return log.read_text().splitlines()


def slowest(lines):
    """(processor seconds, wall seconds, source) of each compilation, the slowest first."""
    files = []
    for line in lines:
        user, system, wall, command = line.split(" ", 3)
        source = command.rsplit(" -c ", 1)[-1].removeprefix(str(measure.ROOT) + "/")
        files.append((float(user) + float(system), float(wall), source))
    return sorted(files, reverse=True)


def main():
    if shutil.which("time", path="/usr/bin") is None:
        return measure.skip("cold build", "/usr/bin/time is not installed (apt-get install time)")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="meridian-build-"))
    before, clock, started = load(), time.perf_counter(), processor_seconds()
    files = slowest(build(scratch))
    wall, used = time.perf_counter() - clock, processor_seconds() - started
    print(f"  {len(files)} files, {os.cpu_count()} cores, {before} before, {load()} at the end")
    measure.report("cold build of meridian and meridian-init", "s", [wall])
    measure.report("  of that, processor time", "s", [used])
    measure.report("  shared evenly by the cores", "s", [used / os.cpu_count()])
    measure.report("slowest file, processor time", "s", [files[0][0]])
    for processor, on_clock, source in files[:5]:
        print(f"  {processor:6.1f} s processor  {on_clock:6.1f} s on the clock  {source}")
    for program in PROGRAMS:
        binary = scratch / "bin" / program
        stripped = scratch / (program + ".stripped")
        subprocess.run(["strip", "-o", str(stripped), str(binary)], check=True)
        measure.report(f"size of {program}", "MiB", [binary.stat().st_size / 2**20])
        measure.report(f"size of {program}, stripped", "MiB", [stripped.stat().st_size / 2**20])
    shutil.rmtree(scratch)


main()
