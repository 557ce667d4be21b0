"""Arrays of trainings over four regions: rows from SQL, from a manifest and from the resource itself.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import harness
import jobs

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")


def setUpModule():
    global meridian, campaigns
    campaigns = tempfile.mkdtemp(prefix="meridian-e2e-campaigns-")
    unittest.addModuleCleanup(shutil.rmtree, campaigns)
    with sqlite3.connect(f"{campaigns}/campaigns.db") as database:
        database.execute("CREATE TABLE drives (id INTEGER, region TEXT, exit INTEGER, seconds REAL)")
        database.executemany("INSERT INTO drives VALUES (?, ?, 0, 0)", list(enumerate(REGIONS)))
    database.close()
    meridian = harness.Daemon(
        regions=REGIONS, config=f"catalog: {{campaigns: 'sqlite://{campaigns}/campaigns.db'}}\n").start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)


def run(*arguments, check=True, **more):
    done = subprocess.run([str(harness.BIN / "meridian"), "--data", str(meridian.data), *arguments], text=True,
                          capture_output=True, timeout=240, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def array(name, rows, key=("id",), **spec):
    """A TrainingArray whose jobs sleep and exit as their row says, as JSON (which is YAML)."""
    program = "sleep $seconds; echo images_per_second=$id; exit $exit"
    return json.dumps({
        "apiVersion": "meridian.dev/v1alpha1", "kind": "TrainingArray", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "rows": rows, "key": list(key), **spec,
            "template": {
                "region": "$(row.region)", "roleArn": harness.ROLE,
                "algorithmSpecification": {
                    "trainingImage": "host", "trainingInputMode": "File", "containerEntrypoint": ["/bin/sh", "-c", program],
                    "metricDefinitions": [{"name": "images_per_second", "regex": "images_per_second=([0-9.]+)"}]},
                "environment": [{"name": column, "value": f"$(row.{column})"} for column in ("id", "seconds", "exit")],
                "outputDataConfig": {"s3OutputPath": f"s3://{jobs.BUCKET}/out"},
                "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 1},
                "stoppingCondition": {"maxRuntimeInSeconds": 600}}}})


def in_file(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
    file.write(text)
    file.close()
    return file.name


def submit(text, *more, check=True):
    return run("fanout", "submit", "-f", in_file(text), *more, check=check)


def results(name):
    """key → row of the table of results."""
    return {row["key"]: row for row in csv.DictReader(io.StringIO(run("fanout", "results", name, "-o", "csv").stdout))}


def jobs_of(region):
    listed = meridian.client("sagemaker", region).get_paginator("list_training_jobs").paginate()
    return [job["TrainingJobName"] for page in listed for job in page["TrainingJobSummaries"]]


def status(name):
    return json.loads(run("get", f"trainingarray/{name}", "-o", "json").stdout).get("status", {})


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError("it never came to be")
        time.sleep(0.2)


class Rows(unittest.TestCase):
    def test_a_query_makes_a_job_per_row_in_the_region_of_its_row(self):
        done = submit(array("drives", {"sql": "SELECT id, region, exit, seconds FROM drives ORDER BY id"}))
        self.assertIn("together", done.stdout)
        table = results("drives")
        self.assertEqual([table[str(i)]["region"] for i in range(4)], list(REGIONS))
        for i, region in enumerate(REGIONS):
            row = table[str(i)]
            self.assertEqual((row["state"], float(row["images_per_second"])), ("Succeeded", i))
            self.assertIn(row["job"], jobs_of(region))
            self.assertGreaterEqual(int(row["billable"]), 1)
        self.assertEqual(status("drives")["succeeded"], 4)
        line = run("catalog", "query", "SELECT count(*) AS n, sum(metrics ->> 'images_per_second') AS sum FROM "
                   "array_results WHERE array = 'drives'", "-o", "json").stdout
        self.assertEqual(json.loads(line), [{"n": 4, "sum": 6.0}])

    def test_a_manifest_of_the_articles_form_is_written_and_read(self):
        run("catalog", "query", "SELECT region, 's3://drives/' || id AS place FROM drives ORDER BY id", "--to",
            f"s3://{jobs.BUCKET}/array.txt")
        text = meridian.client("s3").get_object(Bucket=jobs.BUCKET, Key="array.txt")["Body"].read().decode()
        self.assertEqual(text.splitlines()[0], "us-east-1,s3://drives/0")
        specification = json.loads(array("manifest", {"manifest": f"s3://{jobs.BUCKET}/array.txt"}, key=["s3_location"]))
        specification["spec"]["template"]["environment"] = [
            {"name": "seconds", "value": "0"}, {"name": "exit", "value": "0"}, {"name": "id", "value": "1"},
            {"name": "PLACE", "value": "$(row.s3_location)"}]
        submit(json.dumps(specification))
        self.assertEqual(set(results("manifest")), {f"s3://drives/{i}" for i in range(4)})

    def test_rows_become_the_children_of_an_array_job(self):
        batch = meridian.client("batch")
        batch.register_job_definition(jobDefinitionName="line", type="container", containerProperties={
            "image": "host", "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "128"}],
            "command": ["sh", "-c", "echo child $AWS_BATCH_JOB_ARRAY_INDEX of $S3_ARRAY_FILE"]})
        place = f"s3://{jobs.BUCKET}/children.txt"
        done = run("catalog", "query", "SELECT region, id FROM drives", "--to", place, "--submit", "default:line")
        job = done.stderr.split()[-1]
        wait_for(lambda: batch.describe_jobs(jobs=[job])["jobs"][0]["status"] in ("SUCCEEDED", "FAILED"))
        described = batch.describe_jobs(jobs=[job])["jobs"][0]
        self.assertEqual((described["status"], described["arrayProperties"]["size"]), ("SUCCEEDED", 4))
        refused = run("catalog", "query", "SELECT 1 AS a", "--to", place, "--submit", "default:line", check=False)
        self.assertIn("the query gives 1 row; an array job has 2 to 10000 children", refused.stderr)

    def test_a_preview_starts_nothing(self):
        text = array("never", {"sql": "SELECT id, region, exit, seconds FROM drives"})
        done = run("fanout", "preview", "-f", in_file(text), "--shown", "1")
        self.assertIn("4 rows; nothing was started", done.stderr)
        self.assertRegex(done.stdout, r"seconds +real")
        self.assertIn("InstanceType: ml.m5.large", done.stdout)
        self.assertNotIn("never", run("get", "trainingarrays").stdout)

    def test_what_is_wrong_with_rows_or_template_is_told(self):
        for rows, change, words in (
                ({"sql": "SELECT id FROM drive"}, {}, "no such table: drive"),
                ({"sql": "DELETE FROM drives"}, {}, "only one SELECT"),
                ({"inline": [{"id": 1, "region": "us-east-1", "exit": 0}]}, {}, "no column 'seconds'"),
                ({"inline": [{"id": 1, "region": None, "exit": 0, "seconds": 0}]}, {}, "column 'region' is NULL"),
                ({"inline": [{"id": 1, "region": "us-east-1", "exit": 0, "seconds": 0}] * 2}, {}, "rows 1 and 2 have the same key"),
                ({"inline": [{"id": 1, "region": "us-east-1", "exit": 0, "seconds": 0}]}, {"instances": 2},
                 "unknown field 'instances'")):
            with self.subTest(words):
                specification = json.loads(array("wrong", rows))
                specification["spec"]["template"].update(change)
                done = run("fanout", "preview", "-f", in_file(json.dumps(specification)), check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
        done = submit(array("wrong", {"sql": "SELECT id FROM drive"}), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such table: drive", done.stdout + done.stderr)
        run("delete", "trainingarray/wrong")


class Example(unittest.TestCase):
    def test_four_campaigns_train_at_once_each_in_its_region(self):
        done = subprocess.run([str(harness.ROOT / "examples/grid/run.sh")], text=True, capture_output=True, timeout=400, env={
            **os.environ, "MERIDIAN_DATA": str(meridian.data), "PATH": f"{harness.BIN}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("together", done.stdout)
        table = results("digits-grid")
        self.assertEqual({row["region"] for row in table.values()}, set(REGIONS))
        for row in table.values():
            self.assertGreater(float(row["accuracy"]), 0.8, row)
        spans = [(float(row["started_ms"]), float(row["ended_ms"])) for row in json.loads(run(
            "catalog", "query", "SELECT started_ms, ended_ms FROM array_results WHERE array = 'digits-grid'", "-o", "json").stdout)]
        self.assertLess(max(start for start, _ in spans), min(end for _, end in spans), "all four ran at one time")


class Runs(unittest.TestCase):
    def test_a_later_run_takes_exactly_the_rows_that_changed_are_new_or_failed(self):
        def rows(*more):
            return {"inline": [{"id": i, "region": REGIONS[i % 4], "seconds": 0, "exit": code} for i, code in enumerate(more)]}
        done = submit(array("again", rows(0, 0, 0, 3)), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("AlgorithmError", done.stderr)
        first = results("again")
        self.assertEqual(first["3"]["state"], "Failed")
        changed = json.loads(array("again", rows(0, 0, 0, 0, 0)))  # row 3 is mended, row 4 is new
        changed["spec"]["rows"]["inline"][1]["seconds"] = 0.1      # and row 1 has changed
        submit(json.dumps(changed))
        second = results("again")
        self.assertEqual({key for key in second if second[key]["job"] != first.get(key, {}).get("job")}, {"1", "3", "4"})
        self.assertEqual([second[str(i)]["attempt"] for i in range(5)], ["1", "2", "1", "2", "1"])
        self.assertEqual({row["state"] for row in second.values()}, {"Succeeded"})

    def test_cancelled_its_jobs_stop_and_a_retry_goes_on(self):
        rows = {"inline": [{"id": i, "region": REGIONS[i], "seconds": 60, "exit": 0} for i in range(2)]}
        submit(array("slow", rows), "--detach")
        wait_for(lambda: status("slow").get("running") == 2)
        run("fanout", "cancel", "slow")
        wait_for(lambda: status("slow").get("stopped") == 2)
        self.assertEqual(status("slow")["phase"], "Suspended")
        run("fanout", "retry", "slow", "--detach")
        wait_for(lambda: status("slow").get("running") == 2)
        self.assertEqual([row["attempt"] for row in results("slow").values()], ["2", "2"])
        run("delete", "trainingarray/slow")
        for region in REGIONS[:2]:
            sagemaker = meridian.client("sagemaker", region)
            for name in jobs_of(region):
                if name.startswith("slow-"):
                    self.assertEqual(sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"], "Stopped")
        self.assertEqual(run("catalog", "query", "SELECT count(*) AS n FROM array_results WHERE array = 'slow'",
                             "-o", "json").stdout.strip(), json.dumps([{"n": 0}], indent=2))

    def test_killed_in_mid_flight_the_daemon_runs_each_row_once(self):
        rows = {"inline": [{"id": i, "region": REGIONS[i % 4], "seconds": 2, "exit": 0} for i in range(12)]}
        submit(array("killed", rows, parallelism=8), "--detach")
        for _ in range(2):
            time.sleep(0.7)
            meridian.kill()
            meridian.start()
        wait_for(lambda: status("killed").get("succeeded") == 12, 120)
        table = results("killed")
        self.assertEqual({row["attempt"] for row in table.values()}, {"1"})
        for region in REGIONS:
            made = [name for name in jobs_of(region) if name.startswith("killed-")]
            self.assertEqual(sorted(made), sorted(row["job"] for row in table.values() if row["region"] == region))


if __name__ == "__main__":
    unittest.main()
