"""Recovery: SIGKILL of a supervisor until the retried program runs; SIGKILL of the daemon until it is ready.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import signal
import time

import measure
import jobs
from test_restart import supervisors


def main():
    with measure.harness.Daemon() as meridian:
        times = []
        for round_number in range(5):
            name = f"lost-{round_number}"
            jobs.script_job(meridian, name, "import time\nprint('up', time.time(), flush=True)\ntime.sleep(600)",
                            wait=False, RetryStrategy={"MaximumRetryAttempts": 3})
            jobs.wait_log(meridian, name, "up")
            killed = time.time()
            for pid in supervisors(meridian):
                os.kill(pid, signal.SIGKILL)
            measure.harness.wait_for(lambda: jobs.log_text(meridian, name).count("up") == 2, 120, "the second start")
            starts = [float(l.split()[1]) for l in jobs.log_text(meridian, name).splitlines() if l.startswith("up")]
            times.append(max(starts) - killed)
            meridian.client("sagemaker").stop_training_job(TrainingJobName=name)
            jobs.wait_end(meridian, name)
        measure.report("SIGKILL of a supervisor → program runs again", "s", times)

        times = []
        for _ in range(5):
            meridian.kill()
            times.append(measure.timed(meridian.start))
        measure.report("SIGKILL of the daemon → serves again", "s", times)


main()
