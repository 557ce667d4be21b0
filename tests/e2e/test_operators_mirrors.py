"""Jobs that boto3 makes, seen by kubectl: read-only mirrors in the namespace of their region.

SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import unittest

import jobs
from operator_case import OperatorCase, condition, eventually

SHELL = {"ContainerEntrypoint": ["/bin/sh", "-c"]}


class Mirrors(OperatorCase):
    REGIONS = ("us-west-2", "eu-central-1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.place.in_a_cluster:
            raise unittest.SkipTest("an operator in a cluster makes no mirrors")

    def make(self, name, program, region="us-west-2"):
        self.meridian.client("sagemaker", region=region).create_training_job(**jobs.request(
            name, None, AlgorithmSpecification={**SHELL, "ContainerArguments": [program]},
            Tags=[{"Key": "team", "Value": "digits"}]))

    def status(self, name, ns="region-us-west-2"):
        mirror = self.find("trainingjob", name, ns)
        return (mirror or {}).get("status", {}).get("trainingJobStatus")

    def test_a_job_of_boto3_is_listed_and_followed_to_its_end(self):
        self.make("by-boto3", "sleep 3; echo done")
        self.assertTrue(eventually(lambda: self.status("by-boto3") == "InProgress"))
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/by-boto3", "-n", "region-us-west-2", "--timeout=60s")
        mirror = self.get("trainingjob", "by-boto3", "region-us-west-2")
        self.assertEqual(mirror["metadata"]["labels"]["meridian.dev/mirror"], "region")
        self.assertNotIn("finalizers", mirror["metadata"])
        self.assertEqual(mirror["spec"]["trainingJobName"], "by-boto3")
        self.assertGreater(mirror["status"]["billableTimeInSeconds"], 0)
        self.assertIn("Completed", self.kubectl("get", "trainingjobs", "-n", "region-us-west-2").stdout)

    def test_names_in_upper_case_get_eight_digits_and_each_region_has_its_namespace(self):
        self.make("Digits-European", "true", "eu-central-1")
        listed = eventually(lambda: self.kubectl(
            "get", "trainingjobs", "-n", "region-eu-central-1", "-o", "name", check=False).stdout)
        self.assertRegex(listed, r"^trainingjob\S*/digits-european-[0-9a-f]{8}$")
        self.assertNotIn("european", self.kubectl("get", "trainingjobs", "-n", "region-us-west-2", "-o", "name",
                                                  check=False).stdout)

    def test_an_applied_job_has_no_mirror(self):
        self.apply(self.training_job("applied", "true"))
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/applied", "--timeout=60s")
        self.make("after-it", "true")
        self.assertTrue(eventually(lambda: self.status("after-it") == "Completed"))
        name = self.get("trainingjob", "applied")["status"]["sageMakerTrainingJobName"]
        self.assertIsNone(self.find("trainingjob", name, "region-us-west-2"))

    def test_a_mirror_cannot_be_changed(self):
        self.make("fixed", "true")
        self.assertTrue(eventually(lambda: self.status("fixed")))
        for patch, words in (({"spec": {"roleArn": "arn:aws:iam::000000000000:role/other-role-here"}}, "made elsewhere"),
                             ({"metadata": {"labels": {"meridian.dev/mirror": None}}}, "stays as it is")):
            refused = self.kubectl("patch", "trainingjob", "fixed", "-n", "region-us-west-2", "--type=merge",
                                   "-p", json.dumps(patch), check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(words, refused.stderr)

    def test_deleting_a_mirror_leaves_the_job_running_and_its_end_brings_it_back(self):
        self.make("goes-on", "sleep 6")
        self.assertTrue(eventually(lambda: self.status("goes-on") == "InProgress"
                                   and self.get("trainingjob", "goes-on", "region-us-west-2")["status"]["secondaryStatus"]
                                   == "Training"))
        self.kubectl("delete", "trainingjob", "goes-on", "-n", "region-us-west-2")
        self.assertEqual(jobs.describe(self.meridian, "goes-on")["TrainingJobStatus"], "InProgress")
        self.assertEqual(jobs.wait_end(self.meridian, "goes-on")["TrainingJobStatus"], "Completed")
        self.assertTrue(eventually(lambda: self.status("goes-on") == "Completed"))

    def test_after_a_restart_what_ended_meanwhile_is_shown(self):
        self.make("outlives", "sleep 2")
        self.assertTrue(eventually(lambda: self.status("outlives") == "InProgress"))
        self.meridian.kill()
        self.meridian.start()
        self.assertTrue(eventually(lambda: self.status("outlives") == "Completed"))
        shown = self.get("trainingjob", "outlives", "region-us-west-2")
        self.assertEqual(condition(shown, "Complete")["status"], "True")
        self.assertTrue(re.search(r"Normal\s+Completed", self.kubectl(
            "describe", "trainingjob", "outlives", "-n", "region-us-west-2").stdout))


if __name__ == "__main__":
    unittest.main()
