"""Where the rows of an array would run and why, and that they run there.

SPDX-License-Identifier: Apache-2.0
"""
import json
import tempfile
import unittest

import harness
import jobs

REGIONS = ("us-east-1", "eu-west-1")


def setUpModule():
    global meridian
    meridian = harness.Daemon(regions=REGIONS).start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)


def in_file(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
    file.write(text)
    file.close()
    return file.name


def array(name, rows=3, instance_type="ml.p3.16xlarge", **spec):
    return in_file(json.dumps({
        "apiVersion": "meridian.dev/v1alpha1", "kind": "TrainingArray", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "rows": {"inline": [{"id": str(i), "uri": f"s3://drives/{i}"} for i in range(rows)]}, "key": ["id"], **spec,
            "template": {
                "roleArn": harness.ROLE,
                "algorithmSpecification": {
                    "trainingImage": "host", "trainingInputMode": "File",
                    "containerEntrypoint": ["/bin/sh", "-c", "true"]},
                "outputDataConfig": {"s3OutputPath": f"s3://{jobs.BUCKET}/out"},
                "resourceConfig": {"instanceCount": 1, "instanceType": instance_type, "volumeSizeInGB": 1},
                "stoppingCondition": {"maxRuntimeInSeconds": 3600}}}}))


class Plans(unittest.TestCase):
    def plan(self, file, *more):
        return json.loads(meridian.cli("plan", "-f", file, "-o", "json", *more).stdout)

    def test_the_shipped_prices_carry_year_and_source(self):
        out = meridian.cli("catalog", "query", "SELECT price, as_of, source FROM offers WHERE region = 'us-east-1' AND "
                  "instance_type = 'ml.p3.16xlarge' AND market = 'on-demand'", "-o", "csv").stdout
        self.assertIn("24.48,2022,EC2 list price 2022", out)

    def test_the_cheaper_region_is_taken_and_the_other_says_what_would_flip_it(self):
        answer = self.plan(array("cheap", placement="cost"), "--why", "1")
        self.assertEqual({row["Region"] for row in answer["Rows"]}, {"us-east-1"})
        self.assertTrue(answer["Exact"])
        self.assertAlmostEqual(answer["Cost"]["Total"], 3 * 24.48)
        other = next(c for c in answer["Why"][0]["Candidates"] if c["Region"] == "eu-west-1" and c["Market"] == "on-demand")
        self.assertEqual(other["Flip"], "costs 1.96 USD more: taken if its price fell by 1.96 USD per hour")
        self.assertEqual(sum(other["Cost"][term] for term in ("Instances", "Copy", "LostWork")), other["Cost"]["Total"])

    def test_the_table_shows_rows_totals_and_reasons(self):
        text = meridian.cli("plan", "-f", array("shown", placement="cost", budget={"hard": 60}), "--why", "0").stdout
        self.assertRegex(text, r"ROW +REGION +MARKET +COPY +START +END +COST")
        self.assertIn("2 of 3 rows placed", text)
        self.assertIn("1 row waits: budget: it costs 24.48 USD at least, and 48.96 USD of 60.00 USD", text)
        self.assertRegex(text, r"eu-west-1 +spot .*spot is not wanted")

    def test_a_type_without_a_price_says_so(self):
        text = meridian.cli("plan", "-f", array("unpriced", placement="cost", instance_type="ml.m5.large")).stdout
        self.assertIn("no price is known for 3 rows", text)
        self.assertIn("no price", text.splitlines()[1])

    def test_rows_run_where_the_plan_says_and_those_beyond_the_budget_wait(self):
        file = array("planned", placement="cost", budget={"hard": 60}, allowedRegions=["eu-west-1"])
        meridian.cli("fanout", "submit", "-f", file, "-d")
        harness.wait_for(lambda: self.states("planned").get("Succeeded", 0) == 2, 60, "two rows succeeded")
        rows = json.loads(meridian.cli("catalog", "query", "SELECT region, state, reason FROM array_results WHERE "
                              "array = 'planned' ORDER BY state", "-o", "json").stdout)
        self.assertEqual([row["region"] for row in rows if row["state"] == "Succeeded"], ["eu-west-1"] * 2)
        waits = next(row for row in rows if row["state"] == "Pending")
        self.assertIn("budget: it costs 26.44 USD at least", waits["reason"])

    def states(self, name):
        rows = json.loads(meridian.cli("catalog", "query", f"SELECT state, count(*) AS n FROM array_results WHERE array = '{name}' "
                              "GROUP BY state", "-o", "json").stdout)
        return {row["state"]: row["n"] for row in rows}

    def test_a_region_in_the_template_contradicts_a_placement(self):
        text = json.loads(open(array("both", placement="cost")).read())
        text["spec"]["template"]["region"] = "us-east-1"
        done = meridian.cli("plan", "-f", in_file(json.dumps(text)), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("spec.template.region fixes the region", done.stderr)


if __name__ == "__main__":
    unittest.main()
