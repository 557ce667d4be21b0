#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The digits training through boto3 alone: upload, create, wait, print. Also runs against AWS.

Set AWS_ENDPOINT_URL and keys first: eval "$(meridian env)".
"""

import io
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
IMAGE = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/pytorch-training:1.13-cpu-py311"


def client(service):
    # Debian's boto3 does not read AWS_ENDPOINT_URL by itself.
    return boto3.client(service, region_name=REGION,
                        endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def upload(s3, bucket, job):
    with tempfile.TemporaryDirectory() as directory:
        split = HERE.parent / "data" / "digits" / "split.py"
        subprocess.run([sys.executable, split, directory], check=True)
        for name in ("train", "validation"):
            s3.upload_file(f"{directory}/{name}/{name}.csv", bucket, f"{job}/{name}/{name}.csv")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(HERE / "train.py", "train.py")
    s3.put_object(Bucket=bucket, Key=f"{job}/source/sourcedir.tar.gz", Body=archive.getvalue())


def request(account, bucket, job):
    def channel(name):
        return {"ChannelName": name, "ContentType": "text/csv", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{bucket}/{job}/{name}/"}}}
    return {
        "TrainingJobName": job,
        "RoleArn": f"arn:aws:iam::{account}:role/training",
        "AlgorithmSpecification": {
            "TrainingImage": IMAGE, "TrainingInputMode": "File",
            "MetricDefinitions": [
                {"Name": "accuracy", "Regex": "accuracy=([0-9.]+)"},
                {"Name": "images_per_second", "Regex": "images_per_second=([0-9.]+)"}]},
        "HyperParameters": {
            "sagemaker_program": "train.py",
            "sagemaker_submit_directory": f"s3://{bucket}/{job}/source/sourcedir.tar.gz",
            "sagemaker_torch_distributed_enabled": "true",
            "sagemaker_torch_processes_per_host": "2",  # ours; on AWS it is the GPUs of the type
            "epochs": "8"},
        "InputDataConfig": [channel("train"), channel("validation")],
        "OutputDataConfig": {"S3OutputPath": f"s3://{bucket}/output"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2,
                           "VolumeSizeInGB": 5},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        "CheckpointConfig": {"S3Uri": f"s3://{bucket}/{job}/checkpoints"},
    }


def main():
    account = client("sts").get_caller_identity()["Account"]
    s3, sagemaker = client("s3"), client("sagemaker")
    bucket, job = f"digits-{REGION}-{account}", time.strftime("digits-%Y-%m-%d-%H-%M-%S")
    where = {} if REGION == "us-east-1" else {
        "CreateBucketConfiguration": {"LocationConstraint": REGION}}
    if bucket not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket=bucket, **where)
    upload(s3, bucket, job)
    sagemaker.create_training_job(**request(account, bucket, job))
    shown = None
    while True:
        answer = sagemaker.describe_training_job(TrainingJobName=job)
        last = answer["SecondaryStatusTransitions"][-1]
        if last["StatusMessage"] != shown:
            shown = last["StatusMessage"]
            print(f"{last['Status']}: {shown}")
        if answer["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"):
            break
        time.sleep(0.5)
    for metric in answer.get("FinalMetricDataList", []):
        print(f"{metric['MetricName']} = {metric['Value']:.4f}")
    print(answer.get("FailureReason", answer["ModelArtifacts"]["S3ModelArtifacts"]))
    return 0 if answer["TrainingJobStatus"] == "Completed" else 1


if __name__ == "__main__":
    sys.exit(main())
