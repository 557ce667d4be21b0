"""Who may do what: signatures, roles, job keys, what programs can see, hostile bytes (issue point 3).

SPDX-License-Identifier: Apache-2.0
"""
import os
import socket
import stat
import subprocess
import textwrap
import time
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import harness
import jobs


def setUpModule():
    global meridian
    meridian = harness.Daemon().start()
    unittest.addModuleCleanup(meridian.close)
    jobs.ensure_bucket(meridian)



def client(service, key, secret, token=None):
    return boto3.session.Session().client(
        service, endpoint_url=meridian.endpoint, region_name="us-west-2", aws_access_key_id=key,
        aws_secret_access_key=secret, aws_session_token=token, config=Config(retries={"max_attempts": 0}))


def code_of(call):
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "no error"


class Credentials(unittest.TestCase):
    def test_each_service_has_its_own_error_for_unknown_keys(self):
        unknown = ("AKIAAAAAAAAAAAAAAAAA", "x" * 40)
        self.assertEqual(code_of(lambda: client("s3", *unknown).list_buckets()), "InvalidAccessKeyId")
        self.assertEqual(code_of(lambda: client("sagemaker", *unknown).list_training_jobs()),
                         "UnrecognizedClientException")
        self.assertEqual(code_of(lambda: client("sts", *unknown).get_caller_identity()), "InvalidClientTokenId")

    def test_a_wrong_secret_does_not_match(self):
        wrong = (meridian.keys["aws_access_key_id"], "x" * 40)
        self.assertEqual(code_of(lambda: client("s3", *wrong).list_buckets()), "SignatureDoesNotMatch")
        self.assertEqual(code_of(lambda: client("sagemaker", *wrong).list_training_jobs()),
                         "InvalidSignatureException")

    def test_key_files_are_private(self):
        for name in ("credentials", "control.db"):
            mode = stat.S_IMODE((meridian.data / name).stat().st_mode)
            self.assertEqual(mode & 0o077, 0, f"{name} has mode {mode:o}")

    def test_a_viewer_reads_and_does_not_write(self):
        made = meridian.cli("keys", "add", "watcher", "--role", "viewer", "-o", "json").stdout
        import json
        keys = json.loads(made)
        viewer = client("sagemaker", keys["AccessKeyId"], keys["SecretAccessKey"])
        viewer.list_training_jobs()
        self.assertIn(code_of(lambda: viewer.create_training_job(**jobs.request("by-viewer", None))),
                      ("AccessDeniedException", "AccessDenied"))
        s3 = client("s3", keys["AccessKeyId"], keys["SecretAccessKey"])
        s3.list_buckets()
        self.assertEqual(code_of(lambda: s3.put_object(Bucket=jobs.BUCKET, Key="k", Body=b"v")), "AccessDenied")
        meridian.cli("keys", "remove", keys["AccessKeyId"])
        self.assertEqual(code_of(lambda: s3.list_buckets()), "InvalidAccessKeyId")

    def test_assumed_roles_carry_a_session_token(self):
        answer = meridian.client("sts").assume_role(RoleArn=harness.ROLE, RoleSessionName="me")["Credentials"]
        args = (answer["AccessKeyId"], answer["SecretAccessKey"])
        self.assertIn("assumed-role/meridian/me",
                      client("sts", *args, answer["SessionToken"]).get_caller_identity()["Arn"])
        self.assertNotEqual(code_of(lambda: client("sts", *args).get_caller_identity()), "no error")
        self.assertNotEqual(code_of(lambda: client("sts", *args, "bogus").get_caller_identity()), "no error")

    def test_secrets_are_in_no_log(self):
        meridian.client("s3").list_buckets()
        secret = meridian.keys["aws_secret_access_key"]
        self.assertNotIn(secret, meridian.log())


class JobKeys(unittest.TestCase):
    def test_a_job_reaches_its_account_and_its_keys_end_with_it(self):
        job = jobs.script_job(meridian, "job-keys", textwrap.dedent("""
            import json, os, boto3
            url = os.environ["AWS_ENDPOINT_URL"]
            s3 = boto3.client("s3", endpoint_url=url)
            s3.put_object(Bucket="training-bucket", Key="written/by-job", Body=b"yes")
            print("listed", len(boto3.client("sagemaker", endpoint_url=url).list_training_jobs()["TrainingJobSummaries"]))
            try:
                boto3.client("iam", endpoint_url=url).create_role(RoleName="r", AssumeRolePolicyDocument="{}")
                print("iam allowed")
            except Exception as e:
                print("iam refused", type(e).__name__)
            print("keys=" + json.dumps([os.environ[n] for n in
                  ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")]), flush=True)
        """))
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        text = jobs.log_text(meridian, "job-keys")
        self.assertIn("iam refused", text)
        body = meridian.client("s3").get_object(Bucket=jobs.BUCKET, Key="written/by-job")["Body"].read()
        self.assertEqual(body, b"yes")
        keys = jobs.printed_json(meridian, "job-keys", "keys")
        self.assertNotEqual(keys[0], meridian.keys["aws_access_key_id"])
        self.assertNotEqual(code_of(lambda: client("s3", *keys).list_buckets()), "no error")


