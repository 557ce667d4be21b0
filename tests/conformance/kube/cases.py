"""The commands that the comparison runs on both servers, in order, in one namespace.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import json
from dataclasses import dataclass, field

import kube_case
from kube_case import TASKS, task

NAMESPACE = "traffic"


@dataclass
class Case:
    title: str
    command: list
    stdin: str = ""
    env: dict = field(default_factory=dict)
    settle: float = 0  # seconds the server's own controllers get before the next command


def case(title, command, stdin="", **more):
    if not isinstance(stdin, str):
        stdin = json.dumps(stdin)
    return Case(title, command.split() if isinstance(command, str) else command, stdin, **more)


def config(name, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def secret(name, **more):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, **more}


def training_job(name, **spec):
    return {"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "TrainingJob", "metadata": {"name": name}, "spec": {
        "region": "us-west-2", "roleArn": "arn:aws:iam::000000000000:role/x",
        "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "File"},
        "outputDataConfig": {"s3OutputPath": "s3://b/p"},
        "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 5},
        "stoppingCondition": {"maxRuntimeInSeconds": 3600}, **spec}}


DEFINITION_NUMBERS = itertools.count(1)


def definition(**more):
    name = f"hall{next(DEFINITION_NUMBERS)}s"  # each its own, should one of them be taken
    made = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{name}.traffic.test"},
            "spec": {"group": "traffic.test", "scope": "Namespaced", "names": {"plural": name, "kind": name.capitalize()},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "properties": {"spec": {"type": "object", "properties": {
                             "size": {"type": "integer"}}}}}}}]}}
    made["spec"].update(more)
    return made


def schema(properties):
    made = definition()
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = properties
    return made


def owned(name, owner_uid="00000000-0000-0000-0000-000000000000"):
    return task(name, metadata={"ownerReferences": [
        {"apiVersion": "example.test/v1", "kind": "Task", "name": "gone", "uid": owner_uid}]})


AT = f"/apis/example.test/v1/namespaces/{NAMESPACE}/tasks"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
PATCH = "patch tasks.example.test a"

BUILT_IN = [
    case("make a namespace", f"create namespace {NAMESPACE}", settle=1),
    case("make it again", f"create namespace {NAMESPACE}"),
    case("get a namespace", f"get namespace {NAMESPACE}"),
    case("get a namespace as yaml", f"get namespace {NAMESPACE} -o yaml"),
    case("describe a namespace", f"describe namespace {NAMESPACE}"),
    case("label a namespace", f"label namespace {NAMESPACE} a=b"),
    case("delete the default namespace", "delete namespace default"),
    case("a namespace's bad name", "create namespace Bad_Name"),
    case("make a configmap", "create configmap c --from-literal=a=1"),
    case("make a configmap again", "create configmap c --from-literal=a=1"),
    case("get a configmap", "get cm c"),
    case("get a configmap as yaml", "get cm c -o yaml --show-managed-fields"),
    case("describe a configmap", "describe cm c"),
    case("apply a configmap that was created", "apply -f -", config("c", data={"a": "2"})),
    case("apply a configmap", "apply -f -", config("d", data={"a": "1", "b": "2"})),
    case("apply a configmap with a key less", "apply -f -", config("d", data={"b": "3"})),
    case("apply a configmap by the server", "apply --server-side -f -", config("f", data={"a": "1"})),
    case("apply a configmap by another manager", "apply --server-side --field-manager=other -f -", config("f", data={"a": "2"})),
    case("a strategic patch", ["patch", "cm", "d", "-p", '{"data":{"c":"4"},"metadata":{"labels":{"x":"y"}}}']),
    case("a configmap's wrong key", "create --validate=false -f -", config("e", data={"not a key": "1"})),
    case("a configmap's wrong type", "create --validate=false -f -", config("e", data={"k": 1})),
    case("a configmap's unknown field", "create -f -", config("e", dato={"k": "1"})),
    case("a configmap's unknown field, warned of", "create --validate=warn -f -", config("g", dato={"k": "1"})),
    case("an immutable configmap", "apply -f -", config("i", data={"a": "1"}, immutable=True)),
    case("an immutable configmap changes", ["patch", "cm", "i", "-p", '{"data":{"a":"2"}}']),
    case("an immutable configmap becomes mutable", ["patch", "cm", "i", "-p", '{"immutable":false}']),
    case("make a secret", "create secret generic s --from-literal=password=hunter2"),
    case("get a secret", "get secret s"),
    case("get a secret as yaml", "get secret s -o yaml --show-managed-fields"),
    case("describe a secret", "describe secret s"),
    case("a secret in plain text", "apply -f -", secret("t", stringData={"k": "text"})),
    case("a secret that is not base64", "create --validate=false -f -", secret("u", data={"k": "%%%"})),
    case("a secret of type tls", "create --validate=false -f -", secret("v", type="kubernetes.io/tls")),
    case("a secret's type changes", ["patch", "secret", "s", "-p", '{"type":"other"}']),
    case("make an account", "create serviceaccount robot"),
    case("get an account", "get sa robot"),
    case("describe an account", "describe sa robot"),
    case("make a lease", "create -f -", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
                                         "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}),
    case("get a lease", "get lease l"),
    case("a lease of no length", "create -f -", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                                 "metadata": {"name": "m"}, "spec": {"leaseDurationSeconds": 0}}),
    case("delete several", "delete cm c d f"),
    case("delete what is not there", "delete cm c"),
    case("delete what need not be there", "delete cm c --ignore-not-found"),
]

DEFINITIONS = [
    case("apply a definition", "apply -f -", TASKS),
    case("wait for it", "wait --for=condition=Established crd/tasks.example.test --timeout=30s", settle=2),
    case("get a definition", "get crd tasks.example.test"),
    case("get a definition as yaml", "get crd tasks.example.test -o yaml --show-managed-fields"),
    case("describe a definition", "describe crd tasks.example.test"),
    case("a definition's wrong name", "create -f -", {**definition(), "metadata": {"name": "rooms.traffic.test"}}),
    case("a definition of two stored versions", "create -f -", definition(versions=[
        {**definition()["spec"]["versions"][0], "name": name} for name in ("v1", "v2")])),
    case("a definition without schema", "create -f -", definition(versions=[{"name": "v1", "served": True, "storage": True}])),
    case("a definition without versions", "create --validate=false -f -", definition(versions=[])),
    case("a definition of an unknown scope", "create -f -", definition(scope="Galaxy")),
    case("a property without type", "create -f -", schema({"type": "object", "properties": {"a": {"nullable": True}}})),
    case("an array without items", "create -f -", schema({"type": "array"})),
    case("properties and additionalProperties", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}})),
    case("a default of the wrong type", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "string", "default": 1}}})),
    case("a rule that does not compile", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "string"}},
         "x-kubernetes-validations": [{"rule": "self.b == 1", "message": "m"}]})),
    case("a rule that is no bool", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.a"}]})),
    case("a rule that costs too much", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}},
         "x-kubernetes-validations": [{"rule": "self.a.all(x, self.a.all(y, self.a.all(z, x == y || y == z)))"}]})),
    case("a pattern that does not compile", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}})),
    case("a list type of maps without keys", "create -f -", schema(
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}},
                                                "x-kubernetes-list-type": "map"}}})),
    case("a definition that changes its scope", ["patch", "crd", "tasks.example.test", "--type=merge", "-p",
                                                 '{"spec":{"scope":"Cluster"}}']),
]

READING = [
    case("apply four", "apply -f -", kube_case.as_list([task("a", 3, values=["x"]), task("b", 1), task("c", 2, mode="Pipe"),
                                                       task("d", metadata={"labels": {"tier": "one"}})])),
    case("status by the subresource", ["patch", "tasks.example.test", "a", "--subresource=status", "--type=merge", "-p", json.dumps(
        {"status": {"state": "Running", "conditions": [{"type": "Complete", "status": "True", "reason": "R", "message": "m",
                                                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})]),
    case("get a table", "get tasks"),
    case("get a wide table", "get tasks -o wide"),
    case("get by short name", "get tk a"),
    case("get by category", "get examples"),
    case("get names", "get tasks -o name"),
    case("get yaml", "get tasks a -o yaml"),
    case("get json with managers", "get tasks a -o json --show-managed-fields"),
    case("get a list as json", "get tasks -o json"),
    case("get by jsonpath", ["get", "tasks", "-o", "jsonpath={.items[*].spec.size}"]),
    case("get columns", "get tasks -o custom-columns=N:.metadata.name,M:.spec.mode"),
    case("get by label", "get tasks -l tier=one --show-labels"),
    case("get by a set of labels", ["get", "tasks", "-l", "tier in (one,two)"]),
    case("get by a wrong label", ["get", "tasks", "-l", "tier in one"]),
    case("get by field", "get tasks --field-selector metadata.name=b"),
    case("get by an unknown field", "get tasks --field-selector spec.size=1"),
    case("get in pages", "get tasks --chunk-size=2 -o name"),
    case("get sorted", ["get", "tasks", "--sort-by=.spec.size", "-o", "name"]),
    case("get everywhere", "get tasks -A"),
    case("get nothing", "get tasks -l nobody=has"),
    case("get what is not there", "get tasks nope"),
    case("get a kind that is not there", "get nonsense"),
    case("get two kinds", "get tasks/a secret/s"),
    case("describe", "describe tasks a"),
    case("describe what is not there", "describe tasks nope"),
    case("an event of it", "create -f -", {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a.1"}, "type": "Normal", "reason": "Started",
        "message": "the first machine started", "count": 1, "source": {"component": "test"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
        "involvedObject": {"apiVersion": "example.test/v1", "kind": "Task", "name": "a", "namespace": NAMESPACE}}),
    case("get events", "get events"),
    case("get events for it", "events --for task/a"),
    case("events of the newer group", f"get --raw /apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"),
    case("explain", "explain tasks.spec"),
    case("explain all levels", "explain tasks --recursive"),
    case("explain metadata", "explain tasks.metadata.labels"),
    case("explain a field that is not there", "explain tasks.spec.nope"),
    case("explain a built-in kind", "explain secret"),
    case("explain a field of a built-in kind", "explain configmap.immutable"),
    case("explain a definition", "explain crd.spec.versions.schema"),
    case("explain by version", "explain tasks --api-version=example.test/v1 --output=plaintext-openapiv2"),
    case("resources of a group", "api-resources --api-group=example.test -o wide"),
    case("resources of the definitions' group", "api-resources --api-group=apiextensions.k8s.io -o wide"),
    case("resources of the leases' group", "api-resources --api-group=coordination.k8s.io -o wide"),
    case("resources of the events' group", "api-resources --api-group=events.k8s.io -o wide"),
    case("wait for a condition", "wait --for=condition=Complete tasks/a --timeout=5s"),
    case("wait for a value", ["wait", "--for=jsonpath={.status.state}=Running", "tasks/a", "--timeout=5s"]),
    case("wait in vain", "wait --for=condition=Complete tasks/b --timeout=1s"),
    case("wait for what is not there", "wait --for=condition=Complete tasks/nope --timeout=1s"),
    case("may I", "auth can-i create tasks.example.test"),
    case("may I everything", ["auth", "can-i", "*", "*", "--all-namespaces"]),
    case("may I by path", "auth can-i get /healthz"),
]

WRITING = [
    case("create what is there", "create -f -", task("a")),
    case("apply unchanged", "apply -f -", task("a", 3, values=["x"])),
    case("apply changed", "apply -f -", task("a", 4, values=["y", "x"], more={"a": "1"})),
    case("apply with a field less", "apply -f -", task("a", 4, values=["y", "x"])),
    case("view what was applied", "apply view-last-applied tasks a"),
    case("apply what is too small", "apply -f -", task("a", 0)),
    case("apply a value that is not of the list", "apply -f -", task("a", mode="Tape")),
    case("apply text for a number", "apply -f -", task("a", "2")),
    case("apply text for a number, unasked", "apply --validate=false -f -", task("a", "2")),
    case("apply an unknown field", "apply -f -", task("a", 4, sise=1)),
    case("apply an unknown field, warned of", "apply --validate=warn -f -", task("w", 4, sise=1)),
    case("apply an unknown field, unasked", "apply --validate=false -f -", task("x", 4, sise=1)),
    case("apply without what is required", "apply -f -", {**task("y"), "spec": {}}),
    case("apply without spec", "apply -f -", {k: v for k, v in task("z").items() if k != "spec"}),
    case("a bad name", "create -f -", task("Bad_Name")),
    case("a bad label", "create -f -", task("l", metadata={"labels": {"a b": "c"}})),
    case("a bad label value", "create -f -", task("l", metadata={"labels": {"a": "not/allowed"}})),
    case("a bad annotation", "create -f -", task("l", metadata={"annotations": {"a b": "c"}})),
    case("a bad finalizer", "create -f -", task("l", metadata={"finalizers": ["no slash or dots!"]})),
    case("a bad owner", "create -f -", task("l", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "y"}]})),
    case("no name", "create -f -", {**task("l"), "metadata": {}}),
    case("another namespace", "create -f -", task("l", metadata={"namespace": "elsewhere"})),
    case("a namespace that is not there", "create -n nowhere -f -", task("l")),
    case("an unknown kind", "apply -f -", {**task("l"), "kind": "Chore"}),
    case("an unknown version", "apply -f -", {**task("l"), "apiVersion": "example.test/v9"}),
    case("server-side apply, new", "apply --server-side -f -", task("s", 1)),
    case("server-side apply, unchanged", "apply --server-side -f -", task("s", 1)),
    case("server-side apply, conflict", "apply --server-side --field-manager=other -f -", task("s", 2)),
    case("server-side apply, forced", "apply --server-side --field-manager=other --force-conflicts -f -", task("s", 2)),
    case("server-side apply, shared", "apply --server-side --field-manager=third -f -", task("s", 2, more={"a": "1"})),
    case("server-side apply, given up", "apply --server-side --field-manager=third -f -", task("s", 2)),
    case("its managers", "get tasks s -o json --show-managed-fields"),
    case("server-side apply over client-side", "apply --server-side -f -", task("b", 1, more={"a": "1"})),
    case("its managers too", "get tasks b -o json --show-managed-fields"),
    case("server-side apply of a wrong value", "apply --server-side --force-conflicts -f -", task("s", 0)),
    case("server-side apply of an unknown field", "apply --server-side -f -", task("s", 2, sise=1)),
    case("dry run of a new one", "apply --dry-run=server -f -", task("n")),
    case("dry run of a change", "apply --dry-run=server -f -", task("a", 5)),
    case("dry run of a delete", "delete tasks a --dry-run=server"),
    case("dry run on this side", "apply --dry-run=client -f -", task("n")),
    case("diff of the same", "diff -f -", task("a", 4, values=["y", "x"])),
    case("diff of a change", "diff -f -", task("a", 6)),
    case("diff by the server", "diff --server-side --force-conflicts -f -", task("a", 6)),
    case("diff of a new one", "diff -f -", task("n")),
    case("merge patch", [*PATCH.split(), "--type=merge", "-p", '{"spec":{"size":2,"mode":null}}']),
    case("merge patch without change", [*PATCH.split(), "--type=merge", "-p", '{"spec":{"size":2}}']),
    case("merge patch of a wrong value", [*PATCH.split(), "--type=merge", "-p", '{"spec":{"size":0}}']),
    case("merge patch of an unknown field", [*PATCH.split(), "--type=merge", "-p", '{"spec":{"sise":1}}']),
    case("merge patch that is no JSON", [*PATCH.split(), "--type=merge", "-p", '{"spec":']),
    case("json patch", [*PATCH.split(), "--type=json", "-p", '[{"op":"add","path":"/spec/values/-","value":"z"}]']),
    case("json patch whose test fails", [*PATCH.split(), "--type=json", "-p", '[{"op":"test","path":"/spec/size","value":9}]']),
    case("json patch of a missing place", [*PATCH.split(), "--type=json", "-p", '[{"op":"remove","path":"/spec/nope"}]']),
    case("json patch of an unknown kind", [*PATCH.split(), "--type=json", "-p", '[{"op":"mend","path":"/spec/size"}]']),
    case("json patch that is an object", [*PATCH.split(), "--type=json", "-p", '{"op":"add"}']),
    case("strategic patch of a custom resource", [*PATCH.split(), "--type=strategic", "-p", '{"spec":{"size":3}}']),
    case("patch of what is not there", ["patch", "tasks", "nope", "--type=merge", "-p", "{}"]),
    case("patch of a name", [*PATCH.split(), "--type=merge", "-p", '{"metadata":{"name":"other"}}']),
    case("edit", "edit tasks a", env={"KUBE_EDITOR": "sed -i s/size:.2/size:\\ 6/"}),
    case("edit without change", "edit tasks a", env={"KUBE_EDITOR": "true"}),
    case("label", "label tasks a tier=one owner=me"),
    case("label what has one", "label tasks a tier=two"),
    case("label anew", "label --overwrite tasks a tier=two owner-"),
    case("label wrongly", "label --overwrite tasks a tier=not/allowed"),
    case("annotate", ["annotate", "tasks", "a", "note=some text"]),
    case("replace", "replace -f -", task("a", 9)),
    case("replace an old version", "replace -f -", task("a", 9, metadata={"resourceVersion": "1"})),
    case("replace by force", "replace --force -f -", task("a", 11)),
    case("replace what is not there", "replace -f -", task("nope")),
    case("scale what does not", "scale tasks a --replicas=2"),
    case("an owner that is gone", "create -f -", owned("orphan"), settle=3),
    case("is collected", "get tasks orphan"),
    case("prune", "apply --prune -l app=x --prune-allowlist=example.test/v1/Task -f -",
         task("p", metadata={"labels": {"app": "x"}})),
    case("prune the other", "apply --prune -l app=x --prune-allowlist=example.test/v1/Task -f -",
         task("q", metadata={"labels": {"app": "x"}})),
]

RAW = [
    case("health", "get --raw /healthz"),
    case("live", "get --raw /livez"),
    case("ready", "get --raw /readyz"),
    case("raw list of one", ["get", "--raw", AT + "?limit=1"]),
    case("raw list with a broken continue", ["get", "--raw", AT + "?limit=1&continue=x"]),
    case("raw list with a broken limit", ["get", "--raw", AT + "?limit=x"]),
    case("raw list with a negative limit", ["get", "--raw", AT + "?limit=-1"]),
    case("raw list of a broken version", ["get", "--raw", AT + "?resourceVersion=x"]),
    case("raw list of a version to come", ["get", "--raw", AT + "?resourceVersion=999999999"]),
    case("raw list with a match of no version", ["get", "--raw", AT + "?resourceVersionMatch=Exact"]),
    case("raw list with an unknown match", ["get", "--raw", AT + "?resourceVersion=1&resourceVersionMatch=Near"]),
    case("raw watch", ["get", "--raw", AT + "?watch=1&timeoutSeconds=1&resourceVersion=0"]),
    case("raw watch of one", ["get", "--raw", AT + "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Da"]),
    case("raw watch with bookmarks first", [
        "get", "--raw", AT + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan"]),
    case("raw watch of a broken version", ["get", "--raw", AT + "?watch=1&timeoutSeconds=1&resourceVersion=x"]),
    case("raw status", ["get", "--raw", AT + "/a/status"]),
    case("raw scale", ["get", "--raw", AT + "/a/scale"]),
    case("raw unknown path", "get --raw /nope"),
    case("raw unknown group", "get --raw /apis/nope.test/v1"),
    case("raw unknown resource", f"get --raw /apis/example.test/v1/namespaces/{NAMESPACE}/chores"),
    case("raw create of no JSON", ["create", "--raw", AT, "-f", "-"], "{"),
    case("raw create of nothing", ["create", "--raw", AT, "-f", "-"], "{}"),
    case("raw create of another kind", ["create", "--raw", AT, "-f", "-"], config("c")),
    case("raw create of another version", ["create", "--raw", AT, "-f", "-"], {**task("r"), "apiVersion": "example.test/v2"}),
    case("raw create, strict", ["create", "--raw", AT + "?fieldValidation=Strict", "-f", "-"], task("r", sise=1)),
    case("raw create, strict, twice the same field", ["create", "--raw", AT + "?fieldValidation=Strict", "-f", "-"],
         '{"apiVersion":"example.test/v1","kind":"Task","metadata":{"name":"r2"},"spec":{"size":1,"size":2}}'),
    case("raw create, unknown validation", ["create", "--raw", AT + "?fieldValidation=Some", "-f", "-"], task("r")),
    case("raw create, unknown dry run", ["create", "--raw", AT + "?dryRun=Some", "-f", "-"], task("r")),
    case("raw create, with a version", ["create", "--raw", AT, "-f", "-"], task("r", metadata={"resourceVersion": "5"})),
    case("raw create with a generated name", ["create", "--raw", AT + "?dryRun=All", "-f", "-"],
         {**task("r"), "metadata": {"generateName": "R_"}}),
    case("raw create of a configmap of no JSON", ["create", "--raw", CORE + "/configmaps", "-f", "-"], "{"),
    case("raw replace without version", ["replace", "--raw", AT + "/a", "-f", "-"], task("a", 12)),
    case("raw replace of another name", ["replace", "--raw", AT + "/a", "-f", "-"], task("b", 12)),
    case("raw delete with another uid", ["delete", "--raw", AT + "/a", "-f", "-"],
         {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}}),
    case("raw delete with an unknown cascade", ["delete", "--raw", AT + "/a", "-f", "-"],
         {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Sideways"}),
    case("raw delete", ["delete", "--raw", AT + "/a"]),
]

DELETING = [
    case("something to delete", "apply -f -", kube_case.as_list([
        task("e"), task("f"), task("g"), task("h", metadata={"finalizers": ["example.test/hold"]}),
        task("i", metadata={"labels": {"x": "1"}})])),
    case("delete", "delete tasks e"),
    case("delete in the foreground", "delete tasks f --cascade=foreground"),
    case("delete and orphan", "delete tasks g --cascade=orphan"),
    case("delete what is held", "delete tasks h --timeout=1s"),
    case("it is going", "get tasks h -o yaml"),
    case("delete what is going", "delete tasks h --wait=false"),
    case("a finalizer more while it goes", ["patch", "tasks", "h", "--type=merge", "-p",
                                            '{"metadata":{"finalizers":["example.test/hold","example.test/more"]}}']),
    case("let it go", ["patch", "tasks", "h", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']),
    case("delete by label", "delete tasks -l x=1"),
    case("delete now", "delete tasks b --now"),
    case("delete by force", "delete tasks c --force --grace-period=0"),
    case("delete from a file", "delete -f -", task("d")),
    case("delete all", "delete tasks --all"),
    case("delete the definition", "delete crd tasks.example.test"),
    case("its resources are gone", "get tasks", settle=1),
    case("delete the namespace", f"delete namespace {NAMESPACE} --timeout=60s"),
    case("the namespace is gone", f"get namespace {NAMESPACE}"),
]

# The kinds of this project: what a cluster says with the definitions alone, and what the embedded API says.
OURS = [
    case("resources of the operators", "api-resources --api-group=sagemaker.aws.amazon.com -o wide"),
    case("explain a training job", "explain trainingjob.spec.resourceConfig"),
    case("explain a training job's status", "explain trainingjob.status"),
    case("a training job, dry", "apply --dry-run=server -f - -o yaml", training_job("t")),
    case("a training job with an unknown field", "apply --dry-run=server -f -", training_job("t", instnaceType="x")),
    case("a training job without region", "apply --dry-run=server -f -", training_job("t", region=None)),
    case("a training job of text for a number", "apply --validate=false --dry-run=server -f -",
         training_job("t", stoppingCondition={"maxRuntimeInSeconds": "long"})),
    case("a training job that breaks a rule", "apply --dry-run=server -f -",
         training_job("t", algorithmSpecification={"trainingInputMode": "File"})),
    case("a training job on spot without a wait", "apply --dry-run=server -f -", training_job("t", enableManagedSpotTraining=True)),
    case("a near miss", "apply --dry-run=server -f -", training_job("t", inputDataConfig=[
        {"channelName": "c", "dataSource": {"s3DataSource": {"s3DataType": "S3Prefix", "s3Uri": "s3://b/p",
                                                             "s3DataDistributionType": "FullReplicated"}}}])),
    case("halves of a metric", "apply --dry-run=server -f -", training_job("t", algorithmSpecification={
        "trainingImage": "host", "trainingInputMode": "File", "metricDefinitions": [{"name": "a"}, {"regex": "b"}]})),
]

ALL = [*BUILT_IN, *DEFINITIONS, *READING, *WRITING, *RAW, *OURS, *DELETING]
