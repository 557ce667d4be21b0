"""Open MPI across instances that are OCI images: the image's own mpirun, without sshd.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import textwrap
import unittest

import harness
import jobs

IMAGE = "localhost/meridian-e2e-mpi:1"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
PARTS = ["/usr/bin/mpirun", "/usr/bin/orted", "/bin/sh", "/usr/share/openmpi", "/etc/openmpi",
         "/usr/lib/python3/dist-packages/mpi4py", str(LIBRARIES / "openmpi"), str(LIBRARIES / "pmix2")]

RANK = textwrap.dedent("""
    import os, socket
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    inside = os.path.exists("/root") and not os.path.exists("/usr/bin/podman")
    # One write a line: unbuffered, print makes several, between which those of other ranks may come.
    os.write(1, (f"rank {world.rank} of {world.size} sum {world.allreduce(world.rank)} "
                 f"on {socket.gethostname()} in {inside}\\n").encode())
""")

ENTRY = textwrap.dedent("""
    import os, socket, subprocess, sys, time
    if socket.gethostname() == "algo-1":
        rank = os.path.join(os.path.dirname(__file__), "rank.py")
        sys.exit(subprocess.run(["mpirun", "--host", "algo-1:2,algo-2:2", "-np", "4", sys.executable, rank]).returncode)
    while not os.path.exists("/opt/meridian/gang/algo-1.sock"):
        time.sleep(0.05)
    sys.exit(subprocess.run(["/opt/meridian/bin/meridian-init", "await", "algo-1"]).returncode)
""")


class ImageMpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("podman") is None:
            raise unittest.SkipTest("podman is not installed")
        if os.getuid() != 0:
            raise unittest.SkipTest("images of an ordinary user do not share the gang's network")
        missing = [p for p in PARTS if not os.path.exists(p)]
        if missing:
            raise unittest.SkipTest(f"not on this machine: {', '.join(missing)}")
        build = subprocess.run([str(harness.ROOT / "examples/own-image/build.sh"), IMAGE, *PARTS],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if build.returncode != 0:
            raise AssertionError(build.stdout)
        cls.addClassCleanup(subprocess.run, ["podman", "rmi", "--force", IMAGE], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
        cls.meridian = harness.Daemon().start()
        cls.addClassCleanup(cls.meridian.close)
        jobs.ensure_bucket(cls.meridian)

    def run_job(self, name, rank):
        s3 = self.meridian.client("s3")
        for file, text in (("entry.py", ENTRY), ("rank.py", rank)):
            s3.put_object(Bucket=jobs.BUCKET, Key=f"{name}/{file}", Body=text.encode())
        # On demand, so that this is shown for images too.
        self.meridian.client("sagemaker").create_training_job(**jobs.request(
            name, image=IMAGE, instances=2, AlgorithmSpecification={
                "ContainerEntrypoint": ["/usr/bin/python3", "/opt/ml/input/data/programs/entry.py"]},
            InputDataConfig=[{"ChannelName": "programs", "InputMode": "FastFile", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/{name}/"}}}]))
        return jobs.wait_end(self.meridian, name), jobs.log_text(self.meridian, name)

    def test_ranks_on_both_instances_reduce_together(self):
        job, log = self.run_job("mpi-in-images", RANK)
        self.assertEqual(job["TrainingJobStatus"], "Completed", (job.get("FailureReason"), log))
        self.assertNotIn("staged as File", str(job["SecondaryStatusTransitions"]))
        for rank, host in enumerate(["algo-1", "algo-1", "algo-2", "algo-2"]):
            self.assertIn(f"rank {rank} of 4 sum 6 on {host} in True", log)

    def test_a_rank_that_fails_on_the_other_instance_fails_the_job(self):
        job, log = self.run_job("mpi-fails", "import socket, sys; sys.exit(3 if socket.gethostname() == 'algo-2' else 0)")
        self.assertEqual(job["TrainingJobStatus"], "Failed", log)
        self.assertIn("AlgorithmError", job["FailureReason"])


if __name__ == "__main__":
    unittest.main()
