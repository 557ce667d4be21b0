"""Taking an array of 10,000 children, and listing them (goals: under 50 ms; 100,000 indexes in under 100 ms).

SPDX-License-Identifier: Apache-2.0
"""
import measure


def main():
    with measure.harness.Daemon() as meridian:
        batch = meridian.client("batch")
        batch.register_job_definition(jobDefinitionName="wait", type="container", containerProperties={
            "image": "host", "command": ["sleep", "600"],
            "resourceRequirements": [{"type": "VCPU", "value": "64"}, {"type": "MEMORY", "value": "64"}]})
        submitted = []

        def submit(**more):
            submitted.append(batch.submit_job(jobName="p2", jobQueue="default", jobDefinition="wait", **more)["jobId"])

        submit()  # it has all vCPUs; what follows only waits
        single = [1000 * measure.timed(submit) for _ in range(20)]
        array = [1000 * measure.timed(lambda: submit(arrayProperties={"size": 10_000})) for _ in range(20)]
        measure.report("SubmitJob", "ms", single)
        measure.report("SubmitJob, array of 10,000", "ms", array)
        pages = batch.get_paginator("list_jobs")

        def list_all():
            return sum(len(page["jobSummaryList"]) for page in pages.paginate(arrayJobId=submitted[-1], jobStatus="RUNNABLE"))

        measure.harness.wait_for(lambda: list_all() == 10_000, 60, "all children are RUNNABLE")
        listed = [1000 * measure.timed(list_all) for _ in range(5)]
        measure.report("ListJobs of its children, ten pages", "ms", listed)
        for job in submitted:
            batch.terminate_job(jobId=job, reason="measured")


main()
