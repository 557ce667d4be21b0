"""python3-kubernetes against the Kubernetes face: typed, custom and dynamic calls, watch, leases.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import json
import unittest

import kube_case
import yaml

try:
    import kubernetes
except ImportError:
    kubernetes = None

PLACE = dict(group="example.test", version="v1", namespace="default", plural="tasks")


@unittest.skipIf(kubernetes is None, "python3-kubernetes is not installed")
class PythonClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kube_case.Server()
        cls.addClassCleanup(cls.server.close)
        client = kubernetes.config.new_client_from_config(str(cls.server.kubeconfig))
        cls.core = kubernetes.client.CoreV1Api(client)
        cls.custom = kubernetes.client.CustomObjectsApi(client)
        cls.client = client
        kubernetes.client.ApiextensionsV1Api(client).create_custom_resource_definition(yaml.safe_load(kube_case.TASKS))

    def test_config_maps_and_secrets(self):
        made = self.core.create_namespaced_config_map(
            "default", kubernetes.client.V1ConfigMap(metadata=kubernetes.client.V1ObjectMeta(name="c"), data={"a": "1"}))
        self.assertEqual(made.data, {"a": "1"})
        self.core.patch_namespaced_config_map("c", "default", {"data": {"b": "2"}})
        self.assertEqual(self.core.read_namespaced_config_map("c", "default").data, {"a": "1", "b": "2"})
        made = self.core.read_namespaced_config_map("c", "default")
        made.data = {"only": "this"}
        self.assertEqual(self.core.replace_namespaced_config_map("c", "default", made).data, {"only": "this"})
        with self.assertRaises(kubernetes.client.ApiException) as caught:
            self.core.replace_namespaced_config_map("c", "default", made)
        self.assertEqual(caught.exception.status, 409)
        self.core.create_namespaced_secret("default", kubernetes.client.V1Secret(
            metadata=kubernetes.client.V1ObjectMeta(name="s"), string_data={"k": "v"}))
        self.assertEqual(self.core.read_namespaced_secret("s", "default").data, {"k": "dg=="})
        self.assertEqual(self.core.delete_namespaced_config_map("c", "default").status, "Success")

    def test_custom_objects(self):
        made = self.custom.create_namespaced_custom_object(body=kube_case.task("py", size=2), **PLACE)
        self.assertEqual(made["spec"], {"size": 2, "mode": "File"})
        self.custom.patch_namespaced_custom_object(name="py", body={"spec": {"size": 3}}, **PLACE)
        self.custom.patch_namespaced_custom_object_status(name="py", body={"status": {"state": "Done"}}, **PLACE)
        live = self.custom.get_namespaced_custom_object(name="py", **PLACE)
        self.assertEqual((live["spec"]["size"], live["status"]["state"], live["metadata"]["generation"]), (3, "Done", 2))
        with self.assertRaises(kubernetes.client.ApiException) as caught:
            self.custom.create_namespaced_custom_object(body=kube_case.task("bad", size=0), **PLACE)
        self.assertEqual(caught.exception.status, 422)
        self.assertEqual(json.loads(caught.exception.body)["details"]["causes"][0]["field"], "spec.size")
        self.custom.delete_namespaced_custom_object(name="py", **PLACE)
        with self.assertRaises(kubernetes.client.ApiException) as caught:
            self.custom.get_namespaced_custom_object(name="py", **PLACE)
        self.assertEqual(caught.exception.status, 404)

    def test_watch_and_paging(self):
        for i in range(5):
            self.custom.create_namespaced_custom_object(body=kube_case.task(f"w{i}"), **PLACE)
        first = self.custom.list_namespaced_custom_object(limit=2, **PLACE)
        rest = self.custom.list_namespaced_custom_object(limit=10, _continue=first["metadata"]["continue"], **PLACE)
        self.assertEqual(len(first["items"]) + len(rest["items"]), 5)
        self.custom.delete_namespaced_custom_object(name="w0", **PLACE)
        seen = []
        for event in kubernetes.watch.Watch().stream(self.custom.list_namespaced_custom_object, timeout_seconds=5,
                                                     resource_version=rest["metadata"]["resourceVersion"], **PLACE):
            seen.append((event["type"], event["object"]["metadata"]["name"]))
            break
        self.assertEqual(seen, [("DELETED", "w0")])
        self.custom.delete_collection_namespaced_custom_object(**PLACE)
        self.assertEqual(self.custom.list_namespaced_custom_object(**PLACE)["items"], [])

    def test_the_dynamic_client(self):
        dynamic = kubernetes.dynamic.DynamicClient(self.client)
        tasks = dynamic.resources.get(api_version="example.test/v1", kind="Task")
        tasks.create(body=kube_case.task("dyn"), namespace="default")
        applied = tasks.patch(body=kube_case.task("dyn", size=4), namespace="default", name="dyn",
                             content_type="application/merge-patch+json")
        self.assertEqual(applied.spec.size, 4)
        self.assertEqual([j.metadata.name for j in tasks.get(namespace="default", label_selector="!x").items], ["dyn"])
        tasks.delete(name="dyn", namespace="default")

    def test_leases(self):
        leases = kubernetes.client.CoordinationV1Api(self.client)
        now = datetime.datetime.now(datetime.timezone.utc)
        spec = kubernetes.client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15, acquire_time=now, renew_time=now)
        made = leases.create_namespaced_lease("default", kubernetes.client.V1Lease(
            metadata=kubernetes.client.V1ObjectMeta(name="leader"), spec=spec))
        self.assertEqual(made.spec.renew_time, now)
        made.spec.holder_identity = "you"
        self.assertEqual(leases.replace_namespaced_lease("leader", "default", made).spec.holder_identity, "you")

    def test_who_i_am(self):
        review = kubernetes.client.AuthorizationV1Api(self.client).create_self_subject_access_review(
            {"spec": {"resourceAttributes": {"verb": "create", "group": "example.test", "resource": "tasks",
                                             "namespace": "default"}}})
        self.assertTrue(review.status.allowed)
        self.assertEqual(kubernetes.client.VersionApi(self.client).get_code().major, "1")


if __name__ == "__main__":
    unittest.main()
