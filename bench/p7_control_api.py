"""Control API: create + describe of jobs per second, one client and eight (peer: moto; goal: 10 × server-side).

Server-side seconds are the processor time of the server process, so that the client's Python does not count.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import os
import time

import measure
import jobs

COUNT = 300


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    if measure.moto() is None:
        measure.skip("create + describe", "moto could not be installed")
        return
    with measure.harness.Daemon() as meridian, measure.Moto() as moto:
        jobs.ensure_bucket(meridian)
        moto.client("s3").create_bucket(Bucket=jobs.BUCKET,
                                        CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        # A job that holds every slot keeps the others waiting: only the API works, on both sides.
        jobs.script_job(meridian, "holder", "import time; time.sleep(3600)", wait=False, instances=8)
        counter = iter(range(1_000_000))

        def burst(client, clients, pid):
            names = [f"j-{next(counter)}" for _ in range(COUNT)]

            def one(name):
                client.create_training_job(**jobs.request(
                    name, None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/true"]}))
                client.describe_training_job(TrainingJobName=name)

            cpu, started = cpu_seconds(pid), time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(clients) as pool:
                list(pool.map(one, names))
            return COUNT / (time.perf_counter() - started), COUNT / max(0.01, cpu_seconds(pid) - cpu)

        ours, theirs = meridian.client("sagemaker"), moto.client("sagemaker")
        for clients in (1, 8):
            a, b = measure.in_turns(lambda: burst(ours, clients, meridian.process.pid),
                                    lambda: burst(theirs, clients, moto.process.pid), 3)
            measure.report(f"create + describe, {clients} client(s), seen", "1/s", [x[0] for x in a], "moto",
                           [x[0] for x in b], "more")
            measure.report(f"create + describe, {clients} client(s), server", "1/cpu s", [x[1] for x in a], "moto",
                           [x[1] for x in b], "more")
        meridian.client("sagemaker").stop_training_job(TrainingJobName="holder")


main()
