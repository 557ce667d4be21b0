"""Training jobs end to end: boto3 and the aws CLI of Debian against a real daemon (issue points A2, cases A and B).

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import textwrap
import time
import unittest

from botocore.exceptions import ClientError

import harness
import jobs


def setUpModule():
    global meridian
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)



def script(text):
    return textwrap.dedent(text)


PRINT_ARGV = script("""
    import json, sys
    print("argv=" + json.dumps(sys.argv[1:]), flush=True)
""")


class Lifecycle(unittest.TestCase):
    def test_create_waiter_logs_artifact(self):
        s3 = meridian.client("s3")
        s3.put_object(Bucket=jobs.BUCKET, Key="data/train/a.csv", Body=b"1,2,3\n")
        s3.put_object(Bucket=jobs.BUCKET, Key="data/train/sub/b.csv", Body=b"4,5,6\n")
        source = jobs.upload_source(meridian, {"train.py": script("""
            import os, pathlib
            channel = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"])
            for p in sorted(channel.rglob("*")):
                if p.is_file():
                    print("file", p.relative_to(channel), p.read_text().strip(), flush=True)
            for epoch in range(3):
                print(f"epoch={epoch} loss={1 / (epoch + 1):.4f}", flush=True)
            pathlib.Path(os.environ["SM_MODEL_DIR"], "weights.txt").write_text("42")
            pathlib.Path(os.environ["SM_OUTPUT_DATA_DIR"], "report.txt").write_text("fine")
        """)}, key="code/lifecycle.tar.gz")
        sagemaker = meridian.client("sagemaker")
        made = sagemaker.create_training_job(**jobs.request(
            "lifecycle", source,
            AlgorithmSpecification={"MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]},
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/data/train/"}}}]))
        self.assertEqual(made["TrainingJobArn"],
                         "arn:aws:sagemaker:us-west-2:000000000000:training-job/lifecycle")
        sagemaker.get_waiter("training_job_completed_or_stopped").wait(
            TrainingJobName="lifecycle", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        job = jobs.describe(meridian, "lifecycle")
        self.assertEqual(job["TrainingJobStatus"], "Completed")
        self.assertEqual(job["SecondaryStatus"], "Completed")
        self.assertEqual(job["ModelArtifacts"]["S3ModelArtifacts"],
                         f"s3://{jobs.BUCKET}/out/lifecycle/output/model.tar.gz")
        self.assertEqual(jobs.artifact(meridian, job), {"weights.txt": b"42"})
        self.assertEqual(jobs.archive(meridian, jobs.BUCKET, "out/lifecycle/output/output.tar.gz"),
                         {"report.txt": b"fine"})
        text = jobs.log_text(meridian, "lifecycle")
        self.assertIn("file a.csv 1,2,3", text)
        self.assertIn("file sub/b.csv 4,5,6", text)
        metrics = {m["MetricName"]: m["Value"] for m in job["FinalMetricDataList"]}
        self.assertAlmostEqual(metrics["loss"], 0.3333, places=4)
        steps = [t["Status"] for t in job["SecondaryStatusTransitions"]]
        for step in ("Starting", "Downloading", "Training", "Uploading", "Completed"):
            self.assertIn(step, steps)
        for transition in job["SecondaryStatusTransitions"]:
            self.assertTrue(transition["StatusMessage"])
        self.assertGreaterEqual(job["TrainingTimeInSeconds"], 1)
        self.assertGreaterEqual(job["BillableTimeInSeconds"], 1)
        self.assertGreaterEqual(job["TrainingEndTime"], job["TrainingStartTime"])

    def test_stop_uploads_what_there_is(self):
        jobs.script_job(meridian, "stopped", script("""
            import os, pathlib, signal, sys, time
            def stop(*_):
                pathlib.Path(os.environ["SM_MODEL_DIR"], "partial.txt").write_text("stopped in time")
                sys.exit(0)
            signal.signal(signal.SIGTERM, stop)
            print("ready", flush=True)
            while True: time.sleep(0.1)
        """), wait=False)
        jobs.wait_log(meridian, "stopped", "ready")
        meridian.client("sagemaker").stop_training_job(TrainingJobName="stopped")
        job = jobs.wait_end(meridian, "stopped")
        self.assertEqual(job["TrainingJobStatus"], "Stopped")
        self.assertEqual(jobs.artifact(meridian, job), {"partial.txt": b"stopped in time"})
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").stop_training_job(TrainingJobName="stopped")
        self.assertEqual(raised.exception.response["Error"]["Code"], "ValidationException")

    def test_exit_3_with_stderr_is_the_failure_reason(self):
        job = jobs.script_job(meridian, "exit-three", script("""
            import sys
            print("the data has no rows", file=sys.stderr, flush=True)
            sys.exit(3)
        """))
        self.assertEqual(job["TrainingJobStatus"], "Failed")
        self.assertIn("AlgorithmError", job["FailureReason"])
        self.assertIn("the data has no rows", job["FailureReason"])
        self.assertIn("exit code: 3", job["FailureReason"])

    def test_the_programs_own_failure_file_wins(self):
        job = jobs.script_job(meridian, "own-reason", script("""
            import sys
            open("/opt/ml/output/failure", "w").write("learning rate diverged")
            sys.exit(1)
        """))
        self.assertIn("learning rate diverged", job["FailureReason"])

    def test_the_same_name_twice_is_resource_in_use(self):
        jobs.script_job(meridian, "twice", "print('once')")
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").create_training_job(**jobs.request("twice", f"s3://{jobs.BUCKET}/code/twice.tar.gz"))
        self.assertEqual(raised.exception.response["Error"]["Code"], "ResourceInUse")

    def test_a_missing_job_is_a_validation_exception(self):
        with self.assertRaises(ClientError) as raised:
            jobs.describe(meridian, "nothing-here")
        error = raised.exception.response["Error"]
        self.assertEqual(error["Code"], "ValidationException")
        self.assertTrue(error["Message"].startswith("Requested resource not found"), error["Message"])

    def test_a_gang_above_the_pool_is_refused_at_create(self):
        source = jobs.upload_source(meridian, {"train.py": "pass"}, key="code/big.tar.gz")
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").create_training_job(**jobs.request("too-big", source, instances=128))
        error = raised.exception.response["Error"]
        self.assertEqual(error["Code"], "ResourceLimitExceeded")
        self.assertIn("128", error["Message"])
        self.assertIn("8", error["Message"])

    def test_all_violations_come_at_once(self):
        with self.assertRaises(ClientError) as raised:
            meridian.client("sagemaker").create_training_job(**jobs.request(
                "x" * 70, None, RoleArn="nobody-of-any-importance", ResourceConfig={"InstanceCount": 0}))
        message = raised.exception.response["Error"]["Message"]
        self.assertIn("validation errors detected", message)
        self.assertIn("trainingJobName", message)
        self.assertIn("Member must have length less than or equal to 63", message)

    def test_max_runtime_ends_the_job_as_stopped(self):
        job = jobs.script_job(meridian, "too-long", "import time\nprint('begun', flush=True)\ntime.sleep(300)",
                              StoppingCondition={"MaxRuntimeInSeconds": 2})
        self.assertEqual(job["TrainingJobStatus"], "Stopped")
        self.assertEqual(job["SecondaryStatus"], "MaxRuntimeExceeded")

    def test_spot_reclaim_resumes_from_the_checkpoint(self):
        jobs.script_job(meridian, "spot", script("""
            import os, pathlib, time
            state = pathlib.Path("/opt/ml/checkpoints/step.txt")
            step = int(state.read_text()) if state.exists() else 0
            print(f"start at {step}", flush=True)
            while step < 20:
                step += 1
                time.sleep(0.1)
                temporary = state.with_suffix(".tmp")
                temporary.write_text(str(step))
                temporary.rename(state)
                print(f"step {step}", flush=True)
        """), wait=False, EnableManagedSpotTraining=True,
            StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
            CheckpointConfig={"S3Uri": f"s3://{jobs.BUCKET}/checkpoints/spot"})
        jobs.wait_log(meridian, "spot", "step 5")
        meridian.cli("spot", "reclaim", "spot")
        job = jobs.wait_end(meridian, "spot")
        self.assertEqual(job["TrainingJobStatus"], "Completed")
        self.assertIn("Interrupted", [t["Status"] for t in job["SecondaryStatusTransitions"]])
        starts = [line for line in jobs.log_text(meridian, "spot").splitlines() if line.startswith("start at")]
        self.assertEqual(len(starts), 2)
        self.assertGreaterEqual(int(starts[1].split()[-1]), 5)


class Parameters(unittest.TestCase):
    """Cases A of the field."""

    def argv(self, name, hyperparameters):
        job = jobs.script_job(meridian, name, PRINT_ARGV, hyperparameters=hyperparameters)
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        return jobs.printed_json(meridian, name, "argv")

    def test_a_value_with_spaces_is_one_word(self):
        self.assertEqual(self.argv("spaces", {"key": "a b"}), ["--key", "a b"])

    def test_text_that_is_not_json_passes_unchanged(self):
        self.assertEqual(self.argv("plain-text", {"b": "some text"}), ["-b", "some text"])

    def test_the_text_false_stays_text(self):
        self.assertEqual(self.argv("false-text", {"flag": "False"}), ["--flag", "False"])

    def test_hyperparameters_json_holds_what_the_api_received(self):
        job = jobs.script_job(meridian, "verbatim", script("""
            import json
            print("file=" + open("/opt/ml/input/config/hyperparameters.json").read().strip(), flush=True)
        """), hyperparameters={"objective": "\"reg:squarederror\"", "plain": "reg:squarederror"})
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        received = jobs.printed_json(meridian, "verbatim", "file")
        self.assertEqual(received["objective"], "\"reg:squarederror\"")
        self.assertEqual(received["plain"], "reg:squarederror")

    def test_a_shell_entry_point_gets_all_arguments(self):
        source = jobs.upload_source(meridian, {"train.sh": 'for a in "$@"; do echo "arg:$a"; done\n'},
                                    key="code/shell.tar.gz")
        meridian.client("sagemaker").create_training_job(**jobs.request(
            "shell", source, program="train.sh", hyperparameters={"alpha": "1 2", "beta": "x"}))
        self.assertEqual(jobs.wait_end(meridian, "shell")["TrainingJobStatus"], "Completed")
        lines = [l for l in jobs.log_text(meridian, "shell").splitlines() if l.startswith("arg:")]
        self.assertEqual(lines, ["arg:--alpha", "arg:1 2", "arg:--beta", "arg:x"])

    def test_an_own_entry_point_is_run_as_given(self):
        body = jobs.request("entry", None, AlgorithmSpecification={
            "ContainerEntrypoint": ["/bin/sh", "-c", "echo own:$0:$1"], "ContainerArguments": ["a", "b c"]})
        meridian.client("sagemaker").create_training_job(**body)
        job = jobs.wait_end(meridian, "entry")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn("own:a:b c", jobs.log_text(meridian, "entry"))

    def test_a_missing_program_names_the_path(self):
        source = jobs.upload_source(meridian, {"other.py": "pass"}, key="code/missing.tar.gz")
        meridian.client("sagemaker").create_training_job(**jobs.request("missing-program", source, program="foo.py"))
        job = jobs.wait_end(meridian, "missing-program")
        self.assertEqual(job["TrainingJobStatus"], "Failed")
        self.assertIn("foo.py", job["FailureReason"])

    def test_an_unknown_image_lists_the_ways(self):
        source = jobs.upload_source(meridian, {"train.py": "pass"}, key="code/image.tar.gz")
        try:
            meridian.client("sagemaker").create_training_job(**jobs.request(
                "odd-image", source, image="example.com/team/unheard-of:1"))
            reason = jobs.wait_end(meridian, "odd-image")["FailureReason"]
        except ClientError as error:
            reason = str(error)
        self.assertIn("unheard-of", reason)
        self.assertIn("host", reason)

    def test_the_script_environment(self):
        job = jobs.script_job(meridian, "environment", script("""
            import json, os
            print("env=" + json.dumps({k: v for k, v in os.environ.items()
                                       if k.startswith(("SM_", "TRAINING_", "AWS_REGION", "CUSTOM"))}), flush=True)
        """), hyperparameters={"learning-rate": "0.1"}, instances=2, Environment={"CUSTOM": "yes"})
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        env = jobs.printed_json(meridian, "environment", "env")
        self.assertEqual(json.loads(env["SM_HOSTS"]), ["algo-1", "algo-2"])
        self.assertEqual(env["SM_HP_LEARNING-RATE"], "0.1")
        self.assertEqual(env["SM_MODEL_DIR"], "/opt/ml/model")
        self.assertEqual(env["SM_USER_ENTRY_POINT"], "train.py")
        self.assertEqual(json.loads(env["SM_USER_ARGS"]), ["--learning-rate", "0.1"])
        self.assertEqual(env["TRAINING_JOB_NAME"], "environment")
        self.assertEqual(env["AWS_REGION"], "us-west-2")
        self.assertEqual(env["CUSTOM"], "yes")
        self.assertGreaterEqual(int(env["SM_NUM_CPUS"]), 1)


class Data(unittest.TestCase):
    def test_a_program_that_wrecks_its_channel_changes_no_object(self):
        s3 = meridian.client("s3")
        before = {}
        for i in range(5):
            key = f"precious/{i}.bin"
            s3.put_object(Bucket=jobs.BUCKET, Key=key, Body=os.urandom(1000 + i))
            before[key] = s3.get_object(Bucket=jobs.BUCKET, Key=key)["Body"].read()
        job = jobs.script_job(meridian, "wrecker", script("""
            import os, pathlib
            for p in pathlib.Path(os.environ["SM_CHANNEL_TRAIN"]).rglob("*"):
                for harm in (lambda: os.chmod(p, 0o777), lambda: open(p, "w").close(), lambda: os.unlink(p)):
                    try:
                        harm()
                        print("did", p, flush=True)
                    except OSError as e:
                        print("refused", p, e, flush=True)
        """), InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/precious"}}}])
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        for key, body in before.items():
            self.assertEqual(s3.get_object(Bucket=jobs.BUCKET, Key=key)["Body"].read(), body)

    def test_pipe_mode_streams_each_epoch(self):
        s3 = meridian.client("s3")
        s3.put_object(Bucket=jobs.BUCKET, Key="pipe/a", Body=b"first\n")
        s3.put_object(Bucket=jobs.BUCKET, Key="pipe/b", Body=b"second\n")
        job = jobs.script_job(meridian, "piped", script("""
            for epoch in range(2):
                with open(f"/opt/ml/input/data/train_{epoch}") as fifo:
                    print(f"epoch {epoch}:", fifo.read().split(), flush=True)
        """), AlgorithmSpecification={"TrainingInputMode": "Pipe"},
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/pipe/"}}}])
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        text = jobs.log_text(meridian, "piped")
        for epoch in range(2):
            self.assertIn(f"epoch {epoch}: ['first', 'second']", text)

    def test_sharding_gives_each_instance_its_own_objects(self):
        s3 = meridian.client("s3")
        for i in range(6):
            s3.put_object(Bucket=jobs.BUCKET, Key=f"shards/{i}", Body=b"x")
        job = jobs.script_job(meridian, "sharded", script("""
            import os
            print("mine", os.environ["SM_CURRENT_HOST"], sorted(os.listdir(os.environ["SM_CHANNEL_TRAIN"])), flush=True)
        """), instances=2, InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/shards/",
            "S3DataDistributionType": "ShardedByS3Key"}}}])
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        shards = [eval(l.split(" ", 2)[2]) for l in jobs.log_text(meridian, "sharded").splitlines()
                  if l.startswith("mine")]
        self.assertEqual(len(shards), 2)
        self.assertEqual(sorted(shards[0] + shards[1]), [str(i) for i in range(6)])
        self.assertTrue(shards[0] and shards[1])


class Gangs(unittest.TestCase):
    def test_one_failing_instance_ends_the_gang_at_once(self):
        started = time.monotonic()
        job = jobs.script_job(meridian, "one-fails", script("""
            import os, sys, time
            if os.environ["SM_CURRENT_HOST"] == "algo-2":
                time.sleep(0.5)
                sys.exit(9)
            time.sleep(600)
        """), instances=2)
        self.assertEqual(job["TrainingJobStatus"], "Failed")
        self.assertIn("exit code: 9", job["FailureReason"])
        self.assertLess(time.monotonic() - started, 110, "the other instance was left to sleep")

    def test_a_gang_that_waits_says_for_whom(self):
        jobs.script_job(meridian, "holder", "import time\nprint('holding', flush=True)\ntime.sleep(300)",
                        wait=False, instances=8)
        jobs.wait_log(meridian, "holder", "holding")
        jobs.script_job(meridian, "waiter", "print('my turn')", wait=False, instances=2)
        message = harness.wait_for(
            lambda: next((t["StatusMessage"] for t in jobs.describe(meridian, "waiter")["SecondaryStatusTransitions"]
                          if "holder" in t["StatusMessage"]), None), 20, "a message that names the holder")
        self.assertIn("2", message)
        meridian.client("sagemaker").stop_training_job(TrainingJobName="holder")
        self.assertEqual(jobs.wait_end(meridian, "waiter")["TrainingJobStatus"], "Completed")
        self.assertEqual(jobs.wait_end(meridian, "holder")["TrainingJobStatus"], "Stopped")


class AwsCli(unittest.TestCase):
    """Debian's aws, found through DATA/bin as `meridian env` puts it."""

    def aws(self, *args):
        done = subprocess.run(["aws", *args], env=meridian.env, text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_describe_list_and_logs(self):
        jobs.script_job(meridian, "by-cli", "print('hello from the job')")
        described = json.loads(self.aws("sagemaker", "describe-training-job", "--training-job-name", "by-cli"))
        self.assertEqual(described["TrainingJobStatus"], "Completed")
        listed = json.loads(self.aws("sagemaker", "list-training-jobs", "--name-contains", "by-cli"))
        self.assertEqual([j["TrainingJobName"] for j in listed["TrainingJobSummaries"]], ["by-cli"])
        events = json.loads(self.aws("logs", "filter-log-events", "--log-group-name", "/aws/sagemaker/TrainingJobs",
                                     "--log-stream-name-prefix", "by-cli/"))
        self.assertIn("hello from the job", [e["message"] for e in events["events"]])

    def test_identity(self):
        self.assertEqual(json.loads(self.aws("sts", "get-caller-identity"))["Account"], "000000000000")


if __name__ == "__main__":
    unittest.main()
