"""One training that does nothing: CreateTrainingJob until the client sees Completed (goal: under 50 ms).

SPDX-License-Identifier: Apache-2.0
"""
import time

import measure
import jobs


def main():
    with measure.harness.Daemon() as meridian:
        jobs.ensure_bucket(meridian)
        sagemaker = meridian.client("sagemaker")
        counter = iter(range(10_000))

        def one():
            name = f"noop-{next(counter)}"
            started = time.perf_counter()
            sagemaker.create_training_job(**jobs.request(
                name, None, AlgorithmSpecification={"ContainerEntrypoint": ["/bin/true"]}))
            while sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "InProgress":
                time.sleep(0.001)
            return 1000 * (time.perf_counter() - started)

        one()
        measure.report("create → Completed seen", "ms", [one() for _ in range(40)])


main()
