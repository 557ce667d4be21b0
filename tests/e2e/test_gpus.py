"""Pools with GPUs: what an instance is told of its devices, and their metrics. The machine's devices are those
that a program in the place of nvidia-smi lists: no figure here comes from a GPU.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import json
import pathlib
import shutil
import tempfile
import textwrap
import unittest

import harness
import jobs

CONFIG = """
pools:
  - name: gpus
    types: [ml.p3.8xlarge]
    count: 2
    gpus: 2
  - name: plain
    types: [ml.m5.large]
    count: 2
"""

NVIDIA_SMI = """#!/bin/sh
case "$*" in
  *utilization.gpu*) printf '0, 10, 1000, 16000\\n1, 20, 2000, 16000\\n2, 30, 4000, 16000\\n3, [N/A], [N/A], 16000\\n' ;;
  *uuid*) for i in 0 1 2 3; do echo "$i, GPU-$i, Imagined V100, 16000"; done ;;
esac
"""

SCRIPT = textwrap.dedent("""
    import json, os
    names = ("SM_CURRENT_HOST", "SM_NUM_GPUS", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
    print("seen=" + json.dumps({n: os.environ.get(n) for n in names}), flush=True)
""")


class Gpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="meridian-e2e-gpus-"))
        cls.addClassCleanup(shutil.rmtree, cls.place)
        (cls.place / "nvidia-smi").write_text(NVIDIA_SMI)
        (cls.place / "nvidia-smi").chmod(0o755)
        cls.meridian = harness.Daemon(config=CONFIG, path=[cls.place]).start()
        cls.addClassCleanup(cls.meridian.close)

    def seen(self, job):
        lines = [l[5:] for l in jobs.log_text(self.meridian, job).splitlines() if l.startswith("seen=")]
        return {s.pop("SM_CURRENT_HOST"): s for s in map(json.loads, lines)}

    def latest(self, metric, host):
        now = datetime.datetime.now(datetime.timezone.utc)
        points = self.meridian.client("cloudwatch").get_metric_statistics(
            Namespace="/aws/sagemaker/TrainingJobs", MetricName=metric, Dimensions=[{"Name": "Host", "Value": host}],
            StartTime=now - datetime.timedelta(hours=1), EndTime=now + datetime.timedelta(hours=1), Period=3600,
            Statistics=["Maximum"])["Datapoints"]
        return points[0]["Maximum"] if points else None

    def test_each_instance_has_its_own_devices_and_their_metrics(self):
        job = jobs.script_job(self.meridian, "on-gpus", SCRIPT, instances=2,
                              ResourceConfig={"InstanceType": "ml.p3.8xlarge"})
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(self.seen("on-gpus"), {
            "algo-1": {"SM_NUM_GPUS": "2", "CUDA_VISIBLE_DEVICES": "0,1", "NVIDIA_VISIBLE_DEVICES": "0,1"},
            "algo-2": {"SM_NUM_GPUS": "2", "CUDA_VISIBLE_DEVICES": "0,1", "NVIDIA_VISIBLE_DEVICES": "2,3"}})
        # CloudWatch's figures are sums over the devices; what the driver does not know is left out.
        self.assertEqual(self.latest("GPUUtilization", "on-gpus/algo-1"), 30)
        self.assertEqual(self.latest("GPUMemoryUtilization", "on-gpus/algo-1"), 18.75)
        self.assertEqual(self.latest("GPUUtilization", "on-gpus/algo-2"), 30)
        self.assertEqual(self.latest("GPUMemoryUtilization", "on-gpus/algo-2"), 25)

    def test_a_job_without_gpus_sees_none_and_has_no_figure(self):
        job = jobs.script_job(self.meridian, "on-cores", SCRIPT)
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertEqual(self.seen("on-cores"), {"algo-1": {
            "SM_NUM_GPUS": "0", "CUDA_VISIBLE_DEVICES": "none", "NVIDIA_VISIBLE_DEVICES": "none"}})
        self.assertIsNone(self.latest("GPUUtilization", "on-cores/algo-1"))
        self.assertIsNone(self.latest("GPUMemoryUtilization", "on-cores/algo-1"))

    def test_a_gang_that_needs_more_devices_than_there_are_is_refused(self):
        with self.assertRaises(Exception) as refused:
            jobs.script_job(self.meridian, "too-many", SCRIPT, instances=3,
                            ResourceConfig={"InstanceType": "ml.p3.8xlarge"})
        self.assertIn("ResourceLimitExceeded", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
