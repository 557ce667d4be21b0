"""SageMaker trainings in a Batch queue: SubmitServiceJob against a real daemon.

SPDX-License-Identifier: Apache-2.0
"""
import json
import unittest

import harness
import jobs
from signed_calls import SignedCalls


class TestServiceJobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.meridian = harness.Daemon().start()
        cls.addClassCleanup(cls.meridian.close)
        cls.batch = cls.meridian.client("batch")
        if not hasattr(cls.batch, "submit_service_job"):  # as Debian 12's
            cls.batch = SignedCalls(cls.meridian)
        jobs.ensure_bucket(cls.meridian)
        cls.batch.create_service_environment(serviceEnvironmentName="two", serviceEnvironmentType="SAGEMAKER_TRAINING",
                                             capacityLimits=[{"maxCapacity": 2, "capacityUnit": "NUM_INSTANCES"}])
        cls.batch.create_job_queue(jobQueueName="trainings", priority=1, jobQueueType="SAGEMAKER_TRAINING",
                                   serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "two"}])

    def submit(self, script, instances=2, **more):
        source = jobs.upload_source(self.meridian, {"train.py": script}, key=f"code/{abs(hash(script))}.tar.gz")
        payload = jobs.request("queued", source, instances=instances)
        return self.batch.submit_service_job(jobName="queued", jobQueue="trainings", serviceJobType="SAGEMAKER_TRAINING",
                                             serviceRequestPayload=json.dumps(payload), **more)["jobId"]

    def wait(self, job, *states):
        return harness.wait_for(lambda: (lambda d: d if d["status"] in states else None)(
            self.batch.describe_service_job(jobId=job)), 90, f"{job} in {states}")

    def test_trainings_take_turns(self):
        first = self.submit("import time; time.sleep(3)")
        second = self.submit("print('second')")
        self.wait(first, "STARTING", "RUNNING")
        waiting = self.wait(second, "RUNNABLE")
        self.assertIn("requested 2 instances, free 0 of 2", waiting["statusReason"])
        done = self.wait(second, "SUCCEEDED", "FAILED")
        self.assertEqual(done["status"], "SUCCEEDED", done)
        self.assertEqual(self.wait(first, "SUCCEEDED")["status"], "SUCCEEDED")
        name = done["latestAttempt"]["serviceResourceId"]["value"].rsplit("/")[-1]
        self.assertEqual(jobs.describe(self.meridian, name)["TrainingJobStatus"], "Completed")
        listed = self.batch.list_service_jobs(jobQueue="trainings", jobStatus="SUCCEEDED")["jobSummaryList"]
        self.assertLessEqual({first, second}, {j["jobId"] for j in listed})

    def test_a_failure_is_made_again_as_often_as_asked(self):
        job = self.submit("raise SystemExit(3)", instances=1, retryStrategy={"attempts": 2})
        done = self.wait(job, "FAILED")
        self.assertEqual(len(done["attempts"]), 2)
        self.assertIn("AlgorithmError", done["statusReason"])

    def test_terminate_stops_the_training(self):
        job = self.submit("import time; time.sleep(600)", instances=1)
        self.wait(job, "RUNNING")
        self.batch.terminate_service_job(jobId=job, reason="enough")
        self.assertEqual(self.wait(job, "FAILED")["statusReason"], "enough")


if __name__ == "__main__":
    unittest.main()
