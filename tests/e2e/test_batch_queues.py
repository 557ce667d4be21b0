"""Compute environments, queues, fair shares, consumable resources and multi-node jobs of AWS Batch, through boto3.

SPDX-License-Identifier: Apache-2.0
"""
import unittest

import harness
from botocore.exceptions import ClientError
from signed_calls import SignedCalls
from test_batch import BatchCase

# A main node that waits for its peers; each peer sends it its number over the job's own network.
NODES = """
import os, socket
me, main = (int(os.environ["AWS_BATCH_JOB_" + n]) for n in ("NODE_INDEX", "MAIN_NODE_INDEX"))
if me == main:
    server = socket.create_server(("0.0.0.0", 7000))
    seen = set()
    while len(seen) < int(os.environ["AWS_BATCH_JOB_NUM_NODES"]) - 1:
        seen.add(int(server.accept()[0].recv(16)))
    print("heard", sorted(seen))
else:
    while True:
        try:
            peer = socket.create_connection((os.environ["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"], 7000))
            break
        except ConnectionRefusedError:
            pass
    peer.sendall(str(me).encode())
"""


class TestQueues(BatchCase):
    def environment(self, name, vcpus):
        self.batch.create_compute_environment(
            computeEnvironmentName=name, type="MANAGED", state="ENABLED",
            computeResources={"type": "EC2", "minvCpus": 0, "maxvCpus": vcpus, "instanceTypes": ["optimal"],
                              "subnets": ["subnet-1"], "securityGroupIds": ["sg-1"], "instanceRole": "role"})

    def queue(self, name, environment, **more):
        return self.batch.create_job_queue(jobQueueName=name, priority=more.pop("priority", 1), state="ENABLED",
                                           computeEnvironmentOrder=[{"order": 1, "computeEnvironment": environment}], **more)

    def test_a_region_starts_with_defaults(self):
        queue = self.batch.describe_job_queues(jobQueues=["default"])["jobQueues"][0]
        self.assertEqual((queue["state"], queue["status"]), ("ENABLED", "VALID"))
        environment = self.batch.describe_compute_environments()["computeEnvironments"][0]
        self.assertEqual(queue["computeEnvironmentOrder"][0]["computeEnvironment"], environment["computeEnvironmentArn"])

    def test_environments_and_queues_are_taken_down_in_order(self):
        self.environment("own", 2)
        self.queue("ours", "own")
        with self.assertRaisesRegex(ClientError, "DISABLED first"):
            self.batch.delete_compute_environment(computeEnvironment="own")
        self.batch.update_compute_environment(computeEnvironment="own", state="DISABLED")
        with self.assertRaisesRegex(ClientError, "JobQueue relationship"):
            self.batch.delete_compute_environment(computeEnvironment="own")
        self.batch.update_job_queue(jobQueue="ours", state="DISABLED")
        self.define("nothing", ["true"])
        with self.assertRaisesRegex(ClientError, "DISABLED"):
            self.submit("nothing", jobQueue="ours")
        self.batch.delete_job_queue(jobQueue="ours")
        self.batch.delete_compute_environment(computeEnvironment="own")
        self.assertEqual(self.batch.describe_job_queues(jobQueues=["ours"])["jobQueues"], [])
        with self.assertRaisesRegex(ClientError, "no job-queue 'ours'"):
            self.submit("nothing", jobQueue="ours")

    def test_shares_take_turns_by_weight(self):
        policy = self.batch.create_scheduling_policy(name="fair", fairsharePolicy={
            "shareDecaySeconds": 3600, "shareDistribution": [{"shareIdentifier": "heavy", "weightFactor": 0.25},
                                                             {"shareIdentifier": "light", "weightFactor": 1.0}]})["arn"]
        self.environment("one", 1)
        self.queue("shared", "one", schedulingPolicyArn=policy)
        self.define("short", ["sleep", "0.2"])
        with self.assertRaisesRegex(ClientError, "shareIdentifier must be given"):
            self.submit("short", jobQueue="shared")
        jobs = {share: self.submit("short", jobQueue="shared", shareIdentifier=share, arrayProperties={"size": 10})
                for share in ("light", "heavy")}
        for job in jobs.values():
            self.assertEqual(self.wait(job)["status"], "SUCCEEDED")
        started = sorted((child["startedAt"], share) for share, job in jobs.items()
                         for child in self.batch.describe_jobs(jobs=[f"{job}:{i}" for i in range(10)])["jobs"])
        first = [share for _, share in started[:10]]
        self.assertGreater(first.count("heavy"), first.count("light"), started)
        self.assertGreater(first.count("light"), 0, started)

    def test_a_consumable_resource_is_waited_for(self):
        calls = SignedCalls(self.meridian)  # Debian's SDK is older
        calls.create_consumable_resource(consumableResourceName="licence", totalQuantity=1)
        self.define("licensed", ["sleep", "2"])
        needs = {"consumableResourcePropertiesOverride":
                 {"consumableResourceList": [{"consumableResource": "licence", "quantity": 1}]}}
        first, second = (calls.submit_job(jobName="l", jobQueue="default", jobDefinition="licensed", **needs)["jobId"]
                         for _ in range(2))
        self.wait(first, "RUNNING")
        reason = harness.wait_for(lambda: self.describe(second).get("statusReason"), 20)
        self.assertIn("requested 1 of 'licence', free 0", reason)
        self.assertEqual(calls.describe_consumable_resource(consumableResource="licence")["inUseQuantity"], 1)
        self.assertEqual(self.wait(second)["status"], "SUCCEEDED")
        self.assertGreaterEqual(self.describe(second)["startedAt"], self.describe(first)["stoppedAt"])

    def test_nodes_of_a_job_reach_each_other(self):
        container = {"image": "host", "command": ["python3", "-c", NODES],
                     "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]}
        self.batch.register_job_definition(
            jobDefinitionName="nodes", type="multinode",
            nodeProperties={"numNodes": 3, "mainNode": 0,
                            "nodeRangeProperties": [{"targetNodes": "0:2", "container": container}]})
        job = self.submit("nodes")
        done = self.wait(job)
        self.assertEqual(done["status"], "SUCCEEDED", done)
        self.assertIn("heard [1, 2]", self.output(f"{job}#0"))
        self.assertFalse(self.describe(f"{job}#1")["nodeDetails"]["isMainNode"])
        nodes = self.batch.list_jobs(multiNodeJobId=job, jobStatus="SUCCEEDED")["jobSummaryList"]
        self.assertEqual([n["jobId"] for n in nodes], [f"{job}#{i}" for i in range(3)])

    def test_what_is_registered_is_described_as_it_was_given(self):
        with self.assertRaisesRegex(ClientError, "neither RETRY nor EXIT"):
            self.define("other", ["x"], retryStrategy={"attempts": 2, "evaluateOnExit": [{"action": "AGAIN"}]})
        properties = {"image": "host", "command": ["x"], "environment": [{"name": "FOO", "value": ""}],
                      "resourceRequirements": [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}]}
        retry = {"attempts": 2, "evaluateOnExit": [{"onExitCode": "1*", "action": "retry"}]}
        self.batch.register_job_definition(jobDefinitionName="given", type="container", containerProperties=properties,
                                           retryStrategy=retry, timeout={"attemptDurationSeconds": 61}, tags={"a": "b"},
                                           propagateTags=True, platformCapabilities=["EC2"])
        found = self.batch.describe_job_definitions(jobDefinitionName="given")["jobDefinitions"][0]
        for name, value in properties.items():
            self.assertEqual(found["containerProperties"][name], value)
        self.assertEqual((found["retryStrategy"], found["timeout"], found["tags"], found["propagateTags"]),
                         (retry, {"attemptDurationSeconds": 61}, {"a": "b"}, True))
        arn = found["jobDefinitionArn"]
        self.batch.tag_resource(resourceArn=arn, tags={"c": "d"})
        self.batch.untag_resource(resourceArn=arn, tagKeys=["a"])
        self.assertEqual(self.batch.list_tags_for_resource(resourceArn=arn)["tags"], {"c": "d"})


del BatchCase  # its tests are another file's

if __name__ == "__main__":
    unittest.main()
