"""Controllers: 10,000 TrainingJobs applied to the Kubernetes API until all are seen complete; requests to the region per
change, the daemon's memory (goal: 2 requests per change and one listing a second).

The region is a stand-in that answers at once and lets each job train for a while, so that only the controllers work.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import concurrent.futures
import http.server
import json
import os
import pathlib
import socketserver
import sys
import threading
import time
import urllib.parse

import measure
import kube_http

COUNT = int(os.environ.get("MERIDIAN_P8_JOBS", "10000"))
TRAINING_SECONDS = 20


class Region:
    """SageMaker's training calls, in memory. A job trains from its first second and completes after TRAINING_SECONDS."""

    def __init__(self):
        self.lock = threading.Lock()
        self.jobs = {}
        self.calls = collections.Counter()

    def state(self, job, now):
        age = now - job["CreationTime"]
        if age < 1:
            return "InProgress", "Starting", job["CreationTime"]
        if age < TRAINING_SECONDS:
            return "InProgress", "Training", job["CreationTime"] + 1
        return "Completed", "Completed", job["CreationTime"] + TRAINING_SECONDS

    def view(self, job, now):
        status, secondary, modified = self.state(job, now)
        return {**job, "TrainingJobStatus": status, "SecondaryStatus": secondary, "LastModifiedTime": modified}

    def call(self, operation, given):
        now = time.time()
        with self.lock:
            self.calls[operation] += 1
            name = given.get("TrainingJobName")
            if operation == "CreateTrainingJob":
                if name in self.jobs:
                    return 400, {"__type": "ResourceInUse", "message": "Job name must be unique"}
                arn = f"arn:aws:sagemaker:us-west-2:000000000000:training-job/{name}"
                self.jobs[name] = {"TrainingJobName": name, "TrainingJobArn": arn, "CreationTime": now}
                return 200, {"TrainingJobArn": arn}
            if operation == "DescribeTrainingJob":
                if name not in self.jobs:
                    return 400, {"__type": "ValidationException", "message": "Requested resource not found."}
                return 200, self.view(self.jobs[name], now)
            if operation == "ListTrainingJobs":
                after = given.get("LastModifiedTimeAfter", 0)
                views = (self.view(job, now) for job in list(self.jobs.values()))
                found = [v for v in views if v["LastModifiedTime"] > after]
                start = int(given.get("NextToken", "0"))
                page = {"TrainingJobSummaries": found[start:start + 100]}
                if start + 100 < len(found):
                    page["NextToken"] = str(start + 100)
                    self.calls["pages"] += 1
                return 200, page
            return 400, {"__type": "UnknownOperationException", "message": operation}


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(region):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            status, answer = region.call(self.headers["X-Amz-Target"].split(".")[1], given)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def job(name, endpoint):
    return {"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "TrainingJob", "metadata": {"name": name}, "spec": {
        "region": "us-west-2", "sageMakerEndpoint": endpoint, "roleArn": "arn:aws:iam::000000000000:role/training",
        "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "File"},
        "outputDataConfig": {"s3OutputPath": "s3://bucket/out"},
        "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 5},
        "stoppingCondition": {"maxRuntimeInSeconds": 3600}}}


def main():
    region = Region()
    server = serve(region)
    endpoint = f"http://127.0.0.1:{server.server_port}"
    with measure.harness.Daemon() as meridian:
        path = "/apis/sagemaker.aws.amazon.com/v1/namespaces/default/trainingjobs"
        before = measure.resident_mib(meridian.process.pid)
        started = time.monotonic()
        apis = threading.local()

        def apply(i):
            if not hasattr(apis, "api"):
                apis.api = kube_http.Api(pathlib.Path(meridian.data) / "kubeconfig")
            apis.api.create(path, job(f"job-{i:05d}", endpoint))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(apply, range(COUNT)))
        applied = time.monotonic() - started
        api = kube_http.Api(pathlib.Path(meridian.data) / "kubeconfig")
        while True:
            items, token = [], ""
            while True:
                page = api.get(f"{path}?limit=500" + (f"&continue={urllib.parse.quote(token)}" if token else ""))
                items += page["items"]
                token = page["metadata"].get("continue")
                if not token:
                    break
            done = sum(i.get("status", {}).get("trainingJobStatus") == "Completed" for i in items)
            if done == COUNT:
                break
            if time.monotonic() - started > 1800:
                sys.exit(f"only {done} of {COUNT} were seen complete after half an hour")
            time.sleep(2)
        took = time.monotonic() - started
        after = measure.resident_mib(meridian.process.pid)
    calls = dict(region.calls)
    pages = calls.pop("pages", 0)
    listings = calls.pop("ListTrainingJobs", 0) - pages
    requests = sum(calls.values())
    changes = 3 * COUNT
    measure.report(f"{COUNT} TrainingJobs applied", "s", [applied])
    measure.report("until all were seen complete", "s", [took])
    measure.report("requests per change (goal 2)", "", [requests / changes])
    measure.report("listings a second (goal 1)", "1/s", [listings / took])
    measure.report("further pages of listings per change", "", [pages / changes])
    measure.report("daemon's memory before", "MiB", [before])
    measure.report("daemon's memory with all of them", "MiB", [after])


main()
