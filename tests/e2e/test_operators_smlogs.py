"""`kubectl smlogs`: the plug-in that a daemon puts beside its aws wrapper.

SPDX-License-Identifier: Apache-2.0
"""
import unittest

import jobs
from operator_case import OperatorCase


class Smlogs(OperatorCase):
    def test_a_followed_job_is_printed_to_its_end_with_stream_and_time(self):
        job = self.training_job("talks", "for i in 1 2 3; do echo line $i of $SM_CURRENT_HOST; sleep 0.5; done")
        job["spec"]["resourceConfig"]["instanceCount"] = 2
        self.apply(job)
        done = self.kubectl("smlogs", "trainingjob", "talks", "-f")
        name = self.get("trainingjob", "talks")["status"]["sageMakerTrainingJobName"]
        for host in ("algo-1", "algo-2"):
            self.assertRegex(done.stdout, rf"(?m)^{name}/{host}-\d+ \d{{4}}-\d\d-\d\dT[\d:.]+Z line 3 of {host}$")
        self.assertEqual(done.stdout.count("line 1 of algo-1"), 1, "nothing is printed twice")
        self.assertIn(f"TrainingJob {name} is ", done.stderr)
        only = self.kubectl("smlogs", "TrainingJob", "talks", "-p", "algo-2", "--hide-log-stream-name").stdout
        self.assertNotIn("of algo-1", only)
        self.assertRegex(only, r"(?m)^\d{4}-\S+Z line 2 of algo-2$")
        self.assertEqual(len(jobs.log_events(self.meridian, name)), done.stdout.count("\n"))

    def test_what_has_no_log_is_told(self):
        refused = self.kubectl("smlogs", "trainingjob", "nobody", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("nobody", refused.stderr)
        refused = self.kubectl("smlogs", "hyperparametertuningjob", "study", check=False)
        self.assertIn("meridian.dev/tuning-job=study", refused.stderr)
        refused = self.kubectl("smlogs", "model", "net", check=False)
        self.assertIn("Model has no log", refused.stderr)


if __name__ == "__main__":
    unittest.main()
