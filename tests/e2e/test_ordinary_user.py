"""The main path as an ordinary user without any privilege: sandbox, gang network, torch, MPI.

SPDX-License-Identifier: Apache-2.0
"""
import os
import textwrap
import unittest

import harness
import jobs


def setUpModule():
    global meridian
    # As root we become nobody; otherwise whoever runs the tests is an ordinary user already.
    meridian = harness.Daemon(user="nobody" if os.getuid() == 0 else None).start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)



class OrdinaryUser(unittest.TestCase):
    def test_a_job_with_a_channel_runs_and_its_channel_may_be_written(self):
        meridian.client("s3").put_object(Bucket=jobs.BUCKET, Key="in/a.txt", Body=b"data")
        job = jobs.script_job(meridian, "simple", textwrap.dedent("""
            import os, pathlib
            file = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"], "a.txt")
            print("read", file.read_text())
            file.write_text("scribbled")
            print("host", os.uname().nodename, "uid", os.getuid())
            pathlib.Path(os.environ["SM_MODEL_DIR"], "m").write_text("x")
        """), InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{jobs.BUCKET}/in/"}}}])
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        text = jobs.log_text(meridian, "simple")
        self.assertIn("read data", text)
        self.assertIn("host algo-1", text)
        self.assertEqual(meridian.client("s3").get_object(Bucket=jobs.BUCKET, Key="in/a.txt")["Body"].read(), b"data")

    def test_two_torch_gangs_use_the_same_port_at_once(self):
        script = textwrap.dedent("""
            import os, time, torch, torch.distributed as dist
            dist.init_process_group("gloo")
            total = torch.ones(1)
            dist.all_reduce(total)
            print("sum", int(total), "of", dist.get_world_size(), flush=True)
            time.sleep(2)
        """)
        more = {"instances": 2, "hyperparameters": {"sagemaker_torch_distributed_enabled": "true"}}
        for name in ("gang-a", "gang-b"):
            jobs.script_job(meridian, name, script, wait=False, **more)
        for name in ("gang-a", "gang-b"):
            job = jobs.wait_end(meridian, name)
            self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
            self.assertIn("sum 2 of 2", jobs.log_text(meridian, name))

    def test_mpi_over_two_instances(self):
        job = jobs.script_job(meridian, "mpi", textwrap.dedent("""
            from mpi4py import MPI
            import os, socket
            world = MPI.COMM_WORLD
            # One write a line: unbuffered, print makes several, between which those of other ranks may come.
            os.write(1, (f"rank {world.rank} of {world.size} sum {world.allreduce(world.rank)} "
                         f"on {socket.gethostname()}\\n").encode())
        """), instances=2, hyperparameters={"sagemaker_mpi_enabled": "true",
                                            "sagemaker_mpi_num_of_processes_per_host": "2"})
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        text = jobs.log_text(meridian, "mpi")
        for rank in range(4):
            self.assertIn(f"rank {rank} of 4 sum 6", text)
        self.assertIn("algo-2", text)


if __name__ == "__main__":
    unittest.main()
