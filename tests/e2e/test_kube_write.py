"""What people change through kubectl: create, apply, patch, edit, label, diff, delete and all that goes with it.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import tempfile
import unittest

import harness
from kube_case import KubeCase, as_list, each_kubectl, task

ROOMS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rooms.%(group)s}
spec:
  group: %(group)s
  scope: Cluster
  names: {plural: rooms, kind: Room}
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
"""


class Writing(KubeCase):
    def spec(self, name):
        return self.kubectl.json("get", "task.example.test", name)["spec"]

    def meta(self, name):
        return self.kubectl.json("get", "task.example.test", name)["metadata"]

    @each_kubectl
    def test_create_and_what_is_refused(self):
        self.assertIn("created", self.kubectl.out("create", "-f", "-", stdin=task("a")))
        self.assertIn('tasks.example.test "a" already exists', self.kubectl.fails("create", "-f", "-", stdin=task("a")))
        wrong = self.kubectl.fails("create", "--validate=false", "-f", "-", stdin=task("b", size=0, mode="Tape"))
        self.assertIn('The Task "b" is invalid', wrong)
        self.assertIn("spec.size", wrong)
        self.assertRegex(wrong, r'spec\.mode: Unsupported value: "Tape".*"File", "Pipe"')
        self.assertIn("unknown field", self.kubectl.fails("create", "-f", "-", stdin=task("c", sise=1)))
        generated = task("x")
        generated["metadata"] = {"generateName": "run-"}
        self.assertRegex(self.kubectl.out("create", "-f", "-", "-o", "name", stdin=generated),
                         r"^task\.example\.test/run-[a-z0-9]{5}$")
        self.assertIn("not found", self.kubectl.fails("create", "-f", "-", "-n", "no-such-namespace", stdin=task("a")))

    @each_kubectl
    def test_client_side_apply(self):
        self.assertIn("created", self.kubectl.apply(task("a", size=1, values=["x", "y"], more={"a": "1", "b": "2"})).stdout)
        self.assertIn("unchanged", self.kubectl.apply(task("a", size=1, values=["x", "y"], more={"a": "1", "b": "2"})).stdout)
        before = self.meta("a")
        # A field removed, a list in another order.
        self.assertIn("configured", self.kubectl.apply(task("a", size=1, values=["y", "x"], more={"a": "1"})).stdout)
        self.assertEqual(self.spec("a"), {"size": 1, "values": ["y", "x"], "more": {"a": "1"}, "mode": "File"})
        self.assertEqual(self.meta("a")["generation"], before["generation"] + 1)
        # What others set stays; a number as text is refused with its place.
        self.kubectl.run("patch", "task.example.test", "a", "--type=merge", "-p", '{"spec":{"mode":"Pipe"}}')
        self.kubectl.apply(task("a", size=2, values=["y"], more={"a": "1"}))
        self.assertEqual(self.spec("a")["mode"], "Pipe")
        self.assertRegex(self.kubectl.fails("apply", "--validate=false", "-f", "-", stdin=task("a", size="2")), r"spec\.size")
        self.assertIn("last-applied-configuration", self.kubectl.out("get", "task.example.test", "a", "-o", "yaml"))
        self.assertIn('"size": 2', self.kubectl.out("apply", "view-last-applied", "task.example.test", "a", "-o", "json"))

    @each_kubectl
    def test_server_side_apply_and_conflicts(self):
        apply = ("apply", "--server-side", "-f", "-")
        self.assertIn("serverside-applied", self.kubectl.out(*apply, stdin=task("a", size=1)))
        version = self.meta("a")["resourceVersion"]
        self.kubectl.run(*apply, stdin=task("a", size=1))
        self.assertEqual(self.meta("a")["resourceVersion"], version)
        conflict = self.kubectl.fails(*apply, "--field-manager=other", stdin=task("a", size=2))
        self.assertIn("conflict", conflict)
        self.assertIn(".spec.size", conflict)
        self.kubectl.run(*apply, "--field-manager=other", "--force-conflicts", stdin=task("a", size=2))
        self.assertEqual(self.spec("a")["size"], 2)
        # A manager that leaves a field out gives it up.
        self.kubectl.run(*apply, "--field-manager=third", stdin=task("a", size=2, more={"a": "1"}))
        self.kubectl.run(*apply, "--field-manager=third", stdin=task("a", size=2))
        self.assertNotIn("more", self.spec("a"))
        managers = self.managers("a")
        self.assertIn(("other", "Apply"), managers)

    def managers(self, name):
        show = [] if self.kubectl.old else ["--show-managed-fields"]
        live = self.kubectl.json("get", "task.example.test", name, *show)
        return {(f["manager"], f["operation"]) for f in live["metadata"]["managedFields"]}

    @each_kubectl
    def test_from_client_side_to_server_side_apply(self):
        self.kubectl.apply(task("a", size=1))
        self.kubectl.run("apply", "--server-side", "-f", "-", stdin=task("a", size=1, more={"a": "1"}))
        self.kubectl.run("apply", "--server-side", "-f", "-", stdin=task("a", size=1))
        self.assertEqual(self.spec("a"), {"size": 1, "mode": "File"})
        self.assertIn(("kubectl", "Apply"), self.managers("a"))

    @each_kubectl
    def test_dry_runs(self):
        self.kubectl.apply(task("a", size=1), args=["--dry-run=server"])
        self.assertIn("not found", self.kubectl.fails("get", "task.example.test", "a"))
        self.kubectl.apply(task("a", size=1))
        self.kubectl.apply(task("a", size=2), args=["--dry-run=server"])
        self.kubectl.run("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", stdin=task("a", size=2))
        self.kubectl.run("delete", "task.example.test", "a", "--dry-run=server")
        self.assertEqual(self.spec("a")["size"], 1)
        self.assertRegex(self.kubectl.fails("apply", "--dry-run=server", "-f", "-", stdin=task("b", size=0)), r"spec\.size")

    @each_kubectl
    def test_diff(self):
        self.kubectl.apply(task("a", size=1))
        same = self.kubectl.run("diff", "-f", "-", stdin=task("a", size=1), check=False)
        self.assertEqual((same.returncode, same.stdout), (0, ""))
        differs = self.kubectl.run("diff", "-f", "-", stdin=task("a", size=4), check=False)
        self.assertEqual(differs.returncode, 1, differs.stderr)
        self.assertRegex(differs.stdout, r"(?m)^-  size: 1\n\+  size: 4")
        by_server = self.kubectl.run("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=task("a", size=4),
                                     check=False)
        self.assertEqual(by_server.returncode, 1, by_server.stderr)
        self.assertIn("+  size: 4", by_server.stdout)
        self.assertEqual(self.kubectl.run("diff", "-f", "-", stdin=task("new"), check=False).returncode, 1)

    @each_kubectl
    def test_three_kinds_of_patch(self):
        self.kubectl.apply(task("a", size=1, values=["x"]))
        patch = ("patch", "task.example.test", "a")
        self.kubectl.run(*patch, "--type=merge", "-p", '{"spec":{"size":2,"mode":null}}')
        self.assertEqual(self.spec("a"), {"size": 2, "mode": "File", "values": ["x"]})
        self.kubectl.run(*patch, "--type=json", "-p",
                         '[{"op":"test","path":"/spec/size","value":2},{"op":"add","path":"/spec/values/-","value":"y"}]')
        self.assertEqual(self.spec("a")["values"], ["x", "y"])
        refused = self.kubectl.fails(*patch, "--type=strategic", "-p", '{"spec":{"size":3}}')
        self.assertIn("application/merge-patch+json", refused + self.last_request_error(refused))
        failed = self.kubectl.fails(*patch, "--type=json", "-p", '[{"op":"test","path":"/spec/size","value":9}]')
        self.assertIn("The request is invalid", failed)
        if self.server.is_ours:  # a kube-apiserver does not say which
            self.assertIn("The request is invalid: patch: operation 0: test failed at /spec/size", failed)
        self.assertIn("no change", self.kubectl.out(*patch, "--type=merge", "-p", '{"spec":{"size":2}}'))
        self.assertEqual(self.spec("a")["size"], 2)

    @staticmethod
    def last_request_error(text):
        # Old kubectls know by themselves that custom resources have no strategic patch.
        return "application/merge-patch+json" if "strategic merge patch is not supported" in text else ""

    @each_kubectl
    def test_edit(self):
        self.kubectl.apply(task("a", size=1))
        self.kubectl.run("edit", "task.example.test", "a", env={"KUBE_EDITOR": "sed -i s/size:.1/size:\\ 6/"})
        self.assertEqual(self.spec("a")["size"], 6)
        unchanged = self.kubectl.run("edit", "task.example.test", "a", env={"KUBE_EDITOR": "true"})
        self.assertIn("cancelled, no changes made", unchanged.stdout + unchanged.stderr)

    @each_kubectl
    def test_label_annotate_replace(self):
        self.kubectl.apply(task("a", size=1))
        generation = self.meta("a")["generation"]
        self.kubectl.run("label", "task.example.test", "a", "tier=one", "owner=me")
        self.kubectl.run("annotate", "task.example.test", "a", "note=some text")
        self.assertEqual(self.meta("a")["labels"], {"tier": "one", "owner": "me"})
        self.assertEqual(self.meta("a")["annotations"]["note"], "some text")
        self.assertEqual(self.meta("a")["generation"], generation)
        self.assertIn("already has a value", self.kubectl.fails("label", "task.example.test", "a", "tier=two"))
        self.kubectl.run("label", "--overwrite", "task.example.test", "a", "tier=two", "owner-")
        self.assertEqual(self.meta("a")["labels"], {"tier": "two"})
        self.assertIn("label", self.kubectl.fails("label", "task.example.test", "a", "tier=not/allowed", "--overwrite"))
        live = self.kubectl.json("get", "task.example.test", "a")
        live["spec"]["size"] = 9
        self.kubectl.run("replace", "-f", "-", stdin=live)
        self.assertEqual(self.spec("a")["size"], 9)
        self.assertIn("the object has been modified", self.kubectl.fails("replace", "-f", "-", stdin=live))
        self.kubectl.run("replace", "--force", "-f", "-", stdin=task("a", size=11))
        self.assertEqual(self.spec("a")["size"], 11)

    @each_kubectl
    def test_prune(self):
        prune = ["--prune", "-l", "app=x"]
        allow = "--prune-whitelist" if self.kubectl.old else "--prune-allowlist"
        prune += [f"{allow}=example.test/v1/Task", f"{allow}=core/v1/ConfigMap"]
        labels = {"metadata": {"labels": {"app": "x"}}}
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"app": "x"}}}
        self.kubectl.apply(task("a", **labels), task("b", **labels), config, args=prune)
        self.kubectl.apply(task("other"))
        done = self.kubectl.apply(task("a", **labels), args=prune).stdout
        self.assertIn("task.example.test/b pruned", done)
        self.assertIn("configmap/c pruned", done)
        self.assertEqual(self.kubectl.out("get", "tasks", "-o", "name").split(),
                         ["task.example.test/a", "task.example.test/other"])

    def child_of(self, name, owner, block=False):
        return task(name, metadata={"ownerReferences": [{
            "apiVersion": "example.test/v1", "kind": "Task", "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block, "controller": True}]})

    def names(self):
        return [n.rsplit("/", 1)[1] for n in self.kubectl.out("get", "tasks", "-o", "name").split()]

    @each_kubectl
    def test_delete_in_the_background_takes_dependents_along(self):
        self.kubectl.apply(task("owner"))
        owner = self.kubectl.json("get", "task.example.test", "owner")
        self.kubectl.apply(self.child_of("child", owner), task("stranger"))
        child = self.kubectl.json("get", "task.example.test", "child")
        self.kubectl.apply(self.child_of("grandchild", child))
        self.kubectl.run("delete", "task.example.test", "owner")
        harness.wait_for(lambda: self.names() == ["stranger"], 20, "the end of the dependents")

    @each_kubectl
    def test_delete_in_the_foreground_waits_for_dependents(self):
        self.kubectl.apply(task("owner"))
        owner = self.kubectl.json("get", "task.example.test", "owner")
        child = self.child_of("child", owner, block=True)
        child["metadata"]["finalizers"] = ["example.test/hold"]
        self.kubectl.apply(child)
        foreground = "--cascade=foreground"
        self.kubectl.run("delete", "task.example.test", "owner", foreground, "--wait=false")
        harness.wait_for(lambda: "deletionTimestamp" in self.meta("child"), 20, "the child's deletion")
        self.assertIn("deletionTimestamp", self.meta("owner"))
        self.assertEqual(self.meta("owner")["finalizers"], ["foregroundDeletion"])
        self.kubectl.run("patch", "task.example.test", "child", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        harness.wait_for(lambda: self.names() == [], 20, "the end of both")

    @each_kubectl
    def test_delete_may_orphan(self):
        self.kubectl.apply(task("owner"))
        owner = self.kubectl.json("get", "task.example.test", "owner")
        self.kubectl.apply(self.child_of("child", owner))
        self.kubectl.run("delete", "task.example.test", "owner", "--cascade=orphan")
        harness.wait_for(lambda: self.names() == ["child"], 20, "the owner's end")
        harness.wait_for(lambda: "ownerReferences" not in self.meta("child"), 20, "the child's freedom")

    @each_kubectl
    def test_delete_waits_for_finalizers(self):
        self.kubectl.apply(task("a", metadata={"finalizers": ["example.test/hold"]}))
        late = self.kubectl.run("delete", "task.example.test", "a", "--timeout=1s", check=False)
        self.assertNotEqual(late.returncode, 0)
        self.assertIn("timed out", late.stderr)
        waiting = self.kubectl.start("delete", "task.example.test", "a", "--timeout=60s")
        self.assertIn("deleted", waiting.stdout.readline())  # asked for; now it waits
        self.assertIsNone(waiting.poll())
        self.kubectl.run("patch", "task.example.test", "a", "--type=json", "-p",
                         '[{"op":"remove","path":"/metadata/finalizers"}]')
        self.assertEqual(waiting.wait(timeout=60), 0)
        waiting.stdout.close()
        self.assertEqual(self.names(), [])

    @each_kubectl
    def test_delete_by_label_and_all(self):
        self.kubectl.apply(task("a", metadata={"labels": {"x": "1"}}), task("b"), task("c"))
        self.kubectl.run("delete", "tasks", "-l", "x=1")
        self.assertEqual(self.names(), ["b", "c"])
        self.kubectl.run("delete", "tasks", "--all")
        self.assertEqual(self.names(), [])
        self.kubectl.run("delete", "task.example.test", "a", "--ignore-not-found")
        self.assertIn("not found", self.kubectl.fails("delete", "task.example.test", "a"))

    @each_kubectl
    def test_config_maps(self):
        self.kubectl.run("create", "configmap", "c", "--from-literal=a=1")
        self.assertEqual(self.kubectl.json("get", "cm", "c")["data"], {"a": "1"})
        self.kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"a": "1", "b": "2"}})
        self.kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"b": "3"}})
        self.assertEqual(self.kubectl.json("get", "cm", "d")["data"], {"b": "3"})
        self.kubectl.run("patch", "cm", "d", "-p", '{"data":{"c":"4"},"metadata":{"labels":{"x":"y"}}}')
        self.assertEqual(self.kubectl.json("get", "cm", "d")["data"], {"b": "3", "c": "4"})
        self.assertRegex(self.kubectl.out("get", "cm", "d"), r"d +2 +\d+s")
        self.assertIn("a valid config key", self.kubectl.fails(
            "create", "--validate=false", "-f", "-",
            stdin={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "e"}, "data": {"not a key": "1"}}))
        self.kubectl.run("apply", "--server-side", "-f", "-",
                         stdin={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "f"}, "data": {"a": "1"}})
        self.kubectl.run("delete", "cm", "c", "d", "f")

    @each_kubectl
    def test_secrets(self):
        self.kubectl.run("create", "secret", "generic", "s", "--from-literal=password=hunter2")
        self.assertEqual(self.kubectl.json("get", "secret", "s")["data"], {"password": "aHVudGVyMg=="})
        self.assertRegex(self.kubectl.out("get", "secret", "s"), r"s +Opaque +1 +\d+s")
        self.kubectl.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"k": "text"}})
        live = self.kubectl.json("get", "secret", "t")
        self.assertEqual(live["data"], {"k": "dGV4dA=="})
        self.assertNotIn("stringData", live)
        self.assertIn("base64", self.kubectl.fails("create", "--validate=false", "-f", "-", stdin={
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "u"}, "data": {"k": "%%%"}}))
        fixed = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "v"}, "immutable": True, "data": {"k": "dGV4dA=="}}
        self.kubectl.apply(fixed)
        self.assertIn("immutable", self.kubectl.fails("patch", "secret", "v", "-p", '{"data":{"k":"YQ=="}}'))
        self.kubectl.run("create", "serviceaccount", "robot")
        self.assertEqual([a["metadata"]["name"] for a in self.kubectl.json("get", "sa")["items"]], ["default", "robot"])

    @each_kubectl
    def test_a_namespace_takes_its_content_along(self):
        name = self.kubectl.namespace + "-x"
        self.kubectl.run("create", "namespace", name, namespace=False)
        self.kubectl.run("apply", "-n", name, "-f", "-", stdin=as_list(
            [task("a"), task("held", metadata={"finalizers": ["example.test/hold"]})]), namespace=False)
        self.kubectl.run("delete", "namespace", name, "--wait=false", namespace=False)
        self.assertEqual(self.kubectl.out("get", "namespace", name, "-o", "jsonpath={.status.phase}", namespace=False),
                         "Terminating")
        self.assertIn("is being terminated", self.kubectl.fails("create", "-n", name, "-f", "-", stdin=task("b"),
                                                                namespace=False))

        def remaining():
            return self.kubectl.out("get", "namespace", name, "-o", "jsonpath={.status.conditions[*].message}",
                                    namespace=False)
        harness.wait_for(lambda: "example.test/hold" in remaining(), 20, "the namespace to say what remains")
        self.kubectl.run("patch", "task.example.test", "held", "-n", name, "--type=merge", "-p",
                         '{"metadata":{"finalizers":null}}', namespace=False)
        harness.wait_for(lambda: self.kubectl.run("get", "namespace", name, check=False, namespace=False).returncode,
                         30, "the namespace's end")
        self.assertIn("may not be deleted", self.kubectl.fails("delete", "namespace", "default", namespace=False))

    @each_kubectl
    def test_a_definition_of_ones_own(self):
        group = self.kubectl.namespace + ".test"
        self.kubectl.run("apply", "-f", "-", stdin=ROOMS % {"group": group}, namespace=False)
        self.kubectl.run("wait", "--for=condition=Established", f"crd/rooms.{group}", namespace=False)
        room = {"apiVersion": f"{group}/v1beta1", "kind": "Room", "metadata": {"name": "r"}, "spec": {"size": 1}}
        self.kubectl.apply(room, namespace=False)
        live = json.loads(self.kubectl.out("get", "--raw", f"/apis/{group}/v1/rooms/r", namespace=False))
        self.assertEqual((live["apiVersion"], live["spec"]), (f"{group}/v1", {"size": 1}))
        self.assertRegex(self.kubectl.out("get", f"rooms.{group}", namespace=False), r"r +\d+s")
        # The definition changes: what it allows changes with it.
        self.kubectl.run("patch", "crd", f"rooms.{group}", "--type=json", "-p",
                         '[{"op":"add","path":"/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/m",'
                         '"value":{"type":"string"}}]', namespace=False)
        live["spec"]["m"] = "text"
        self.kubectl.run("replace", "--raw", f"/apis/{group}/v1/rooms/r", "-f", "-", stdin=live, namespace=False)
        self.assertIn("text", self.kubectl.out("get", "--raw", f"/apis/{group}/v1/rooms/r", namespace=False))
        self.kubectl.run("delete", "crd", f"rooms.{group}", "--timeout=30s", namespace=False)
        self.assertIn("could not find the requested resource", self.kubectl.fails(
            "get", "--raw", f"/apis/{group}/v1/rooms/r", namespace=False))
        self.kubectl.run("apply", "-f", "-", stdin=ROOMS % {"group": group}, namespace=False)
        self.assertEqual(self.kubectl.out("get", "--raw", f"/apis/{group}/v1/rooms", namespace=False).count('"size":'), 0,
                         "its objects went with the first definition")
        self.kubectl.run("delete", "crd", f"rooms.{group}", "--timeout=30s", namespace=False)

    @each_kubectl
    def test_unsound_definitions_are_refused(self):
        text = ROOMS % {"group": "x.test"}
        self.assertIn("metadata.name", self.kubectl.fails("create", "-f", "-", stdin=text.replace("rooms.x", "halls.x", 1),
                                                          namespace=False))
        self.assertIn("openAPIV3Schema", self.kubectl.fails(
            "create", "-f", "-", stdin=text.replace("properties: {size: {type: integer}}", "properties: {size: {nullable: true}}"),
            namespace=False))

    @each_kubectl
    def test_kustomize(self):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "task.json").write_text(json.dumps(task("a")))
            (folder / "kustomization.yaml").write_text(
                "resources: [task.json]\nnamePrefix: pre-\ncommonLabels: {app: k}\nconfigMapGenerator:\n"
                "- name: c\n  literals: [k=v]\n")
            self.kubectl.run("apply", "-k", place)
            self.assertEqual(self.names(), ["pre-a"])
            self.assertEqual(len(self.kubectl.json("get", "cm", "-l", "app=k")["items"]), 1)
            self.kubectl.run("delete", "-k", place)
            self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main()
