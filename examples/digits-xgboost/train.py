#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the built-in XGBoost algorithm on the digits by boto3: no training script at all.

request.json is the CreateTrainingJob request; this file fills in what depends on the account and
the moment, uploads the data, follows the job and downloads the model.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

import boto3

HERE = pathlib.Path(__file__).resolve().parent
REGION = os.environ.get("AWS_REGION", os.environ.get("AWS_DEFAULT_REGION", "us-west-2"))


def client(service):
    # Debian's boto3 does not read AWS_ENDPOINT_URL by itself.
    return boto3.client(service, region_name=REGION,
                        endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def upload_data(s3, bucket, job, instances):
    """One object of training data for each instance, so that each gets its share."""
    where = {} if REGION == "us-east-1" else {
        "CreateBucketConfiguration": {"LocationConstraint": REGION}}
    if bucket not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket=bucket, **where)
    with tempfile.TemporaryDirectory() as directory:
        split = HERE.parent / "data" / "digits" / "split.py"
        subprocess.run([sys.executable, split, directory], check=True)
        lines = pathlib.Path(f"{directory}/train/train.csv").read_text().splitlines(keepends=True)
        for part in range(instances):
            s3.put_object(Bucket=bucket, Key=f"{job}/train/part-{part}.csv",
                          Body="".join(lines[part::instances]).encode())
        s3.upload_file(f"{directory}/validation/validation.csv", bucket,
                       f"{job}/validation/validation.csv")


def make_request(bucket, job, instances):
    request = json.loads((HERE / "request.json").read_text())
    request["TrainingJobName"] = job
    request["OutputDataConfig"] = {"S3OutputPath": f"s3://{bucket}/output"}
    request["ResourceConfig"]["InstanceCount"] = instances
    for channel in request["InputDataConfig"]:
        channel["DataSource"] = {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3DataDistributionType": "FullyReplicated",
            "S3Uri": f"s3://{bucket}/{job}/{channel['ChannelName']}/"}}
        if instances > 1 and channel["ChannelName"] == "train":
            channel["DataSource"]["S3DataSource"]["S3DataDistributionType"] = "ShardedByS3Key"
    return request


def wait(sagemaker, job):
    while True:
        answer = sagemaker.describe_training_job(TrainingJobName=job)
        if answer["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"):
            return answer
        time.sleep(0.5)


def download_model(s3, uri, target):
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    with tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        s3.download_fileobj(bucket, key, file)
        file.flush()
        with tarfile.open(file.name) as tar:
            names = tar.getnames()
            tar.extract("xgboost-model", target)
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-name", default=time.strftime("digits-xgboost-%Y%m%d-%H%M%S"))
    parser.add_argument("--instances", type=int, default=1)
    arguments = parser.parse_args()
    job = arguments.job_name
    account = client("sts").get_caller_identity()["Account"]
    bucket = f"digits-{REGION}-{account}"
    s3, sagemaker = client("s3"), client("sagemaker")
    upload_data(s3, bucket, job, arguments.instances)
    sagemaker.create_training_job(**make_request(bucket, job, arguments.instances))
    answer = wait(sagemaker, job)
    print(f"{job}: {answer['TrainingJobStatus']}", answer.get("FailureReason", ""))
    if answer["TrainingJobStatus"] != "Completed":
        return 1
    for metric in answer.get("FinalMetricDataList", []):
        print(f"{metric['MetricName']} = {metric['Value']:.4f}")
    with tempfile.TemporaryDirectory() as directory:
        uri = answer["ModelArtifacts"]["S3ModelArtifacts"]
        print(f"{uri} holds {download_model(s3, uri, directory)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