class Sandbox(unittest.TestCase):
    def test_programs_see_no_file_of_the_daemon_and_are_not_root(self):
        job = jobs.script_job(meridian, "peek", textwrap.dedent(f"""
            import glob, os
            print("uid", os.getuid())
            print("seen", glob.glob("{meridian.data}/*"))
            for path in ("{meridian.data}/credentials", "{meridian.data}/control.db"):
                try:
                    open(path).read(1)
                    print("LEAK", path)
                except OSError as e:
                    print("hidden", e.strerror)
            print("caps", [l.split()[1] for l in open("/proc/self/status") if l.startswith("CapEff")][0])
            print("host", os.uname().nodename)
        """))
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        text = jobs.log_text(meridian, "peek")
        self.assertNotIn("LEAK", text)
        self.assertNotIn("credentials", text.split("hidden")[0].split("seen")[1])
        self.assertIn("caps 0000000000000000", text)
        self.assertIn("host algo-1", text)
        if os.getuid() == 0:
            self.assertNotIn("uid 0\n", text + "\n")

    def test_no_process_is_left_behind(self):
        jobs.script_job(meridian, "litter", textwrap.dedent("""
            import subprocess
            subprocess.Popen(["sleep", "98765"], start_new_session=True)
        """))
        harness.wait_for(lambda: subprocess.run(["pgrep", "-f", "sleep 98765"]).returncode == 1, 20, "its end")

    def test_network_isolation_cuts_the_endpoint_off(self):
        job = jobs.script_job(meridian, "isolated", textwrap.dedent("""
            import os, socket, urllib.parse
            url = urllib.parse.urlparse(os.environ.get("AWS_ENDPOINT_URL", "http://127.0.0.1:1"))
            try:
                socket.create_connection((url.hostname, url.port), timeout=3)
                print("reached")
            except OSError:
                print("cut off")
        """), EnableNetworkIsolation=True)
        self.assertEqual(job["TrainingJobStatus"], "Completed", job.get("FailureReason"))
        self.assertIn("cut off", jobs.log_text(meridian, "isolated"))


class Hostile(unittest.TestCase):
    def send(self, data, timeout=5):
        with socket.create_connection(("127.0.0.1", meridian.run["port"]), timeout=timeout) as s:
            s.sendall(data)
            s.settimeout(timeout)
            answer = b""
            try:
                while chunk := s.recv(65536):
                    answer += chunk
            except (TimeoutError, ConnectionResetError):
                pass
            return answer

    def test_doubtful_framing_is_refused(self):
        for head in (b"Content-Length: 5\r\nContent-Length: 6\r\n",
                     b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                     b"Transfer-Encoding: chunked, identity\r\n",
                     b"Content-Length: +5\r\n",
                     b"X: a\r\n b\r\n",
                     b"Content-Length : 5\r\n",
                     b"Host: second\r\n"):
            answer = self.send(b"POST / HTTP/1.1\r\nHost: h\r\n" + head + b"\r\nhello")
            self.assertRegex(answer[:13], rb"HTTP/1.1 [45]", head)
            self.assertIn(b"close", answer.lower())

    def test_a_huge_header_is_refused(self):
        answer = self.send(b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 100_000 + b"\r\n\r\n")
        self.assertRegex(answer[:13], rb"HTTP/1.1 431|^$")

    def test_slow_clients_hold_up_nobody(self):
        slow = [socket.create_connection(("127.0.0.1", meridian.run["port"])) for _ in range(300)]
        for s in slow:
            s.sendall(b"POST / HTTP/1.1\r\nHost:")
        meridian.client("s3").list_buckets()
        for s in slow:
            s.close()

    def test_deep_json_is_refused(self):
        import http.client
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials as Keys
        body = b"[" * 100_000
        request = AWSRequest("POST", meridian.endpoint + "/", data=body, headers={
            "X-Amz-Target": "SageMaker.ListTrainingJobs", "Content-Type": "application/x-amz-json-1.1"})
        SigV4Auth(Keys(meridian.keys["aws_access_key_id"], meridian.keys["aws_secret_access_key"]), "sagemaker",
                  "us-west-2").add_auth(request)
        connection = http.client.HTTPConnection("127.0.0.1", meridian.run["port"], timeout=10)
        connection.request("POST", "/", body, dict(request.headers))
        answer = connection.getresponse()
        self.assertEqual(answer.status, 400)
        self.assertIn(b"SerializationException", answer.read())

    def test_only_loopback_listens(self):
        done = subprocess.run([str(harness.BIN / "meridian"), "--data", str(harness.Daemon().data), "up", "--port", "0",
                               "--listen", "0.0.0.0"], text=True, capture_output=True, timeout=30)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("certificate", done.stderr)


if __name__ == "__main__":
    unittest.main()
