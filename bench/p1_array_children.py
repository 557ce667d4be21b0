"""Trivial children of a Batch array from end to end: state, log and exit status kept, each in a sandbox (goal: 700/s).

SPDX-License-Identifier: Apache-2.0
"""
import shutil
import subprocess
import tempfile
import time

import measure

CHILDREN = 300
AT_ONCE = 16


def xargs():
    """Output and exit status of each in files of its own."""
    with tempfile.TemporaryDirectory() as folder:
        work = f"/bin/true > {folder}/$1.log 2>&1; echo $? > {folder}/$1.exit"
        took = measure.timed(lambda: subprocess.run(
            ["xargs", "-P", str(AT_ONCE), "-n", "1", "sh", "-c", work, "child"], text=True, check=True,
            input="\n".join(map(str, range(CHILDREN)))))
    return CHILDREN / took


def parallel():
    with tempfile.TemporaryDirectory() as folder:
        took = measure.timed(lambda: subprocess.run(
            ["parallel", "-j", str(AT_ONCE), "--joblog", f"{folder}/log", "--results", f"{folder}/out", "/bin/true"],
            text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            input="\n".join(map(str, range(CHILDREN)))))
    return CHILDREN / took


def main():
    config = f"pools:\n- {{name: default, count: 8}}\n- {{name: batch, types: [batch.vcpu], count: {AT_ONCE}}}\n"
    with measure.harness.Daemon(config=config) as meridian:
        batch = meridian.client("batch")
        batch.register_job_definition(jobDefinitionName="true", type="container", containerProperties={
            "image": "host", "command": ["/bin/true"],
            "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]})

        def array():
            started = time.perf_counter()
            job = batch.submit_job(jobName="p1", jobQueue="default", jobDefinition="true",
                                   arrayProperties={"size": CHILDREN})["jobId"]
            while True:
                described = batch.describe_jobs(jobs=[job])["jobs"][0]
                if described["status"] in ("SUCCEEDED", "FAILED"):
                    break
                time.sleep(0.01)
            assert described["arrayProperties"]["statusSummary"]["SUCCEEDED"] == CHILDREN
            return CHILDREN / (time.perf_counter() - started)

        array()
        ours, peer = measure.in_turns(array, xargs, 5)
        measure.report("children of an array", "1/s", ours, f"xargs -P {AT_ONCE}", peer, better="more")
        if shutil.which("parallel"):
            measure.report("the same", "1/s", ours, "GNU parallel", [parallel() for _ in range(3)], better="more")
        else:
            measure.skip("GNU parallel", "it is not installed (apt-get install parallel)")


main()
