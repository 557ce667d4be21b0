"""A daemon that speaks TLS: who has to trust its certificate, and how programs of jobs reach it all the same.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

import harness
import jobs


def setUpModule():
    global meridian, certificate
    directory = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(directory.cleanup)
    certificate = pathlib.Path(directory.name) / "certificate.pem"
    key = pathlib.Path(directory.name) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    meridian = harness.Daemon(config="sandbox: {network: host}\n", options=[
        "--listen", "0.0.0.0", "--certificate", str(certificate), "--key", str(key)]).start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)


class Tls(unittest.TestCase):
    def elsewhere(self, *arguments, **environment):
        """The CLI as on another machine: it knows the address and the keys, not the data directory."""
        with tempfile.TemporaryDirectory() as empty:
            env = dict(os.environ, AWS_ENDPOINT_URL=f"https://localhost:{meridian.run['port']}",
                       AWS_ACCESS_KEY_ID=meridian.keys["aws_access_key_id"],
                       AWS_SECRET_ACCESS_KEY=meridian.keys["aws_secret_access_key"], AWS_REGION="us-west-2", **environment)
            return subprocess.run([str(harness.BIN / "meridian"), "--data", empty, *arguments], env=env, text=True,
                                  capture_output=True, timeout=60)

    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        done = self.elsewhere("get")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("certificate", done.stderr.lower())

    def test_the_option_and_the_variable_name_who_is_trusted(self):
        done = self.elsewhere("--ca-bundle", str(certificate), "s3", "ls")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(jobs.BUCKET, done.stdout)
        done = self.elsewhere("get", AWS_CA_BUNDLE=str(certificate))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"AWS_CA_BUNDLE={certificate}",
                      self.elsewhere("--ca-bundle", str(certificate), "env").stdout.replace("'", ""))

    def test_boto3_reaches_it_with_the_certificate(self):
        client = meridian.client("sts", endpoint_url=f"https://localhost:{meridian.run['port']}", verify=str(certificate))
        self.assertEqual(client.get_caller_identity()["Account"], "000000000000")

    def test_commands_on_this_machine_need_no_certificate(self):
        self.assertIn(jobs.BUCKET, meridian.cli("s3", "ls").stdout)

    def test_a_program_on_the_hosts_network_reaches_its_endpoint(self):
        job = jobs.script_job(meridian, "on-host-network", """
import os
import boto3
s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
print("buckets", [b["Name"] for b in s3.list_buckets()["Buckets"]], flush=True)
""")
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn(jobs.BUCKET, jobs.log_text(meridian, "on-host-network"))


if __name__ == "__main__":
    unittest.main()
