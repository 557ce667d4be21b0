"""What people see of the Kubernetes face through kubectl: get in every form, watch, describe, explain, wait.

SPDX-License-Identifier: Apache-2.0
"""
import json
import time
import unittest

from kube_case import KubeCase, each_kubectl, task


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


class Reading(KubeCase):
    def make_tasks(self, *names, **more):
        self.kubectl.apply(*(task(name, **more) for name in names))

    def set_state(self, name, state):
        """Writes the status as a controller does: by the subresource, which old kubectls cannot reach."""
        path = f"/apis/example.test/v1/namespaces/{self.kubectl.namespace}/tasks/{name}/status"
        live = json.loads(self.kubectl.out("get", "--raw", path))
        live["status"] = {"state": state, "conditions": [
            {"type": "Complete", "status": "True", "reason": state, "message": "well done",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
        self.kubectl.run("replace", "--raw", path, "-f", "-", stdin=live)

    @each_kubectl
    def test_a_table_has_the_columns_of_the_definition(self):
        self.make_tasks("a", "b", size=3)
        self.set_state("a", "Running")
        lines = self.kubectl.out("get", "tasks").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "STATE", "AGE"])
        self.assertRegex(lines[1], r"^a +Running +\d+s$")
        self.assertRegex(lines[2], r"^b +\d+s$")
        wide = self.kubectl.out("get", "tasks", "-o", "wide").splitlines()
        self.assertEqual(wide[0].split(), ["NAME", "STATE", "SIZE", "AGE"])
        self.assertRegex(wide[1], r"^a +Running +3 +\d+s$")
        one = self.kubectl.out("get", "tk", "a", "--no-headers").split()
        self.assertEqual(one[:2], ["a", "Running"])
        self.assertIn("task.example.test/a", self.kubectl.out("get", "examples", "-o", "name"))
        everywhere = self.kubectl.out("get", "tasks", "-A", namespace=False)
        self.assertRegex(everywhere, rf"(?m)^{self.kubectl.namespace} +a +Running")

    @each_kubectl
    def test_every_output_form(self):
        self.make_tasks("a", size=3)
        self.make_tasks("b", size=5)
        self.assertEqual(self.kubectl.out("get", "tasks", "-o", "jsonpath={.items[*].spec.size}"), "3 5")
        columns = self.kubectl.out("get", "tasks", "-o", "custom-columns=N:.metadata.name,M:.spec.mode,S:.spec.size")
        self.assertEqual([line.split() for line in columns.splitlines()],
                         [["N", "M", "S"], ["a", "File", "3"], ["b", "File", "5"]])
        yaml = self.kubectl.out("get", "task.example.test", "a", "-o", "yaml")
        self.assertIn("kind: Task\n", yaml)
        self.assertIn("  size: 3\n", yaml)
        self.assertEqual(self.kubectl.out("get", "tasks", "-o", "name").split(),
                         ["task.example.test/a", "task.example.test/b"])
        self.assertEqual(self.kubectl.out("get", "tasks", "-o", "go-template={{range .items}}{{.metadata.name}},{{end}}"),
                         "a,b,")
        self.assertEqual(self.kubectl.json("get", "tasks")["items"][1]["spec"]["size"], 5)
        ordered = self.kubectl.out("get", "tasks", "--sort-by=.spec.size", "-o", "name").split()
        self.assertEqual(ordered, ["task.example.test/a", "task.example.test/b"])
        labelled = self.kubectl.out("get", "tasks", "--show-labels")
        self.assertIn("<none>", labelled)

    @each_kubectl
    def test_selectors(self):
        self.make_tasks("a", metadata={"labels": {"tier": "one"}})
        self.make_tasks("b", metadata={"labels": {"tier": "two"}})

        def names(*args):
            return [n.rsplit("/", 1)[1] for n in self.kubectl.out("get", "tasks", "-o", "name", *args).split()]
        self.assertEqual(names("-l", "tier=one"), ["a"])
        self.assertEqual(names("-l", "tier in (one, two)"), ["a", "b"])
        self.assertEqual(names("-l", "tier!=one"), ["b"])
        self.assertEqual(names("-l", "!tier"), [])
        self.assertEqual(names("--field-selector", "metadata.name=b"), ["b"])
        self.assertIn("field label not supported", self.kubectl.fails("get", "tasks", "--field-selector", "spec.size=1"))

    @each_kubectl
    def test_what_is_not_there_is_named(self):
        self.assertIn('tasks.example.test "nope" not found', self.kubectl.fails("get", "task.example.test", "nope"))
        self.assertIn("doesn't have a resource type", self.kubectl.fails("get", "nonsense"))
        if self.server.is_ours:
            self.assertIn("doesn't have a resource type", self.kubectl.fails("get", "pods"))
        self.assertIn("No resources found", self.kubectl.run("get", "tasks").stderr)

    @each_kubectl
    def test_a_watch_shows_what_happens(self):
        self.make_tasks("a")
        watch = self.kubectl.start("get", "tasks", "-w", "--output-watch-events")
        self.addCleanup(end, watch)
        lines = []

        def next_line():
            lines.append(watch.stdout.readline())
            return lines[-1]
        self.assertIn("EVENT", next_line())
        self.assertRegex(next_line(), r"ADDED +a ")
        self.make_tasks("b")
        self.assertRegex(next_line(), r"ADDED +b ")
        self.set_state("b", "Done")
        self.assertRegex(next_line(), r"MODIFIED +b +Done")
        self.kubectl.run("delete", "task.example.test", "a")
        self.assertRegex(next_line(), r"DELETED +a ")

    @each_kubectl
    def test_a_watch_of_one_object(self):
        self.make_tasks("a", "b")
        watch = self.kubectl.start("get", "task.example.test", "a", "-w", "-o", "jsonpath={.metadata.name} {.spec.size}\n")
        self.addCleanup(end, watch)
        self.assertEqual(watch.stdout.readline(), "a 1\n")
        self.make_tasks("b", size=7)
        self.make_tasks("a", size=8)
        self.assertEqual(watch.stdout.readline(), "a 8\n")

    @each_kubectl
    def test_describe_shows_events(self):
        self.make_tasks("a")
        live = self.kubectl.json("get", "task.example.test", "a")
        self.kubectl.run("create", "-f", "-", stdin={
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a.1"}, "type": "Normal", "reason": "Started",
            "message": "the first machine started", "count": 1, "source": {"component": "test"},
            "firstTimestamp": live["metadata"]["creationTimestamp"],
            "lastTimestamp": live["metadata"]["creationTimestamp"],
            "involvedObject": {"apiVersion": "example.test/v1", "kind": "Task", "name": "a",
                               "namespace": self.kubectl.namespace, "uid": live["metadata"]["uid"]}})
        text = self.kubectl.out("describe", "task.example.test", "a")
        self.assertRegex(text, r"Size: +1")
        self.assertRegex(text, r"Normal +Started +\S+ +test +the first machine started")
        self.assertRegex(self.kubectl.out("get", "events"), r"Normal +Started +task/a +the first machine started")
        other = json.loads(self.kubectl.out(
            "get", "--raw", f"/apis/events.k8s.io/v1/namespaces/{self.kubectl.namespace}/events"))["items"][0]
        self.assertEqual((other["note"], other["regarding"]["name"]), ("the first machine started", "a"))
        if not self.kubectl.old:
            self.assertIn("Started", self.kubectl.out("events", "--for", "task.example.test/a"))

    @each_kubectl
    def test_describe_of_built_in_kinds(self):
        self.kubectl.run("create", "configmap", "c", "--from-literal=k=v")
        self.kubectl.run("create", "secret", "generic", "s", "--from-literal=password=hunter2")
        self.assertRegex(self.kubectl.out("describe", "configmap", "c"), r"k:\n----\nv")
        secret = self.kubectl.out("describe", "secret", "s")
        self.assertRegex(secret, r"password: +7 bytes")
        self.assertNotIn("hunter2", secret)
        self.assertRegex(self.kubectl.out("describe", "namespace", self.kubectl.namespace, namespace=False),
                         r"Status: +Active")
        self.assertIn("tasks.example.test", self.kubectl.out("describe", "crd", "tasks.example.test", namespace=False))

    @each_kubectl
    def test_explain(self):
        text = self.kubectl.out("explain", "tasks.spec", "--api-version=example.test/v1")
        self.assertIn("How many machines.", text)
        self.assertRegex(text, r"size\s+<integer> -required-")
        self.assertIn("<[]string>", text)
        self.assertIn("labels", self.kubectl.out("explain", "tasks.metadata", "--api-version=example.test/v1"))
        self.assertIn("stringData", self.kubectl.out("explain", "secret"))
        deep = self.kubectl.out("explain", "tasks", "--recursive", "--api-version=example.test/v1")
        self.assertRegex(deep, r"\n +a\s+<string>")
        self.assertIn('field "nope" does not exist',
                      self.kubectl.fails("explain", "tasks.spec.nope", "--api-version=example.test/v1"))

    @each_kubectl
    def test_api_resources_and_versions(self):
        rows = [line.split() for line in self.kubectl.out("api-resources", namespace=False).splitlines()]
        self.assertIn(["tasks", "tk", "example.test/v1", "true", "Task"], rows)
        self.assertIn(["namespaces", "ns", "v1", "false", "Namespace"], rows)
        self.assertIn(["customresourcedefinitions", "crd,crds", "apiextensions.k8s.io/v1", "false",
                       "CustomResourceDefinition"], rows)
        versions = self.kubectl.out("api-versions", namespace=False).split()
        self.assertTrue({"v1", "example.test/v1", "apiextensions.k8s.io/v1", "coordination.k8s.io/v1",
                         "events.k8s.io/v1"} <= set(versions), versions)
        self.assertRegex(self.kubectl.out("version", namespace=False), r"v1\.\d+")

    @each_kubectl
    def test_raw_paths(self):
        def raw(path):
            return self.kubectl.out("get", "--raw", path, namespace=False)
        self.assertEqual(raw("/healthz"), "ok")
        self.assertEqual(raw("/readyz"), "ok")
        self.assertIn("/apis/example.test/v1", json.loads(raw("/"))["paths"])
        self.assertEqual(json.loads(raw("/version"))["major"], "1")
        self.assertEqual(json.loads(raw("/api/v1"))["kind"], "APIResourceList")
        self.assertIn("apis/example.test/v1", json.loads(raw("/openapi/v3"))["paths"])
        schemas = json.loads(raw("/openapi/v3/apis/example.test/v1"))["components"]["schemas"]
        self.assertIn("test.example.v1.Task", schemas)
        self.assertIn("definitions", json.loads(raw("/openapi/v2")))

    @each_kubectl
    def test_wait_for_a_condition_and_for_the_end(self):
        self.make_tasks("a")
        waiting = self.kubectl.start("wait", "--for=condition=Complete", "task.example.test/a", "--timeout=60s")
        time.sleep(1)
        self.assertIsNone(waiting.poll())
        self.set_state("a", "Done")
        self.assertEqual(waiting.wait(timeout=60), 0, waiting.stdout.read())
        waiting.stdout.close()
        ending = self.kubectl.start("wait", "--for=delete", "task.example.test/a", "--timeout=60s")
        time.sleep(0.5)
        self.kubectl.run("delete", "task.example.test", "a", "--wait=false")
        self.assertEqual(ending.wait(timeout=60), 0)
        ending.stdout.close()
        if not self.kubectl.old:
            self.make_tasks("b")
            self.set_state("b", "Running")
            self.kubectl.run("wait", "--for=jsonpath={.status.state}=Running", "task.example.test/b", "--timeout=60s")

    @each_kubectl
    def test_may_i(self):
        self.assertEqual(self.kubectl.out("auth", "can-i", "create", "tasks.example.test").strip(), "yes")
        self.assertEqual(self.kubectl.out("auth", "can-i", "*", "*", "--all-namespaces", namespace=False).strip(), "yes")
        self.assertIn("*.*", self.kubectl.out("auth", "can-i", "--list"))
        if not self.kubectl.old:
            self.assertIn("admin", self.kubectl.out("auth", "whoami", namespace=False))

    @each_kubectl
    def test_large_lists_come_in_pages(self):
        self.kubectl.apply(*(task(f"j{i:03}") for i in range(120)))
        names = self.kubectl.out("get", "tasks", "-o", "name", "--chunk-size=50").split()
        self.assertEqual(len(names), 120)
        self.assertEqual(names, sorted(names))
        self.assertEqual(len(self.kubectl.out("get", "tasks", "--chunk-size=7", "--no-headers").splitlines()), 120)


if __name__ == "__main__":
    unittest.main()
