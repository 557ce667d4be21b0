"""Resources whose region is another installation's: `meridian region add`, and spec.sageMakerEndpoint.

SPDX-License-Identifier: Apache-2.0
"""
import unittest

import harness
import jobs
from operator_case import OperatorCase, condition, eventually


class Elsewhere(OperatorCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.place.in_a_cluster:
            raise unittest.SkipTest("the cluster's operator has a regions file of its own")
        cls.far = harness.Daemon(regions=("eu-north-1",)).start()
        cls.addClassCleanup(cls.far.close)
        jobs.ensure_bucket(cls.far)

    def meridian_cli(self, *words, **more):
        return self.run_command("meridian", "--data", self.meridian.data, *words, **more)

    def far_jobs(self):
        listed = self.far.client("sagemaker").list_training_jobs(MaxResults=100)["TrainingJobSummaries"]
        return {j["TrainingJobName"]: j["TrainingJobStatus"] for j in listed}

    def test_a_region_that_is_added_takes_jobs_at_once(self):
        self.apply(self.training_job("too-early", "true", region="eu-north-1"))
        self.kubectl("wait", "--for=condition=Failed", "trainingjob/too-early", "--timeout=30s")
        self.assertIn("meridian region add", self.get("trainingjob", "too-early")["status"]["additional"])

        said = self.meridian_cli("region", "add", "eu-north-1", "--endpoint", self.far.endpoint, "--keys",
                                 self.far.data / "credentials").stderr
        self.assertEqual(said, "eu-north-1: answers\n")
        self.assertIn("eu-north-1", self.meridian_cli("region", "list").stdout)

        self.apply(self.training_job("far", "echo far away", region="eu-north-1"))
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/far", "--timeout=60s")
        name = self.get("trainingjob", "far")["status"]["sageMakerTrainingJobName"]
        self.assertEqual(self.far_jobs()[name], "Completed")
        self.assertNotIn(name, [j["TrainingJobName"] for j in
                                self.meridian.client("sagemaker").list_training_jobs()["TrainingJobSummaries"]])
        # A job that resources made is nobody else's to show.
        self.assertIsNone(self.find("trainingjob", name, "region-eu-north-1"))

        self.meridian_cli("region", "remove", "eu-north-1")
        again = self.meridian_cli("region", "remove", "eu-north-1", check=False)
        self.assertEqual(again.returncode, 1)

    def test_keys_that_are_wrong_are_told_and_retried(self):
        keys = self.meridian.data / "wrong-keys"
        keys.write_text("[default]\naws_access_key_id = AKIAWRONGWRONGWRONG0\naws_secret_access_key = x\n")
        said = self.meridian_cli("region", "add", "eu-north-1", "--endpoint", self.far.endpoint, "--keys", keys).stderr
        self.assertIn("kept, though it does not answer", said)
        self.apply(self.training_job("wrong-keys", "true", region="eu-north-1"))
        job = eventually(lambda: (j := self.get("trainingjob", "wrong-keys")) and "next attempt" in j.get(
            "status", {}).get("additional", "") and j)
        self.assertEqual(condition(job, "Reconciling")["status"], "True")
        keys.write_text((self.far.data / "credentials").read_text())
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/wrong-keys", "--timeout=60s")
        self.meridian_cli("region", "remove", "eu-north-1")


if __name__ == "__main__":
    unittest.main()
