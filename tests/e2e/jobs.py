"""Training requests for end-to-end tests: small scripts as jobs, through boto3 as a user would.

SPDX-License-Identifier: Apache-2.0
"""
import io
import json
import tarfile
import time

import harness

BUCKET = "training-bucket"
TERMINAL = ("Completed", "Failed", "Stopped")


def ensure_bucket(meridian, bucket=BUCKET):
    s3 = meridian.client("s3")
    if bucket not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": meridian.regions[0]})
    return s3


def upload_source(meridian, files, key="code/sourcedir.tar.gz"):
    """`files`: name → text. Returns the S3 URI of the tarball."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = 0o755
            archive.addfile(member, io.BytesIO(data))
    ensure_bucket(meridian).put_object(Bucket=BUCKET, Key=key, Body=packed.getvalue())
    return f"s3://{BUCKET}/{key}"


def request(name, source=None, program="train.py", hyperparameters=None, instances=1, image="host", **more):
    """A CreateTrainingJob request that runs `program` of `source` (an S3 URI)."""
    values = dict(hyperparameters or {})
    if source is not None:
        values.setdefault("sagemaker_program", program)
        values.setdefault("sagemaker_submit_directory", source)
    body = {
        "TrainingJobName": name,
        "RoleArn": harness.ROLE,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": instances, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        "HyperParameters": values,
    }
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(body.get(key), dict):
            body[key] = {**body[key], **value}
        else:
            body[key] = value
    return body


def script_job(meridian, name, script, wait=True, **more):
    """Uploads `script` as train.py, creates the job, waits for its end; returns Describe."""
    source = upload_source(meridian, {"train.py": script}, key=f"code/{name}.tar.gz")
    sagemaker = meridian.client("sagemaker")
    sagemaker.create_training_job(**request(name, source, **more))
    return wait_end(meridian, name) if wait else sagemaker.describe_training_job(TrainingJobName=name)


def describe(meridian, name):
    return meridian.client("sagemaker").describe_training_job(TrainingJobName=name)


def wait_end(meridian, name, seconds=120):
    sagemaker = meridian.client("sagemaker")
    deadline = time.monotonic() + seconds
    while True:
        job = sagemaker.describe_training_job(TrainingJobName=name)
        if job["TrainingJobStatus"] in TERMINAL:
            return job
        if time.monotonic() > deadline:
            raise AssertionError(f"{name} is {job['TrainingJobStatus']}/{job['SecondaryStatus']} after {seconds} s: "
                                 f"{job['SecondaryStatusTransitions'][-1:]}\n{log_text(meridian, name)}")
        time.sleep(0.1)


def wait_log(meridian, name, text, seconds=60):
    """Waits until a log line of the job holds `text`."""
    return harness.wait_for(lambda: text in log_text(meridian, name), seconds, f"'{text}' in the log of {name}")


def log_events(meridian, name):
    logs = meridian.client("logs")
    try:
        streams = logs.describe_log_streams(logGroupName="/aws/sagemaker/TrainingJobs",
                                            logStreamNamePrefix=name + "/")["logStreams"]
    except logs.exceptions.ResourceNotFoundException:
        return []
    events = []
    for stream in streams:
        token = {}
        while True:
            page = logs.get_log_events(logGroupName="/aws/sagemaker/TrainingJobs",
                                       logStreamName=stream["logStreamName"], startFromHead=True, **token)
            events += page["events"]
            if token.get("nextToken") == page["nextForwardToken"]:
                break
            token = {"nextToken": page["nextForwardToken"]}
    return events


def log_text(meridian, name):
    return "\n".join(e["message"] for e in log_events(meridian, name))


def artifact(meridian, job):
    """The model archive of a finished job: name → bytes."""
    bucket, key = job["ModelArtifacts"]["S3ModelArtifacts"].removeprefix("s3://").split("/", 1)
    return archive(meridian, bucket, key)


def archive(meridian, bucket, key):
    body = meridian.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as packed:
        return {m.name.removeprefix("./"): packed.extractfile(m).read() for m in packed if m.isfile()}


def printed_json(meridian, name, label):
    """The JSON after `label=` on a log line."""
    for line in log_text(meridian, name).splitlines():
        if line.startswith(label + "="):
            return json.loads(line[len(label) + 1:])
    raise AssertionError(f"no line '{label}=…' in the log of {name}:\n{log_text(meridian, name)}")
