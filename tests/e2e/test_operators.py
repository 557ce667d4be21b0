"""Resources of the operators with kubectl and with meridian: on a daemon's own API, or, with MERIDIAN_KUBECONFIG, on a
cluster with `meridian operator run`.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import harness
import jobs
import operator_place
from operator_case import condition, eventually

EXAMPLES = harness.ROOT / "examples" / "operators"


def setUpModule():
    global place, meridian
    if not shutil.which("kubectl"):
        raise unittest.SkipTest("kubectl is not installed")
    place = operator_place.start()
    unittest.addModuleCleanup(place.close)
    meridian = place.meridian
    run(str(EXAMPLES / "prepare.sh"))


def environment():
    env = dict(meridian.env)
    env["PATH"] = f"{meridian.data}/bin:{harness.BIN}:{env['PATH']}"
    env["KUBECONFIG"] = str(place.kubeconfig)
    env["HOME"] = str(meridian.data)  # kubectl keeps what it discovered there
    return env


def run(*command, check=True, input=None, timeout=120):
    done = subprocess.run(command, env=environment(), text=True, capture_output=True, input=input, timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def kubectl(*arguments, **more):
    return run("kubectl", *arguments, **more)


def get(kind, name):
    return json.loads(kubectl("get", kind, name, "-o", "json").stdout)


def training_job(name, program, **spec):
    """A job on the reserved image `host` that runs a line of shell."""
    return {
        "apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "TrainingJob", "metadata": {"name": name},
        "spec": {
            "region": meridian.regions[0], "roleArn": "arn:aws:iam::000000000000:role/service-role/training",
            "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "File",
                                       "containerEntrypoint": ["/bin/sh", "-c", program]},
            "outputDataConfig": {"s3OutputPath": "s3://digits-operators/jobs"},
            "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 5},
            "stoppingCondition": {"maxRuntimeInSeconds": 3600}, **spec}}


def apply(resource, check=True):
    return kubectl("apply", "-f", "-", input=json.dumps(resource), check=check)


def job_names():
    return {j["TrainingJobName"] for j in meridian.client("sagemaker").list_training_jobs(MaxResults=100)["TrainingJobSummaries"]}


class Exercises(unittest.TestCase):
    def test_a_script_trains_by_mpirun_on_two_instances(self):
        text = (EXAMPLES / "1-script-mode-mpi.yaml").read_text()
        text = text.replace("us-west-2\n", f"{meridian.regions[0]}\n")
        kubectl("apply", "-f", "-", input=text)
        kubectl("wait", "--for=condition=Complete", "trainingjob/digits-mpi", "--timeout=240s", timeout=260)
        job = get("trainingjob", "digits-mpi")
        status = job["status"]
        self.assertEqual(status["trainingJobStatus"], "Completed")
        self.assertEqual(condition(job, "Reconciling")["status"], "False")
        self.assertGreater(status["billableTimeInSeconds"], 0)
        self.assertTrue(status["modelPath"].endswith("/output/model.tar.gz"))
        self.assertNotIn("trainingJobName", job["spec"], "spec is never written to")
        table = kubectl("get", "trainingjobs", "digits-mpi").stdout
        self.assertIn("SAGEMAKER-JOB-NAME", table)
        self.assertIn("Completed", table)
        described = kubectl("describe", "trainingjob", "digits-mpi").stdout
        for reason in ("Created", "InProgress", "Completed"):
            self.assertRegex(described, rf"Normal\s+{reason}")
        self.assertIn(status["sageMakerTrainingJobName"], job_names())
        messages = [e["message"] for e in jobs.log_events(meridian, status["sageMakerTrainingJobName"])]
        self.assertTrue(any("accuracy=" in m for m in messages), messages[-5:])
        kubectl("delete", "trainingjob", "digits-mpi")
        self.assertNotEqual(kubectl("get", "trainingjob", "digits-mpi", check=False).returncode, 0)


class Errors(unittest.TestCase):
    def test_a_failing_program_is_told_with_its_reason(self):
        apply(training_job("fails", "echo no such table >&2; exit 3"))
        kubectl("wait", "--for=condition=Failed", "trainingjob/fails", "--timeout=60s")
        job = get("trainingjob", "fails")
        self.assertIn("no such table", job["status"]["additional"])
        self.assertIn("exit", job["status"]["additional"].lower())
        self.assertRegex(kubectl("describe", "trainingjob", "fails").stdout, r"Warning\s+Failed")

    def test_halves_of_a_metric_definition_are_named(self):
        job = training_job("halves", "true")
        job["spec"]["algorithmSpecification"]["metricDefinitions"] = [{"name": "a"}, {"regex": "a=(.*)"}]
        refused = apply(job, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("metricDefinitions[0].regex", refused.stderr)
        if not place.in_a_cluster:
            self.assertIn("one item needs both name and regex", refused.stderr)

    def test_a_near_miss_is_answered_with_what_was_meant(self):
        job = training_job("near", "true")
        job["spec"]["inputDataConfig"] = [{"channelName": "train", "dataSource": {"s3DataSource": {
            "s3DataType": "S3Prefix", "s3Uri": "s3://b/p", "s3DataDistributionType": "FullReplicated"}}}]
        refused = apply(job, check=False)
        hint = 'supported values: "FullyReplicated"' if place.in_a_cluster else 'did you mean "FullyReplicated"'
        self.assertIn(hint, refused.stderr)

    def test_an_unknown_field_is_refused_with_its_path(self):
        refused = apply(training_job("unknown", "true", instnaceType="x"), check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("spec.instnaceType", refused.stderr)

    def test_an_unknown_region_is_terminal_at_once(self):
        apply(training_job("nowhere", "true", region="mars-north-1"))
        job = eventually(lambda: (j := get("trainingjob", "nowhere")) and condition(j, "Failed")["status"] == "True" and j)
        self.assertTrue(job)
        self.assertEqual(condition(job, "Failed")["reason"], "UnknownRegion")
        self.assertIn("mars-north-1", job["status"]["additional"])

    def test_the_same_name_twice_is_told_and_can_be_adopted(self):
        apply(training_job("first", "sleep 60", trainingJobName="shared-name"))
        eventually(lambda: "shared-name" in job_names())
        apply(training_job("second", "true", trainingJobName="shared-name"))
        kubectl("wait", "--for=condition=Failed", "trainingjob/second", "--timeout=30s")
        self.assertEqual(get("trainingjob", "second")["status"]["reason"], "NameInUse")
        apply(training_job("third", "true", trainingJobName="shared-name", ifExists="adopt"))
        self.assertTrue(eventually(lambda: get("trainingjob", "third").get("status", {}).get("trainingJobStatus") == "InProgress"))
        for name in ("first", "second", "third"):
            kubectl("delete", "trainingjob", name, "--wait=false")


class Lifecycle(unittest.TestCase):
    def test_deleting_a_running_job_stops_it_and_leaves_nothing(self):
        apply(training_job("long", "trap 'exit 0' TERM; while :; do sleep 1; done"))
        self.assertTrue(eventually(lambda: get("trainingjob", "long").get("status", {}).get("secondaryStatus") == "Training"))
        name = get("trainingjob", "long")["status"]["sageMakerTrainingJobName"]
        kubectl("delete", "trainingjob", "long", timeout=200)
        self.assertIn(jobs.describe(meridian, name)["TrainingJobStatus"], ("Stopped", "Failed"))
        self.assertNotEqual(kubectl("get", "trainingjob", "long", check=False).returncode, 0)

    def test_killed_in_mid_flight_the_controllers_make_no_second_job(self):
        apply(training_job("survivor", "sleep 4; echo done"))
        eventually(lambda: get("trainingjob", "survivor").get("status", {}).get("sageMakerTrainingJobName"))
        place.crash()
        kubectl("wait", "--for=condition=Complete", "trainingjob/survivor", "--timeout=60s", timeout=80)
        uid = get("trainingjob", "survivor")["metadata"]["uid"].replace("-", "")
        self.assertEqual(len([n for n in job_names() if uid in n]), 1)

    def test_killed_between_a_wish_and_its_record_the_controllers_make_no_second_job(self):
        names = [f"odd-{i}" for i in range(3)]
        for i, name in enumerate(names):
            apply(training_job(name, "sleep 1; echo done"))
            time.sleep(0.05 * i)
            place.crash()
        for name in names:
            kubectl("wait", "--for=condition=Complete", f"trainingjob/{name}", "--timeout=90s", timeout=110)
        for name in names:
            uid = get("trainingjob", name)["metadata"]["uid"].replace("-", "")
            self.assertEqual(len([n for n in job_names() if uid in n]), 1)

    def test_a_model_resource_is_a_model_of_the_region(self):
        model = {"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "Model", "metadata": {"name": "net"},
                 "spec": {"region": meridian.regions[0], "executionRoleArn": "arn:aws:iam::000000000000:role/service-role/x",
                          "primaryContainer": {"image": "host", "environment": [{"name": "A", "value": "b"}]}}}
        apply(model)
        kubectl("wait", "--for=condition=Ready", "model/net", "--timeout=30s")
        first = get("model", "net")["status"]["sageMakerModelName"]
        sagemaker = meridian.client("sagemaker")
        self.assertEqual(sagemaker.describe_model(ModelName=first)["PrimaryContainer"]["Environment"], {"A": "b"})
        model["spec"]["primaryContainer"]["environment"][0]["value"] = "c"
        apply(model)
        second = eventually(lambda: (n := get("model", "net")["status"]["sageMakerModelName"]) != first and n)
        self.assertEqual(sagemaker.describe_model(ModelName=second)["PrimaryContainer"]["Environment"], {"A": "c"})
        kubectl("delete", "model", "net")
        self.assertEqual(sagemaker.list_models(MaxResults=100)["Models"], [])


class CommandLine(unittest.TestCase):
    def test_meridian_applies_waits_shows_and_deletes_without_kubectl(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "job.json"
            file.write_text(json.dumps(training_job("by-cli", "echo hello")))
            self.assertIn("created", run("meridian", "apply", "-f", str(file)).stderr)
            self.assertIn("unchanged", run("meridian", "apply", "-f", str(file)).stderr)
            run("meridian", "wait", "trainingjob/by-cli", "--for", "Complete", "-n", "default", "--timeout", "60")
            self.assertIn("by-cli", run("meridian", "get", "trainingjobs", "-n", "default").stdout)
            self.assertIn("Completed", run("meridian", "events", "trainingjob/by-cli").stdout)
            self.assertIn("Completed", run("meridian", "describe", "trainingjob/by-cli", "-n", "default").stdout)
            run("meridian", "delete", "-f", str(file))

    def test_a_refusal_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "job.yaml"
            file.write_text("apiVersion: sagemaker.aws.amazon.com/v1\nkind: TrainingJob\nmetadata:\n  name: x\nspec:\n"
                            "  region: us-west-2\n  resourceConfig:\n    instanceCount: two\n")
            refused = run("meridian", "apply", "-f", str(file), check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"{file}:8: spec.resourceConfig.instanceCount", refused.stderr)

    def test_explain_shows_fields_and_suggests(self):
        self.assertIn("instanceCount", run("meridian", "explain", "trainingjob.spec.resourceConfig").stdout)
        wrong = run("meridian", "explain", "trainingjob.spec.resourceConfg", check=False)
        self.assertIn("did you mean 'resourceConfig'", wrong.stderr)

    def test_manifests_are_what_a_cluster_takes(self):
        text = run("meridian", "operator", "manifests").stdout
        for kind in ("CustomResourceDefinition", "ClusterRole", "Deployment"):
            self.assertIn(f"kind: {kind}\n", text)
        crds = run("meridian", "operator", "manifests", "--crds").stdout
        self.assertEqual(crds.count("kind: CustomResourceDefinition\n"), 8)
        applied = kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=crds).stdout
        self.assertEqual(applied.count("serverside-applied"), 8)


if __name__ == "__main__":
    unittest.main()
