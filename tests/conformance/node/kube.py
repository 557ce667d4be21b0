"""Node's @kubernetes/client-node with the kubeconfig that `meridian up` writes.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import unittest

import harness

HERE = pathlib.Path(__file__).resolve().parent


class Node(unittest.TestCase):
    def test_a_training_job_is_created_watched_patched_and_deleted(self):
        meridian = harness.Daemon().start()
        self.addCleanup(meridian.close)
        meridian.client("s3").create_bucket(Bucket="by-node", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        done = subprocess.run(["node", str(HERE / "kube_node.mjs"), str(meridian.data / "kubeconfig"), "s3://by-node/out"],
                              env=meridian.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("all well", done.stdout)


if __name__ == "__main__":
    unittest.main()
