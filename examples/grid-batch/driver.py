#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts one training in the region of its data, waits for it, and takes it along when it is ended.

    driver.py fetch s3://BUCKET/KEY FILE   copies an object
    driver.py run [NAME=VALUE…]            one training over $S3_LOCATION in $AWS_DEFAULT_REGION; the exit status is its
    driver.py sweep [REGION…]              stops trainings whose array child is gone

A training is never left behind: SIGTERM (a terminated child, a timeout) stops it; its tag says which child it belongs to;
and what a driver that was killed outright left is stopped by the child's next attempt or by `sweep`.
"""
import os
import signal
import sys
import time

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

OWNER = "grid:owner"
RUNNING = ("InProgress", "Stopping")
POLL_SECONDS = float(os.environ.get("POLL_SECONDS", "2"))


class Ended(Exception):
    """The child was told to end."""


def client(service, region=None):
    # Older SDKs do not read AWS_ENDPOINT_URL themselves; a busy region is asked again.
    return boto3.client(service, region_name=region or os.environ["AWS_DEFAULT_REGION"],
                        endpoint_url=os.environ.get("AWS_ENDPOINT_URL") or None,
                        config=Config(retries={"max_attempts": 10, "mode": "standard"}))


def split_uri(uri):
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def fetch(uri, file):
    bucket, key = split_uri(uri)
    client("s3").download_file(bucket, key, file)


def own_id():
    """ID:INDEX of this child; something of one's own outside Batch."""
    return os.environ.get("AWS_BATCH_JOB_ID", f"local-{os.getpid()}")


def stem(owner):
    """What the names of all trainings of a child begin with."""
    return "grid-" + owner[:8] + "-" + owner.partition(":")[2] + "-"


def request(name, owner, hyperparameters):
    bucket, _ = split_uri(os.environ["S3_LOCATION"])
    processes = os.environ.get("PROCESSES_PER_HOST", "1")
    values = {
        "sagemaker_program": os.environ.get("ENTRY_POINT", "train.py"),
        "sagemaker_submit_directory": os.environ.get("S3_CODE", f"s3://{bucket}/code/sourcedir.tar.gz"),
        "sagemaker_mpi_enabled": "true",
        "sagemaker_mpi_num_of_processes_per_host": processes,
        "sagemaker_mpi_custom_mpi_options": os.environ.get("MPI_OPTIONS", "-mca btl_vader_single_copy_mechanism none"),
    }
    values.update(pair.strip().split("=", 1) for pair in hyperparameters)
    return {
        "TrainingJobName": name,
        "RoleArn": os.environ.get("TRAINING_ROLE", "arn:aws:iam::000000000000:role/grid"),
        "AlgorithmSpecification": {
            "TrainingImage": os.environ.get("TRAINING_IMAGE", "host"),
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": n, "Regex": n + "=([0-9.]+)"} for n in ("loss", "accuracy", "images_per_second")],
        },
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": os.environ["S3_LOCATION"], "S3DataDistributionType": "FullyReplicated"}}}],
        "OutputDataConfig": {"S3OutputPath": f"s3://{bucket}/results"},
        "ResourceConfig": {"InstanceType": os.environ.get("INSTANCE_TYPE", "ml.m5.large"),
                           "InstanceCount": int(os.environ.get("INSTANCES", "2")), "VolumeSizeInGB": 100},
        "StoppingCondition": {"MaxRuntimeInSeconds": int(os.environ.get("MAX_RUNTIME", "86400"))},
        "HyperParameters": values,
        "Tags": [{"Key": OWNER, "Value": owner}],
    }


def ours(sagemaker, name_part):
    """(job, owner) of each unfinished training that a driver started here."""
    for status in RUNNING:
        pages = sagemaker.get_paginator("list_training_jobs").paginate(NameContains=name_part, StatusEquals=status)
        for page in pages:
            for job in page["TrainingJobSummaries"]:
                tags = {t["Key"]: t["Value"] for t in sagemaker.list_tags(ResourceArn=job["TrainingJobArn"])["Tags"]}
                if OWNER in tags:
                    yield job["TrainingJobName"], tags[OWNER]


def stop(sagemaker, name):
    try:
        sagemaker.stop_training_job(TrainingJobName=name)
        print(f"stopped {name}", flush=True)
    except ClientError as error:
        # It has ended by itself, or never began.
        print(f"{name}: {error.response['Error']['Message']}", flush=True)


def wait(sagemaker, name):
    seen = None
    while True:
        job = sagemaker.describe_training_job(TrainingJobName=name)
        now = (job["TrainingJobStatus"], job["SecondaryStatus"])
        if now != seen:
            print(f"{name} {os.environ['AWS_DEFAULT_REGION']} {'/'.join(now)}", flush=True)
            seen = now
        if job["TrainingJobStatus"] not in RUNNING:
            return job
        time.sleep(POLL_SECONDS)


def run(hyperparameters):
    def end(number, _):
        raise Ended(signal.Signals(number).name)

    # From here on a signal is an exception, and `finally` has the last word.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    owner = own_id()
    name = stem(owner) + os.environ.get("AWS_BATCH_JOB_ATTEMPT", "1")
    sagemaker = client("sagemaker")
    job = None
    try:
        for left, of in ours(sagemaker, stem(owner)):
            if of == owner and left != name:
                stop(sagemaker, left)
        try:
            sagemaker.create_training_job(**request(name, owner, hyperparameters))
        except ClientError as error:
            # The answer to an earlier call was lost: the name is this child's own, so the job is too.
            if error.response["Error"]["Code"] != "ResourceInUse":
                raise
        job = wait(sagemaker, name)
    except Ended as ended:
        print(f"{ended}: this child ends, and its training with it", flush=True)
        return 143
    finally:
        if job is None:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stop(sagemaker, name)
    metrics = " ".join(f"{m['MetricName']}={m['Value']:.6g}" for m in job.get("FinalMetricDataList", []))
    print(f"{name} {job['TrainingJobStatus']} {metrics} {job.get('FailureReason', '')}".rstrip(), flush=True)
    return 0 if job["TrainingJobStatus"] == "Completed" else 1


def sweep(regions):
    """Stops every training whose array child does not run (any more) in the queue's region."""
    batch = client("batch", os.environ.get("BATCH_REGION"))
    for region in regions or [os.environ["AWS_DEFAULT_REGION"]]:
        sagemaker = client("sagemaker", region)
        for name, owner in list(ours(sagemaker, "grid-")):
            found = batch.describe_jobs(jobs=[owner])["jobs"]
            if not found or found[0]["status"] not in ("STARTING", "RUNNING"):
                stop(sagemaker, name)
    return 0


def main():
    verb, arguments = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if verb == "fetch" and len(arguments) == 2:
        return fetch(*arguments)
    if verb == "run":
        return run(arguments)
    if verb == "sweep":
        return sweep(arguments)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ClientError, BotoCoreError, KeyError) as problem:
        print(f"driver: {type(problem).__name__}: {problem}", file=sys.stderr)
        sys.exit(1)
