"""kubectl against the Kubernetes face: a server, the kubectls that are there, and how to run them.

Every test runs with each generation of kubectl that is found: the one on PATH, and Debian's 1.20 that
`./dev setup test` unpacks beside the build. MERIDIAN_KUBECONFIG names another server to run against: a real
cluster shows the same.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import json
import os
import pathlib
import random
import shutil
import string
import subprocess
import tempfile
import unittest

import harness

DEBIAN_KUBECTL = harness.ROOT / "build/clients/kubernetes-client/usr/bin/kubectl"

TASKS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tasks.example.test}
spec:
  group: example.test
  scope: Namespaced
  names: {plural: tasks, kind: Task, shortNames: [tk], categories: [examples]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: State, type: string, jsonPath: .status.state}
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How many machines.}
              mode: {type: string, enum: [File, Pipe], default: File}
              values: {type: array, items: {type: string}}
              more: {type: object, properties: {a: {type: string}, b: {type: string}}}
          status:
            type: object
            properties:
              state: {type: string}
              observedGeneration: {type: integer}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
"""


def find_kubectls():
    """{name: path} of each generation that is here."""
    found = {}
    on_path = shutil.which("kubectl")
    if on_path:
        found[version_of(on_path)] = on_path
    if DEBIAN_KUBECTL.exists():
        found.setdefault(version_of(DEBIAN_KUBECTL), str(DEBIAN_KUBECTL))
    return found


@functools.lru_cache(maxsize=None)
def version_of(kubectl):
    done = subprocess.run([str(kubectl), "version", "--client", "-o", "json"], capture_output=True, text=True,
                          env=dict(os.environ, KUBECONFIG="/nonexistent"), check=True)
    version = json.loads(done.stdout)["clientVersion"]
    return f"{version['major']}.{version['minor'].rstrip('+')}"


def task(name, size=1, **more):
    return {"apiVersion": "example.test/v1", "kind": "Task", "metadata": {"name": name, **more.pop("metadata", {})},
            "spec": {"size": size, **more}}


class Kubectl:
    """One kubectl with a home of its own, in one namespace of one server."""

    def __init__(self, path, version, kubeconfig, namespace):
        self.path, self.version, self.namespace = path, version, namespace
        self.home = tempfile.mkdtemp(prefix="meridian-kubectl-")
        self.env = dict(os.environ, KUBECONFIG=str(kubeconfig), HOME=self.home)
        self.old = tuple(map(int, version.split("."))) < (1, 24)

    def command(self, *args, namespace=True):
        place = ["-n", self.namespace] if namespace else []
        return [self.path, *place, *map(str, args)]

    def run(self, *args, check=True, namespace=True, timeout=120, **kwargs):
        stdin = kwargs.pop("stdin", None)
        if isinstance(stdin, (dict, list)):
            stdin = json.dumps(stdin)
        env = dict(self.env, **kwargs.pop("env", {}))
        done = subprocess.run(self.command(*args, namespace=namespace), env=env, input=stdin, text=True,
                              capture_output=True, timeout=timeout, **kwargs)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def out(self, *args, **kwargs):
        return self.run(*args, **kwargs).stdout

    def fails(self, *args, **kwargs):
        """The message of a command that must fail."""
        done = self.run(*args, check=False, **kwargs)
        if done.returncode == 0:
            raise AssertionError(f"kubectl {' '.join(map(str, args))} did not fail:\n{done.stdout}")
        return done.stderr + done.stdout

    def json(self, *args, **kwargs):
        return json.loads(self.out(*args, "-o", "json", **kwargs))

    def apply(self, *objects, args=(), **kwargs):
        return self.run("apply", *args, "-f", "-", stdin=as_list(objects), **kwargs)

    def start(self, *args, **kwargs):
        return subprocess.Popen(self.command(*args), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, start_new_session=True, **kwargs)

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


def as_list(objects):
    if len(objects) == 1:
        return objects[0]
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


class Server:
    """A daemon of our own, or the one that MERIDIAN_KUBECONFIG names."""

    def __init__(self):
        given = os.environ.get("MERIDIAN_KUBECONFIG")
        self.is_ours = not given
        self.daemon = None if given else harness.Daemon().start()
        self.kubeconfig = pathlib.Path(given) if given else self.daemon.data / "kubeconfig"

    def close(self):
        if self.daemon is not None:
            self.daemon.close()


def each_kubectl(test):
    """Runs the test once with each generation of kubectl: self.kubectl, in a namespace of its own."""
    @functools.wraps(test)
    def run(self):
        kubectls = find_kubectls()
        if not kubectls:
            self.skipTest("no kubectl on PATH and none in build/clients")
        for version, path in sorted(kubectls.items()):
            with self.subTest(kubectl=version):
                self.kubectl = self.make_kubectl(path, version)
                test(self)
    return run


class KubeCase(unittest.TestCase):
    """Tests against one server with the definition of kind Task (example.test/v1)."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        kubectls = find_kubectls()
        if kubectls:
            kubectl = Kubectl(next(iter(kubectls.values())), next(iter(kubectls)), cls.server.kubeconfig, "default")
            kubectl.run("apply", "-f", "-", stdin=TASKS)
            kubectl.run("wait", "--for=condition=Established", "crd/tasks.example.test", "--timeout=30s")
            kubectl.close()

    def make_kubectl(self, path, version):
        name = "t-" + "".join(random.choices(string.ascii_lowercase, k=8))
        kubectl = Kubectl(path, version, self.server.kubeconfig, name)
        self.addCleanup(kubectl.close)
        kubectl.run("create", "namespace", name, namespace=False)
        self.addCleanup(lambda: kubectl.run("delete", "namespace", name, "--wait=false", namespace=False, check=False))
        return kubectl
