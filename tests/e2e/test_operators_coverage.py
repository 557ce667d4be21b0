"""Which namespaces an operator covers: its Lease, and what `meridian apply` says.

SPDX-License-Identifier: Apache-2.0
"""
import json
import unittest

from operator_case import OperatorCase, eventually


class Coverage(OperatorCase):
    def test_a_namespace_in_use_holds_the_heartbeat_and_apply_has_nothing_to_warn_of(self):
        self.kubectl("create", "namespace", "covered")
        job = self.training_job("covered", "true")
        done = self.run_command("meridian", "apply", "-n", "covered", "-f", "-", input=json.dumps(job))
        self.assertNotIn("Warning", done.stderr)
        lease = eventually(lambda: self.find("lease", "meridian-operator-heartbeat", "covered"), seconds=90)
        self.assertTrue(lease)
        self.assertEqual(lease["spec"]["leaseDurationSeconds"], 180)
        self.assertIsNone(self.find("lease", "meridian-operator-heartbeat", "kube-system"))


if __name__ == "__main__":
    unittest.main()
