"""The daemon: idle memory, start to ready, restart with 10,000 jobs on record (goals: 25 MiB, 50 ms, 1 s).

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import os
import time
import urllib.request

import measure
import jobs

COUNT = int(os.environ.get("JOBS", "10000"))


def start_to_ready(meridian):
    started = time.perf_counter()
    meridian.start()
    while True:
        try:
            url = f"http://127.0.0.1:{meridian.run['ports']['admin']}/readyz"
            if urllib.request.urlopen(url, timeout=1).status == 200:
                return 1000 * (time.perf_counter() - started)
        except OSError:
            time.sleep(0.001)


def restarts(meridian, rounds=5):
    times = []
    for _ in range(rounds):
        meridian.stop()
        times.append(start_to_ready(meridian))
    return times


def main():
    with measure.harness.Daemon() as meridian:
        measure.report("start to ready, empty", "ms", restarts(meridian))
        idle = [measure.resident_mib(meridian.process.pid)]
        if measure.moto() is None:
            measure.report("idle resident memory", "MiB", idle)
        else:
            with measure.Moto() as peer:
                measure.report("idle resident memory", "MiB", idle, "moto", [measure.resident_mib(peer.process.pid)])
        jobs.ensure_bucket(meridian)
        sagemaker = meridian.client("sagemaker")

        def create(index):
            sagemaker.create_training_job(**jobs.request(
                f"job-{index:05}", None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/true"]}))

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(create, range(COUNT)))
        while sagemaker.list_training_jobs(StatusEquals="InProgress", MaxResults=1)["TrainingJobSummaries"]:
            time.sleep(1)
        measure.report(f"start to ready with {COUNT} jobs on record", "ms", restarts(meridian))
        measure.report(f"resident memory with {COUNT} jobs on record", "MiB",
                       [measure.resident_mib(meridian.process.pid)])


main()
