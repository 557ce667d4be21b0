"""AWS Batch through boto3 and `aws batch` against a real daemon: definitions, jobs, arrays, logs, ends, restarts.

SPDX-License-Identifier: Apache-2.0
"""
import json
import subprocess
import time
import unittest

import harness
from botocore.exceptions import ClientError
from signed_calls import SignedCalls

CONFIG = """
pools:
- name: default
  count: 8
- name: batch
  types: [batch.vcpu]
  count: 6
"""


class BatchCase(unittest.TestCase):
    regions = ("us-west-2",)
    config = CONFIG

    @classmethod
    def setUpClass(cls):
        cls.meridian = harness.Daemon(regions=cls.regions, config=cls.config).start()
        cls.batch = cls.meridian.client("batch")
        cls.logs = cls.meridian.client("logs")

    @classmethod
    def tearDownClass(cls):
        cls.meridian.close()

    def define(self, name, command, vcpus="1", memory="128", **more):
        properties = {"image": "host", "command": command,
                      "resourceRequirements": [{"type": "VCPU", "value": vcpus}, {"type": "MEMORY", "value": memory}]}
        properties.update(more.pop("containerProperties", {}))
        return self.batch.register_job_definition(jobDefinitionName=name, type="container",
                                                  containerProperties=properties, **more)

    def submit(self, definition, name="j", **more):
        return self.batch.submit_job(jobName=name, jobQueue=more.pop("jobQueue", "default"), jobDefinition=definition,
                                     **more)["jobId"]

    def describe(self, job):
        return self.batch.describe_jobs(jobs=[job])["jobs"][0]

    def wait(self, job, *states, seconds=60):
        states = states or ("SUCCEEDED", "FAILED")
        return harness.wait_for(lambda: (lambda d: d if d["status"] in states else None)(self.describe(job)), seconds,
                                f"{job} in {states}")

    def output(self, job):
        stream = self.describe(job)["container"]["logStreamName"]
        events = self.logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream, startFromHead=True)
        return "\n".join(e["message"] for e in events["events"])


