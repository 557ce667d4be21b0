"""What tests of the operators' resources share: a daemon, kubectl on its own API (or, with MERIDIAN_KUBECONFIG, on that of a
cluster), and jobs in a line of shell.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import subprocess
import time
import unittest

import harness
import jobs
import operator_place

EXAMPLES = harness.ROOT / "examples" / "operators"


class OperatorCase(unittest.TestCase):
    """A daemon for all tests of the class, and its words."""
    REGIONS = ("us-west-2",)

    @classmethod
    def setUpClass(cls):
        if not shutil.which("kubectl"):
            raise unittest.SkipTest("kubectl is not installed")
        cls.place = operator_place.start(cls.REGIONS)
        cls.addClassCleanup(cls.place.close)
        cls.meridian = cls.place.meridian
        jobs.ensure_bucket(cls.meridian)

    @classmethod
    def environment(cls):
        env = dict(cls.meridian.env)
        env["PATH"] = f"{cls.meridian.data}/bin:{harness.BIN}:{env['PATH']}"
        env["KUBECONFIG"] = str(cls.place.kubeconfig)
        env["HOME"] = str(cls.meridian.data)  # kubectl keeps what it discovered there
        return env

    @classmethod
    def run_command(cls, *command, check=True, input=None, timeout=120):
        done = subprocess.run([str(word) for word in command], env=cls.environment(), text=True, capture_output=True,
                              input=input, timeout=timeout)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}\n"
                                 f"{done.stderr[-3000:]}")
        return done

    @classmethod
    def kubectl(cls, *arguments, **more):
        return cls.run_command("kubectl", *arguments, **more)

    @classmethod
    def get(cls, kind, name, ns="default"):
        return json.loads(cls.kubectl("get", kind, name, "-n", ns, "-o", "json").stdout)

    @classmethod
    def find(cls, kind, name, ns="default"):
        done = cls.kubectl("get", kind, name, "-n", ns, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    @classmethod
    def apply(cls, resource, check=True):
        return cls.kubectl("apply", "-f", "-", input=json.dumps(resource), check=check)

    def training_job(self, name, program, **spec):
        """A job on the reserved image `host` that runs a line of shell."""
        return {
            "apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {
                "region": self.REGIONS[0], "roleArn": "arn:aws:iam::000000000000:role/service-role/training",
                "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "File",
                                           "containerEntrypoint": ["/bin/sh", "-c", program]},
                "outputDataConfig": {"s3OutputPath": "s3://training-bucket/out"},
                "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 5},
                "stoppingCondition": {"maxRuntimeInSeconds": 3600}, **spec}}


def condition(resource, type):
    for one in resource.get("status", {}).get("conditions", []):
        if one["type"] == type:
            return one
    return {"status": "", "reason": "", "message": ""}


def eventually(what, seconds=60):
    end = time.monotonic() + seconds
    while True:
        seen = what()
        if seen or time.monotonic() > end:
            return seen
        time.sleep(0.2)
