"""helm of today against the embedded Kubernetes API: a chart with a TrainingJob and a ConfigMap is installed, upgraded, rolled
back and uninstalled, twice over.

SPDX-License-Identifier: Apache-2.0
"""
import io
import json
import os
import pathlib
import subprocess
import tarfile
import unittest

import harness
import kube_http

CHART = pathlib.Path(__file__).resolve().parent / "chart"
HELM = os.environ["MERIDIAN_LANE_HELM"]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
JOBS = "/apis/sagemaker.aws.amazon.com/v1/namespaces/default/trainingjobs"


def setUpModule():
    global meridian, api
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    api = kube_http.Api(meridian.data / "kubeconfig")
    meridian.client("s3").create_bucket(Bucket="by-helm", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})


def helm(*arguments, check=True):
    env = dict(meridian.env, KUBECONFIG=str(meridian.data / "kubeconfig"), HOME=str(meridian.data))
    done = subprocess.run([HELM, *map(str, arguments)], env=env, text=True, capture_output=True, timeout=300)
    if check and done.returncode != 0:
        raise AssertionError(f"helm {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def releases():
    return {r["name"]: (r["status"], int(r["revision"])) for r in json.loads(helm("list", "--all", "-o", "json").stdout)}


def names(path):
    """Of the objects there that helm made."""
    selected = api.get(path + "?labelSelector=app.kubernetes.io/managed-by%3DHelm")
    return sorted(one["metadata"]["name"] for one in selected["items"])


class Releases(unittest.TestCase):
    def setting(self, release, key):
        return api.get(f"{CONFIG_MAPS}/{release}-settings")["data"].get(key)

    def assert_trained(self, job, epochs):
        ended = "Completed", "Failed", "Stopped"
        harness.wait_for(lambda: api.get(f"{JOBS}/{job}").get("status", {}).get("trainingJobStatus") in ended, 120, f"{job}: its end")
        status = api.get(f"{JOBS}/{job}")["status"]
        self.assertEqual(status["trainingJobStatus"], "Completed")
        bucket, key = status["modelPath"].removeprefix("s3://").split("/", 1)
        archive = meridian.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            self.assertEqual(tar.extractfile("epochs").read().decode(), f"epochs {epochs}\n")

    def whole_life(self, release):
        helm("install", release, CHART, "--wait")
        self.assertEqual(releases(), {release: ("deployed", 1)})
        self.assertEqual(self.setting(release, "namespace"), "default")  # `lookup` asked the API
        self.assert_trained(f"{release}-1", 3)
        before = api.get(f"{JOBS}/{release}-1")["metadata"]

        helm("upgrade", release, CHART, "--set", "run=2,epochs=5", "--wait")
        self.assertEqual(self.setting(release, "epochs"), "5")
        harness.wait_for(lambda: names(JOBS) == [f"{release}-2"], 60, "the job of the run before: its deletion")
        self.assert_trained(f"{release}-2", 5)

        helm("rollback", release, 1, "--wait")
        self.assertEqual(releases(), {release: ("deployed", 3)})
        self.assertEqual(self.setting(release, "epochs"), "3")
        self.assert_trained(f"{release}-1", 3)
        self.assertNotEqual(api.get(f"{JOBS}/{release}-1")["metadata"]["uid"], before["uid"])

        history = json.loads(helm("history", release, "-o", "json").stdout)
        self.assertEqual([h["status"] for h in history], ["superseded", "superseded", "deployed"])
        self.assertIn(f"name: {release}-1", helm("get", "manifest", release).stdout)

        helm("uninstall", release, "--wait")
        self.assertEqual((releases(), names(JOBS), names(CONFIG_MAPS)), ({}, [], []))

    def test_a_release_is_installed_upgraded_rolled_back_and_uninstalled(self):
        self.whole_life("trial")

    def test_once_more_under_the_same_name(self):
        self.whole_life("trial")

    def test_what_the_definition_does_not_allow_is_refused_with_its_field(self):
        refused = helm("install", "wrong", CHART, "--set", "instances=many", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("spec.resourceConfig.instanceCount", refused.stderr)
        helm("uninstall", "wrong", "--ignore-not-found")
        self.assertEqual(names(JOBS), [])

    def test_a_dry_run_on_the_server_makes_nothing(self):
        shown = helm("install", "dry", CHART, "--dry-run=server").stdout
        self.assertIn("namespace: default", shown)
        self.assertEqual((releases(), names(CONFIG_MAPS)), ({}, []))


if __name__ == "__main__":
    unittest.main()
