"""Logs and metrics of a real job through boto3's logs and cloudwatch clients (issue 2 point 6; cases C 31, 34, 36).

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import time
import unittest

from botocore.exceptions import ClientError

import harness
import jobs

GROUP = "/aws/sagemaker/TrainingJobs"

SCRIPT = r"""
import os, sys
print("host", os.environ.get("SM_CURRENT_HOST"), flush=True)
for epoch in range(3):
    print(f"epoch={epoch} loss={0.5 / 10 ** epoch:e} lr=1e-05 cat=dog;", flush=True)
    print(f"[{epoch}]\ttrain-error:0.5\tvalidation-error:0.{epoch + 1}", flush=True)
print("{metricName: f1, metricValue: 0.75}", flush=True)
print("red \x1b[31mtext\x1b[0m", flush=True)
"""

DEFINITIONS = [
    {"Name": "loss", "Regex": r"loss=([-+0-9.e]+)"},
    {"Name": "f1", "Regex": r"{metricName: ([\w|-]+), metricValue: ((-?\d+)(\.\d+)?)}"},
    {"Name": "validation:error", "Regex": r".*\[[0-9]+\].*#011validation-error:(\S+)"},
    {"Name": "lr", "Regex": r"lr=([0-9\.]+)"},
    {"Name": "cat", "Regex": r"cat=(.*);"},
    {"Name": "absent", "Regex": r"Loss=([0-9.e-]+)"},
]


def setUpModule():
    global meridian, logs, cloudwatch, job, streams
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    logs, cloudwatch = meridian.client("logs"), meridian.client("cloudwatch")
    job = jobs.script_job(meridian, "telemetry", SCRIPT, AlgorithmSpecification={"MetricDefinitions": DEFINITIONS})
    if job["TrainingJobStatus"] != "Completed":
        raise AssertionError(job.get("FailureReason"))
    streams = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix="telemetry/",
                                        orderBy="LogStreamName", limit=1)


def statistics(name, dimension="TrainingJobName", value="telemetry", statistics=("Average", "SampleCount", "Minimum")):
    now = datetime.datetime.now(datetime.timezone.utc)
    answer = cloudwatch.get_metric_statistics(
        Namespace=GROUP, MetricName=name, Dimensions=[{"Name": dimension, "Value": value}],
        StartTime=now - datetime.timedelta(minutes=30), EndTime=now + datetime.timedelta(minutes=2), Period=60,
        Statistics=list(statistics))
    return answer["Datapoints"]


class Logs(unittest.TestCase):
    def stream(self):
        return streams["logStreams"][0]["logStreamName"]

    def test_a_job_has_one_stream_per_host_and_no_token(self):
        self.assertEqual(len(streams["logStreams"]), 1)
        self.assertRegex(self.stream(), r"^telemetry/algo-1-\d{10}$")
        self.assertNotIn("nextToken", streams)

    def test_events_come_in_pages_until_the_token_stays(self):
        arguments = dict(logGroupName=GROUP, logStreamName=self.stream(), startFromHead=True, limit=2)
        messages, token = [], None
        while True:
            page = logs.get_log_events(**arguments, **({"nextToken": token} if token else {}))
            messages += [e["message"] for e in page["events"]]
            if page["nextForwardToken"] == token:
                self.assertEqual(page["events"], [])
                break
            token = page["nextForwardToken"]
        self.assertIn("[1]#011train-error:0.5#011validation-error:0.2", messages)
        self.assertIn("red #033[31mtext#033[0m", messages)
        self.assertEqual(len([m for m in messages if m.startswith("epoch=")]), 3)

    def test_filter_finds_lines_of_the_job(self):
        found = logs.filter_log_events(logGroupName=GROUP, logStreamNamePrefix="telemetry/",
                                       filterPattern='"epoch=1"')["events"]
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["logStreamName"], self.stream())

    def test_an_absent_group_is_resource_not_found(self):
        with self.assertRaises(ClientError) as caught:
            logs.describe_log_streams(logGroupName="/none")
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], "ResourceNotFoundException")
        self.assertEqual(error["Message"], "The specified log group does not exist.")

    def test_a_users_own_stream_keeps_text_as_it_was(self):
        logs.create_log_group(logGroupName="own")
        logs.create_log_stream(logGroupName="own", logStreamName="s")
        now = int(time.time() * 1000)
        text = "tab\tand\nnewline \N{SNOWMAN}"
        logs.put_log_events(logGroupName="own", logStreamName="s", logEvents=[{"timestamp": now, "message": text}])
        event = logs.get_log_events(logGroupName="own", logStreamName="s", startFromHead=True)["events"][0]
        self.assertEqual((event["timestamp"], event["message"]), (now, text))
        logs.put_retention_policy(logGroupName="own", retentionInDays=7)
        group = logs.describe_log_groups(logGroupNamePrefix="own")["logGroups"][0]
        self.assertEqual(group["retentionInDays"], 7)
        logs.delete_log_group(logGroupName="own")
        self.assertEqual(logs.describe_log_groups(logGroupNamePrefix="own")["logGroups"], [])


class Metrics(unittest.TestCase):
    def test_final_metrics_are_the_last_values(self):
        final = {m["MetricName"]: m["Value"] for m in job["FinalMetricDataList"]}
        self.assertEqual(set(final), {"loss", "f1", "validation:error"})
        self.assertAlmostEqual(final["loss"], 5e-3)
        self.assertAlmostEqual(final["f1"], 0.75)
        self.assertAlmostEqual(final["validation:error"], 0.3)

    def test_the_series_has_every_value(self):
        points = statistics("loss")
        self.assertEqual(sum(p["SampleCount"] for p in points), 3)
        self.assertAlmostEqual(min(p["Minimum"] for p in points), 5e-3)

    def test_parts_of_numbers_and_text_give_no_points(self):
        self.assertEqual(statistics("lr"), [])
        self.assertEqual(statistics("cat"), [])

    def test_metrics_are_listed_by_job(self):
        found = cloudwatch.list_metrics(Namespace=GROUP, Dimensions=[{"Name": "TrainingJobName", "Value": "telemetry"}])
        self.assertEqual({m["MetricName"] for m in found["Metrics"]}, {"loss", "f1", "validation:error"})

    def test_a_short_job_has_host_metrics(self):
        points = statistics("CPUUtilization", "Host", "telemetry/algo-1")
        self.assertGreaterEqual(len(points), 1)
        self.assertGreater(statistics("MemoryUtilization", "Host", "telemetry/algo-1")[0]["Average"], 0)

    def test_put_values_are_aggregated(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        cloudwatch.put_metric_data(Namespace="own", MetricData=[
            {"MetricName": "m", "Value": v, "Unit": "Count", "Timestamp": now} for v in (1, 2, 6)])
        result = cloudwatch.get_metric_data(
            StartTime=now - datetime.timedelta(minutes=5), EndTime=now + datetime.timedelta(minutes=5),
            MetricDataQueries=[{"Id": "a", "MetricStat": {"Metric": {"Namespace": "own", "MetricName": "m"},
                                                          "Period": 600, "Stat": stat}} for stat in ("Sum",)] +
            [{"Id": "b", "MetricStat": {"Metric": {"Namespace": "own", "MetricName": "m"}, "Period": 600,
                                        "Stat": "p50"}}])["MetricDataResults"]
        values = {r["Id"]: r["Values"] for r in result}
        self.assertEqual(values, {"a": [9.0], "b": [2.0]})

    def test_expressions_are_refused_clearly(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        with self.assertRaises(ClientError) as caught:
            cloudwatch.get_metric_data(StartTime=now - datetime.timedelta(minutes=5), EndTime=now,
                                       MetricDataQueries=[{"Id": "e", "Expression": "SUM(METRICS())", "Period": 60}])
        self.assertIn("expressions are not supported", str(caught.exception))


class Restart(unittest.TestCase):
    def test_a_killed_daemon_doubles_and_loses_no_point(self):
        script = "import time\nfor i in range(60):\n    print(f'value={i}', flush=True)\n    time.sleep(0.1)\n"
        jobs.script_job(meridian, "killed", script, wait=False,
                        AlgorithmSpecification={"MetricDefinitions": [{"Name": "value", "Regex": r"value=(\d+)"}]})
        harness.wait_for(lambda: statistics("value", value="killed"), 60, "the first metric value")
        for _ in range(2):
            meridian.kill()
            meridian.start()
            reconnect()
            time.sleep(0.7)
        done = jobs.wait_end(meridian, "killed")
        self.assertEqual(done["TrainingJobStatus"], "Completed", done.get("FailureReason"))
        points = statistics("value", value="killed", statistics=("SampleCount", "Sum"))
        self.assertEqual(sum(p["SampleCount"] for p in points), 60)
        self.assertEqual(sum(p["Sum"] for p in points), sum(range(60)))
        self.assertEqual(done["FinalMetricDataList"][0]["Value"], 59)


def reconnect():
    """The restarted daemon listens on another port."""
    global logs, cloudwatch
    logs, cloudwatch = meridian.client("logs"), meridian.client("cloudwatch")


if __name__ == "__main__":
    unittest.main()
