"""What a cluster is given: kustomize base, chart and webhook, and that they are what the program prints.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

import yaml

import harness
from operator_case import OperatorCase, eventually

PACKAGING = harness.ROOT / "packaging"


def objects(text):
    """{(kind, name, namespace or None): object} of a stream of YAML documents."""
    return {(o["kind"], o["metadata"]["name"], o["metadata"].get("namespace")): o for o in yaml.safe_load_all(text) if o}


def manifests(*options):
    return subprocess.run([harness.BIN / "meridian", "operator", "manifests", *options], capture_output=True, text=True,
                          check=True).stdout


class Files(unittest.TestCase):
    def test_the_files_are_what_the_program_prints(self):
        done = subprocess.run([sys.executable, PACKAGING / "generate.py", harness.BIN / "meridian", "--check"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_kustomize_base_is_the_manifests(self):
        if not shutil.which("kubectl"):
            self.skipTest("kubectl is not installed")
        built = subprocess.run(["kubectl", "kustomize", PACKAGING / "kustomize/base"], capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(objects(built.stdout), objects(manifests()))

    def chart(self, *options):
        helm = shutil.which("helm") or harness.ROOT / "build/helm/helm"
        if not os.path.exists(helm):
            self.skipTest("helm is not installed")
        done = subprocess.run([helm, "template", "m", PACKAGING / "helm/meridian-operator", "-n", "meridian-system",
                               "--include-crds", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return objects(done.stdout)

    def test_the_chart_is_the_manifests_for_every_scope(self):
        for values, options in (([], []), (["--set", "watchNamespace=ml"], ["--namespace", "ml"]),
                                (["--set", "image=here/meridian:7"], ["--image", "here/meridian:7"])):
            wanted = objects(manifests(*options))
            wanted.pop(("Namespace", "meridian-system", None))  # helm makes it with --create-namespace
            self.assertEqual(self.chart(*values), wanted)

    def test_the_chart_makes_no_permissions_when_told_so_and_regions_from_values(self):
        made = self.chart("--set", "rbac.create=false", "--set", "regions.a-1.endpoint=http://there:1",
                          "--set", "regions.a-1.accessKeyId=A", "--set", "regions.a-1.secretAccessKey=s")
        kinds = {kind for kind, *_ in made} - {"CustomResourceDefinition"}
        self.assertEqual(kinds, {"Deployment", "Secret"})
        secret = made["Secret", "meridian-regions", "meridian-system"]["stringData"]
        self.assertIn('endpoint: "http://there:1"', secret["regions.yaml"])
        self.assertIn("credentials: /etc/meridian/regions/a-1", secret["regions.yaml"])
        self.assertIn("aws_access_key_id = A", secret["a-1"])


class Webhook(OperatorCase):
    """`meridian operator run` beside the daemon, for a namespace that nothing is in."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = objects(manifests("--webhook"))
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="meridian-webhook-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, text in cls.made["Secret", "meridian-operator-webhook", "meridian-system"]["data"].items():
            (cls.folder / name).write_bytes(base64.b64decode(text))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.kubectl("create", "namespace", "unused")
        cls.output = open(cls.folder / "log", "wb")
        cls.process = subprocess.Popen(
            [harness.BIN / "meridian", "operator", "run", "--kubeconfig", cls.place.kubeconfig, "--namespace", "unused",
             "--webhook-certificate", cls.folder, "--webhook-port", str(cls.port)],
            stdout=cls.output, stderr=subprocess.STDOUT, env=cls.environment())
        cls.addClassCleanup(cls.end)
        eventually(lambda: cls.answers(), seconds=20)

    @classmethod
    def end(cls):
        cls.process.send_signal(signal.SIGTERM)
        code = cls.process.wait(timeout=30)
        cls.output.close()
        if code != 0:
            raise AssertionError(f"the operator ended with {code}: {(cls.folder / 'log').read_text(errors='replace')}")

    @classmethod
    def answers(cls):
        try:
            socket.create_connection(("127.0.0.1", cls.port), timeout=1).close()
            return True
        except OSError:
            return False

    def ask(self, object, operation="CREATE", old=None):
        """As an API server does: by the service's name, trusting the configuration's bundle and nothing else."""
        hook = self.made["ValidatingWebhookConfiguration", "meridian-operator", None]["webhooks"][0]
        context = ssl.create_default_context(cadata=base64.b64decode(hook["clientConfig"]["caBundle"]).decode())
        service = hook["clientConfig"]["service"]
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection = http.client.HTTPConnection("127.0.0.1")
        connection.sock = context.wrap_socket(raw, server_hostname=f"{service['name']}.{service['namespace']}.svc")
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "1-2-3", "operation": operation, "object": object, "oldObject": old,
            "resource": {"group": "sagemaker.aws.amazon.com", "version": "v1", "resource": "trainingjobs"}}}
        connection.request("POST", service["path"], json.dumps(review), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        self.assertEqual(answer["response"]["uid"], "1-2-3")
        return answer["response"]

    def test_the_rules_answer_under_the_certificate_of_the_manifests(self):
        job = self.training_job("halves", "true")
        self.assertTrue(self.ask(job)["allowed"])
        job["spec"]["algorithmSpecification"]["metricDefinitions"] = [{"name": "a"}, {"regex": "a=(.*)"}]
        refused = self.ask(job)
        self.assertFalse(refused["allowed"])
        self.assertIn("one item needs both name and regex", refused["status"]["message"])
        self.assertEqual(refused["status"]["code"], 422)

    def test_the_operator_says_that_it_covers_its_namespace(self):
        self.assertTrue(eventually(lambda: self.find("lease", "meridian-operator-heartbeat", "unused"), seconds=30))


if __name__ == "__main__":
    unittest.main()
