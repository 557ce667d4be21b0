"""The exercise with an image of one's own, by kubectl on a real daemon.

SPDX-License-Identifier: Apache-2.0
"""
import shutil
import unittest

import jobs
from operator_case import EXAMPLES, OperatorCase


class OwnImage(OperatorCase):
    def test_an_image_that_holds_its_own_program_trains(self):
        if not shutil.which("podman"):
            self.skipTest("podman is not installed")
        self.run_command(EXAMPLES / "prepare.sh")
        self.run_command(EXAMPLES.parent / "own-image" / "build.sh", timeout=300)
        self.kubectl("apply", "-f", EXAMPLES / "2-own-image.yaml")
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/digits-own-image", "--timeout=120s", timeout=140)
        job = self.get("trainingjob", "digits-own-image")
        self.assertGreater(job["status"]["billableTimeInSeconds"], 0)
        name = job["status"]["sageMakerTrainingJobName"]
        log = jobs.log_text(self.meridian, name)
        self.assertIn("hyperparameters {'comment': 'nearest mean'}", log)
        metrics = {m["MetricName"]: m["Value"] for m in jobs.describe(self.meridian, name)["FinalMetricDataList"]}
        self.assertGreater(metrics["accuracy"], 0.8)
        wide = self.kubectl("get", "trainingjobs", "digits-own-image", "-o", "wide").stdout.splitlines()
        self.assertIn("BILLABLE-SECONDS", wide[0])
        self.assertIn("Completed", wide[1])
        self.kubectl("delete", "trainingjob", "digits-own-image")
        self.assertIsNone(self.find("trainingjob", "digits-own-image"))


if __name__ == "__main__":
    unittest.main()