class TestBatch(BatchCase):
    def test_a_job_runs_in_the_default_queue(self):
        self.define("hello", ["sh", "-c", "echo job $AWS_BATCH_JOB_ID queue $AWS_BATCH_JQ_NAME says Ref::word; id -u"],
                    parameters={"word": "nothing"})
        job = self.submit("hello", parameters={"word": "hello"})
        done = self.wait(job)
        self.assertEqual(done["status"], "SUCCEEDED", done)
        self.assertEqual(done["container"]["exitCode"], 0)
        self.assertLessEqual(done["createdAt"], done["startedAt"])
        self.assertLessEqual(done["startedAt"], done["stoppedAt"])
        self.assertTrue(done["container"]["logStreamName"].startswith("hello/default/"))
        self.assertIn(f"job {job} queue default says hello", self.output(job))

    def test_revisions_count_up_and_the_newest_active_one_is_meant(self):
        for word in ("one", "two", "three"):
            made = self.define("revised", ["echo", word])
        self.assertEqual(made["revision"], 3)
        self.batch.deregister_job_definition(jobDefinition="revised:3")
        found = self.batch.describe_job_definitions(jobDefinitionName="revised", status="ACTIVE")["jobDefinitions"]
        self.assertEqual([d["revision"] for d in found], [1, 2])
        job = self.submit("revised")
        self.assertTrue(self.wait(job)["jobDefinition"].endswith("revised:2"))
        with self.assertRaisesRegex(ClientError, "INACTIVE"):
            self.submit("revised:3")

    def test_names_and_sizes_have_bounds(self):
        self.define("bounded", ["true"])
        self.submit("bounded", name="n" * 128)
        for name in ("n" * 129, "a.b", "_a", "ä"):
            with self.assertRaisesRegex(ClientError, "ClientException.*128"):
                self.submit("bounded", name=name)
        big = [{"name": "V", "value": "x" * 9000}]
        with self.assertRaisesRegex(ClientError, "containerOverrides has 9.* 8192"):
            self.submit("bounded", containerOverrides={"environment": big})
        with self.assertRaisesRegex(ClientError, "reserved"):
            self.submit("bounded", containerOverrides={"environment": [{"name": "AWS_BATCH_X", "value": ""}]})
        for size in (1, 10001):
            with self.assertRaisesRegex(ClientError, "between 2 and 10000"):
                self.submit("bounded", arrayProperties={"size": size})
        for bad in ("none", "none:4"):
            with self.assertRaisesRegex(ClientError, "no job definition"):
                self.submit(bad)

    def test_overrides_and_an_empty_variable(self):
        self.define("env", ["sh", "-c", 'echo "A=$A B=$B ${C-unset} ${D-unset}"'],
                    containerProperties={"environment": [{"name": "A", "value": "1"}, {"name": "C", "value": ""}]})
        job = self.submit("env", containerOverrides={"environment": [{"name": "B", "value": "2"}]})
        self.wait(job)
        self.assertIn("A=1 B=2  unset", self.output(job))

    def test_array_with_a_failing_child(self):
        self.define("five", ["sh", "-c", 'echo "I am $AWS_BATCH_JOB_ARRAY_INDEX"; [ $AWS_BATCH_JOB_ARRAY_INDEX != 3 ]'])
        job = self.submit("five", arrayProperties={"size": 5})
        done = self.wait(job)
        self.assertEqual(done["status"], "FAILED")
        summary = done["arrayProperties"]["statusSummary"]
        self.assertEqual((summary["SUCCEEDED"], summary["FAILED"], sum(summary.values())), (4, 1, 5))
        self.assertEqual(self.describe(f"{job}:3")["container"]["exitCode"], 1)
        self.assertIn("I am 2", self.output(f"{job}:2"))
        failed = self.batch.list_jobs(arrayJobId=job, jobStatus="FAILED")["jobSummaryList"]
        self.assertEqual([j["jobId"] for j in failed], [f"{job}:3"])

    def test_retry_gets_a_clean_directory(self):
        # An earlier attempt's files must not be there, and each attempt has a stream of its own.
        self.define("flaky", ["sh", "-c", "ls /tmp; touch /tmp/left; echo attempt $AWS_BATCH_JOB_ATTEMPT; "
                                          "[ $AWS_BATCH_JOB_ATTEMPT = 3 ]"], retryStrategy={"attempts": 3})
        job = self.submit("flaky")
        done = self.wait(job)
        self.assertEqual(done["status"], "SUCCEEDED")
        self.assertEqual([a["container"]["exitCode"] for a in done["attempts"]], [1, 1, 0])
        self.assertEqual(len({a["container"]["logStreamName"] for a in done["attempts"]}), 3)
        self.assertNotIn("left", self.output(job))

    def test_failures_run_down_a_chain(self):
        self.define("no", ["false"])
        self.define("yes", ["true"])
        a = self.submit("no")
        b = self.submit("yes", dependsOn=[{"jobId": a}])
        c = self.submit("yes", dependsOn=[{"jobId": b}])
        done = self.wait(c)
        self.assertEqual(done["status"], "FAILED")
        self.assertIn("Dependent Job failed", done["statusReason"])
        self.assertIn("Dependent Job failed", self.describe(b)["statusReason"])
        self.assertNotIn("startedAt", self.describe(b))

    def test_sequential_and_n_to_n_keep_their_order(self):
        self.define("stamp", ["sh", "-c", "date +%s%N; sleep 0.1; date +%s%N"])
        a = self.submit("stamp", arrayProperties={"size": 3}, dependsOn=[{"type": "SEQUENTIAL"}])
        b = self.submit("stamp", arrayProperties={"size": 3}, dependsOn=[{"jobId": a, "type": "N_TO_N"}])
        self.assertEqual(self.wait(b)["status"], "SUCCEEDED")
        times = {j: [list(map(int, self.output(f"{j}:{i}").split())) for i in range(3)] for j in (a, b)}
        for i in range(2):
            self.assertLess(times[a][i][1], times[a][i + 1][0])
        for i in range(3):
            self.assertLess(times[a][i][1], times[b][i][0])

    def test_cancel_and_terminate(self):
        self.define("long", ["sh", "-c", "trap 'echo asked to stop; exit 3' TERM; echo up; sleep 100 & wait"])
        running = self.submit("long")
        self.wait(running, "RUNNING")
        harness.wait_for(lambda: "up" in self.output(running), 20)
        waiting = self.submit("long", dependsOn=[{"jobId": running}])
        self.wait(waiting, "PENDING")
        for job in (running, waiting):
            self.batch.cancel_job(jobId=job, reason="first thoughts")
        self.assertEqual(self.wait(waiting)["statusReason"], "first thoughts")
        self.assertEqual(self.describe(running)["status"], "RUNNING")
        self.batch.terminate_job(jobId=running, reason="second thoughts")
        done = self.wait(running)
        self.assertEqual((done["status"], done["statusReason"]), ("FAILED", "second thoughts"))
        self.assertTrue(SignedCalls(self.meridian).describe_jobs(jobs=[running])["jobs"][0]["isTerminated"])
        self.assertIn("asked to stop", self.output(running))

    def test_runnable_says_why(self):
        self.define("all", ["sleep", "30"], vcpus="6")
        holder = self.submit("all")
        self.wait(holder, "RUNNING")
        job = self.submit("all")
        reason = harness.wait_for(lambda: self.describe(job).get("statusReason"), 20)
        self.assertIn("requested 6", reason)
        self.assertIn("6 of 6", reason)
        # Debian's SDK does not know this one yet.
        snapshot = SignedCalls(self.meridian).get_job_queue_snapshot(jobQueue="default")["frontOfQueue"]["jobs"]
        self.assertEqual([j["jobArn"].rsplit("/")[-1] for j in snapshot], [job])
        for each in (holder, job):
            self.batch.terminate_job(jobId=each, reason="done")
        self.wait(job)

    def test_memory_is_a_hard_limit_or_said_not_to_be(self):
        self.define("hungry", ["python3", "-c", "b = bytearray(300 << 20); print(len(b))"], memory="64")
        done = self.wait(self.submit("hungry"))
        if done["status"] == "SUCCEEDED":
            self.skipTest("this machine lets no cgroup be made: memory is not limited")
        self.assertIn("OutOfMemoryError", done["container"]["reason"])

    def test_kill_9_of_the_daemon_leaves_children_running(self):
        meridian = harness.Daemon(config=CONFIG).start()
        try:
            batch = meridian.client("batch")
            batch.register_job_definition(
                jobDefinitionName="slow", type="container",
                containerProperties={"image": "host", "command": ["sh", "-c", "sleep 3; echo done"],
                                     "resourceRequirements": [{"type": "VCPU", "value": "1"},
                                                              {"type": "MEMORY", "value": "64"}]})
            job = batch.submit_job(jobName="a", jobQueue="default", jobDefinition="slow",
                                   arrayProperties={"size": 8})["jobId"]
            harness.wait_for(lambda: batch.describe_jobs(jobs=[job])["jobs"][0]["arrayProperties"]["statusSummary"]
                             ["RUNNING"] == 6, 30)
            meridian.kill()
            meridian.start()
            batch = meridian.client("batch")
            done = harness.wait_for(lambda: (lambda d: d if d["status"] in ("SUCCEEDED", "FAILED") else None)(
                batch.describe_jobs(jobs=[job])["jobs"][0]), 60)
            self.assertEqual(done["status"], "SUCCEEDED")
            children = batch.describe_jobs(jobs=[f"{job}:{i}" for i in range(8)])["jobs"]
            self.assertEqual([len(c["attempts"]) for c in children], [1] * 8)
        finally:
            meridian.close()

    def test_list_filters_and_pages(self):
        self.define("listed", ["true"])
        jobs = [self.submit("listed", name=f"Page-{i}") for i in range(5)]
        for job in jobs:
            self.wait(job)
        found = self.batch.list_jobs(jobQueue="default", filters=[{"name": "JOB_NAME", "values": ["page-*"]}])
        self.assertEqual([j["jobId"] for j in found["jobSummaryList"]], jobs[::-1])
        pages = self.batch.get_paginator("list_jobs").paginate(
            jobQueue="default", filters=[{"name": "JOB_NAME", "values": ["page-*"]}],
            PaginationConfig={"PageSize": 2})
        self.assertEqual([len(p["jobSummaryList"]) for p in pages], [2, 2, 1])
        with self.assertRaisesRegex(ClientError, "exactly one of"):
            self.batch.list_jobs()

    def test_aws_cli(self):
        self.define("cli", ["sh", "-c", "echo from the cli $AWS_BATCH_JOB_ARRAY_INDEX"])
        run = lambda *words: json.loads(subprocess.run(  # noqa: E731
            ["aws", "batch", *words, "--output", "json"], env=self.meridian.env, check=True, text=True,
            capture_output=True).stdout)
        job = run("submit-job", "--job-name", "c", "--job-queue", "default", "--job-definition", "cli",
                  "--array-properties", "size=2")["jobId"]
        self.wait(job)
        self.assertEqual(run("describe-jobs", "--jobs", job)["jobs"][0]["status"], "SUCCEEDED")

    def test_an_array_of_ten_thousand_is_taken_at_once(self):
        self.define("many", ["true"])
        began = time.monotonic()
        job = self.submit("many", arrayProperties={"size": 10000})
        self.assertLess(time.monotonic() - began, 5)
        self.batch.terminate_job(jobId=job, reason="enough")
        done = self.wait(job)
        self.assertEqual(sum(done["arrayProperties"]["statusSummary"].values()), 10000)

    def test_a_child_reaches_the_apis_with_its_own_keys(self):
        self.define("driver", ["python3", "-c", "import boto3, os; u = os.environ['AWS_ENDPOINT_URL'];"
                               "print(boto3.client('sts', endpoint_url=u).get_caller_identity()['Arn']);"
                               "print(boto3.client('sagemaker', endpoint_url=u).list_training_jobs()['TrainingJobSummaries'])"])
        job = self.submit("driver")
        self.assertEqual(self.wait(job)["status"], "SUCCEEDED", self.output(job))
        self.assertIn(f"assumed-role/batch/{job}", self.output(job))


if __name__ == "__main__":
    unittest.main()
