"""A team's cluster is full and its training is due: the same kubectl sends it to a Meridian region. Afterwards the region's
instances are free again, the billed seconds stand in the resource, and the cluster's own queue goes on as it did.

SPDX-License-Identifier: Apache-2.0
"""
import json
import unittest

import harness
from operator_case import EXAMPLES, OperatorCase


def pod(name, cpus):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [
        {"name": "work", "image": "localhost/work", "resources": {"requests": {"cpu": str(cpus)}}}]}}


class Burst(OperatorCase):
    def create(self, resource):
        self.kubectl("create", "-f", "-", input=json.dumps(resource))

    def add_node(self, name, cpus):
        self.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        size = {"cpu": str(cpus), "memory": "8Gi", "pods": "10"}
        self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
            "capacity": size, "allocatable": size, "conditions": [{"type": "Ready", "status": "True"}]}}))
        self.kubectl("patch", "node", name, "--type=merge", "-p", '{"spec":{"taints":null}}')

    def node_of(self, name):
        return self.get("pod", name)["spec"].get("nodeName")

    def unschedulable(self, name):
        conditions = self.get("pod", name)["status"].get("conditions", [])
        return next((c["message"] for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"), None)

    def free(self):
        """(free, all) instances of the region"""
        status = json.loads(self.meridian.cli("status", "-o", "json").stdout)
        pools = status["regions"][self.meridian.regions[0]]["pools"]
        return sum(p["free"] for p in pools), sum(p["count"] for p in pools)

    def test_a_full_cluster_trains_in_a_region_and_pays_for_seconds(self):
        self.run_command(EXAMPLES / "prepare.sh")
        self.add_node("worker-1", 4)
        self.create(pod("other-project", 4))
        harness.wait_for(lambda: self.node_of("other-project"), 60, "a node for the other project")
        self.create(pod("our-training", 2))
        why = harness.wait_for(lambda: self.unschedulable("our-training"), 60, "the scheduler's verdict")
        self.assertIn("Insufficient cpu", why)
        print(f"cluster: {why}")

        free_before, of_all = self.free()
        self.kubectl("apply", "-f", EXAMPLES / "1-script-mode-mpi.yaml")
        in_use = harness.wait_for(lambda: free_before - self.free()[0], 60, "instances for the job")
        self.assertEqual(in_use, 2)
        print(f"region: {in_use} of {of_all} instances train")
        self.kubectl("wait", "--for=condition=Complete", "trainingjob/digits-mpi", "--timeout=240s", timeout=260)
        harness.wait_for(lambda: self.free()[0] == free_before, 30, "the return of the region's instances")
        print(f"region: {free_before} of {of_all} instances are free again")

        status = self.get("trainingjob", "digits-mpi")["status"]
        remote = self.meridian.client("sagemaker").describe_training_job(TrainingJobName=status["sageMakerTrainingJobName"])
        self.assertEqual(status["billableTimeInSeconds"], remote["BillableTimeInSeconds"])
        self.assertGreater(status["billableTimeInSeconds"], 0)
        tags = {t["Key"]: t["Value"] for t in self.meridian.client("sagemaker").list_tags(
            ResourceArn=remote["TrainingJobArn"])["Tags"]}
        cluster = self.get("namespace", "kube-system")["metadata"]["uid"]
        self.assertIn(f"{cluster}/default/TrainingJob/digits-mpi/", "".join(tags.values()), "whose job this is")
        print(self.kubectl("get", "trainingjob", "digits-mpi", "-o", "wide").stdout)
        print(f"billed: {status['billableTimeInSeconds']} s")

        self.assertIsNone(self.node_of("our-training"), "the cluster was full all the time")
        self.kubectl("delete", "pod", "other-project", "--force", "--grace-period=0")
        self.assertEqual(harness.wait_for(lambda: self.node_of("our-training"), 120, "a node for the waiting pod"), "worker-1")
        print("cluster: the other project left, the waiting pod has its node")


if __name__ == "__main__":
    unittest.main()
