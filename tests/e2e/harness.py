"""A real Meridian for an end-to-end test: started on free ports with its own data, stopped afterwards.

    with harness.Daemon() as meridian:
        meridian.client("sagemaker").list_training_jobs()

SPDX-License-Identifier: Apache-2.0
"""
import configparser
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("MERIDIAN_BIN", ROOT / "build/dev/bin"))
ROLE = "arn:aws:iam::000000000000:role/meridian"


class Daemon:
    """`regions`: names, the first is the default. `config`: text of config.yaml. `options`: more for `meridian up`.
    `launcher`: words before the command, of something that becomes it. `path`: directories first on the daemon's PATH."""

    def __init__(self, regions=("us-west-2",), config=None, user=None, options=(), launcher=(), path=()):
        self.options = list(options)
        self.regions = list(regions)
        self.data = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-data-"))
        self.user = user
        self.launcher = list(launcher)
        self.path = [str(p) for p in path]
        self.process = None
        if config is not None:
            (self.data / "config.yaml").write_text(config)
        self.bin = BIN
        if user is not None:
            # The checkout may lie where that user cannot read.
            self.bin = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-bin-"))
            self.bin.chmod(0o755)
            for name in ("meridian", "meridian-init", "meridian-xgboost"):
                if (BIN / name).exists():
                    shutil.copy(BIN / name, self.bin / name)
            shutil.chown(self.data, user)

    def start(self):
        command = [str(self.bin / "meridian"), "--data", str(self.data), "up", "--port", "0",
                   "--regions", ",".join(self.regions), *self.options]
        if self.user is not None:
            command = ["runuser", "-u", self.user, "--"] + command
        command = self.launcher + command
        self.output = open(self.data.with_suffix(".log"), "ab")
        env = dict(os.environ, PATH=":".join(self.path + [os.environ["PATH"]]))
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT, env=env,
                                        start_new_session=True)
        deadline = time.monotonic() + 30
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("meridian did not start:\n" + self.log())
            time.sleep(0.02)
        self.run = json.loads((self.data / "run.json").read_text())
        keys = configparser.ConfigParser()
        keys.read(self.data / "credentials")
        self.keys = keys["default"]
        self.endpoint = f"http://127.0.0.1:{self.run['ports'].get('programs', self.run['port'])}"
        return self

    def _ready(self):
        try:
            run = json.loads((self.data / "run.json").read_text())
        except (OSError, ValueError):
            return False
        return self._pid() is not None and run["pid"] == self._pid() and (self.data / "credentials").exists()

    def _pid(self):
        # Under runuser the daemon is its child.
        if self.user is None:
            return self.process.pid
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def stop(self, with_signal=signal.SIGTERM):
        if self.process is None:
            return
        pid = self._pid()
        if pid is not None:
            try:
                os.kill(pid, with_signal)
            except ProcessLookupError:
                pass
        self.process.wait(timeout=60)
        self.process = None
        self.output.close()

    def kill(self):
        """kill -9, as a crash does."""
        self.stop(signal.SIGKILL)
        (self.data / "run.json").unlink(missing_ok=True)

    def log(self):
        return self.data.with_suffix(".log").read_text(errors="replace")

    @property
    def env(self):
        """What `meridian env` exports, over this process's environment."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        env.update(AWS_ENDPOINT_URL=self.endpoint, AWS_ACCESS_KEY_ID=self.keys["aws_access_key_id"],
                   AWS_SECRET_ACCESS_KEY=self.keys["aws_secret_access_key"], AWS_DEFAULT_REGION=self.regions[0],
                   AWS_REGION=self.regions[0], MERIDIAN_DATA=str(self.data), AWS_MAX_ATTEMPTS="2",
                   SAGEMAKER_USER_CONFIG_OVERRIDE=str(self.data / "sagemaker-sdk.yaml"), SAGEMAKER_VALIDATE_ROLE="false",
                   AWS_PAGER="", PATH=f"{self.data}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        return env

    def export_environment(self):
        """What `meridian env` exports, into this process: for clients that find their way by it alone."""
        for name in [n for n in os.environ if n.startswith("AWS_")]:
            del os.environ[name]
        os.environ.update({n: v for n, v in self.env.items() if n.startswith(("AWS_", "SAGEMAKER_"))})

    def client(self, service, region=None, **kwargs):
        import boto3
        from botocore.config import Config
        config = kwargs.pop("config", None) or Config(retries={"max_attempts": 1}, connect_timeout=5,
                                                      read_timeout=60)
        arguments = dict(endpoint_url=self.endpoint, region_name=region or self.regions[0],
                         aws_access_key_id=self.keys["aws_access_key_id"],
                         aws_secret_access_key=self.keys["aws_secret_access_key"], config=config)
        arguments.update(kwargs)
        return boto3.session.Session().client(service, **arguments)

    def cli(self, *args, check=True, timeout=300, **kwargs):
        """Runs `meridian ARGS` against this daemon; returns the finished process with text output."""
        done = subprocess.run([str(BIN / "meridian"), "--data", str(self.data), *map(str, args)], env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, **kwargs)
        if check and done.returncode != 0:
            raise AssertionError(f"meridian {' '.join(map(str, args))}: exit {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def __enter__(self):
        return self.start()

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, *exc):
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        if self.bin != BIN:
            shutil.rmtree(self.bin, ignore_errors=True)
        if exc[0] is None:
            self.data.with_suffix(".log").unlink(missing_ok=True)


def wait_for(condition, seconds=60, what="the condition"):
    """Polls until `condition()` is true; returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not hold within {seconds} s")
        time.sleep(0.1)
