"""The aws command, presigned URLs, the Node SDK, and what a crash leaves.

SPDX-License-Identifier: Apache-2.0
"""
import http.client
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from s3_case import S3Case

HERE = pathlib.Path(__file__).resolve().parent


def tree(root):
    return {str(f.relative_to(root)): f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file()}


class Clients(S3Case):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="meridian-s3-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def aws(self, *arguments, check=True):
        done = subprocess.run(["aws", "--endpoint-url", self.meridian.endpoint, "s3", *map(str, arguments)],
                              env=self.meridian.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout)
        return done

    @unittest.skipUnless(shutil.which("aws"), "no aws command")
    def test_aws_s3(self):
        local, back = self.directory / "local", self.directory / "back"
        for name, body in [("a.txt", b"a"), ("deep/er/b b.txt", b"b"), ("deep/c+d%20.bin", os.urandom(9 << 20)),
                           ("é/ü.txt", b"u")]:
            file = local / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        self.aws("sync", local, f"s3://{self.bucket}/x", "--quiet")
        self.assertEqual(self.aws("sync", local, f"s3://{self.bucket}/x").stdout, "")
        self.aws("sync", f"s3://{self.bucket}/x", back, "--quiet")
        self.assertEqual(tree(back), tree(local))
        (local / "a.txt").unlink()
        self.aws("sync", local, f"s3://{self.bucket}/x", "--delete", "--quiet")
        self.assertNotIn("x/a.txt", self.keys())
        self.assertIn("PRE deep/", self.aws("ls", f"s3://{self.bucket}/x/").stdout)
        strange = self.directory / "strange"
        strange.write_bytes(b"strange")
        for key in "foo/bar/s3://baz", "plus+plus", "per%20cent":
            self.aws("cp", strange, f"s3://{self.bucket}/{key}", "--quiet")
            self.aws("mv", f"s3://{self.bucket}/{key}", f"s3://{self.bucket}/moved/{key}", "--quiet")
            self.assertEqual(self.aws("cp", f"s3://{self.bucket}/moved/{key}", "-").stdout, "strange")
        self.aws("rm", f"s3://{self.bucket}", "--recursive", "--quiet")
        self.assertEqual(self.keys(), [])
        self.aws("rb", f"s3://{self.bucket}")

    def fetch(self, method, url, body=None):
        host, path = url[len("http://"):].split("/", 1)
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request(method, "/" + path, body)
        response = connection.getresponse()
        answer = response.status, response.read()
        connection.close()
        return answer

    def test_presigned_urls_of_both_signatures(self):
        from botocore.config import Config
        for version in "s3v4", "s3":
            client = self.meridian.client("s3", config=Config(signature_version=version))
            where = {"Bucket": self.bucket, "Key": f"dir/a b+c {version}"}
            put = client.generate_presigned_url("put_object", Params=where, ExpiresIn=60)
            self.assertEqual("AWSAccessKeyId=" in put, version == "s3")
            self.assertEqual(self.fetch("PUT", put, b"presigned")[0], 200)
            get = client.generate_presigned_url("get_object", Params=where, ExpiresIn=60)
            self.assertEqual(self.fetch("GET", get), (200, b"presigned"))
            for listing in ("list_objects", "list_objects_v2"):
                url = client.generate_presigned_url(listing, Params={"Bucket": where["Bucket"]}, ExpiresIn=60)
                self.assertEqual(self.fetch("GET", url)[0], 200, listing)
            self.assertEqual(self.fetch("GET", get.replace("dir", "rid"))[0], 403)
            gone = client.generate_presigned_url("get_object", Params=where, ExpiresIn=1)
            time.sleep(2.1)
            self.assertEqual(self.fetch("GET", gone)[0], 403)

    def test_without_a_signature_nothing_is_served(self):
        self.put("k")
        status, body = self.fetch("GET", f"{self.meridian.endpoint}/{self.bucket}/k")
        self.assertEqual((status, b"<Code>AccessDenied</Code>" in body), (403, True))

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_node_sdk(self):
        modules = [HERE / "node_modules", *map(pathlib.Path, os.environ.get("NODE_PATH", "").split(":"))]
        if not any((m / "@aws-sdk/client-s3").is_dir() for m in modules if str(m) != "."):
            self.skipTest("npm package @aws-sdk/client-s3 is not installed")
        done = subprocess.run(["node", str(HERE / "s3_node.mjs"), self.meridian.endpoint, self.bucket],
                              env=self.meridian.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("all well", done.stdout)


class Crash(S3Case):
    def test_acknowledged_objects_survive_kill_9_and_nothing_else_is_left(self):
        acknowledged = {}
        stop = threading.Event()

        def write(number):
            client = self.meridian.client("s3")
            for i in range(100_000):
                if stop.is_set():
                    return
                key, body = f"{number}/{i % 40}", os.urandom(2000 + i)
                try:
                    client.put_object(Bucket=self.bucket, Key=key, Body=body)
                except Exception:  # the daemon is gone: this write may or may not have counted
                    acknowledged.pop(key, None)
                    return
                acknowledged[key] = body
        for _ in range(3):
            stop.clear()
            writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
            for writer in writers:
                writer.start()
            stop.wait(1.0)
            self.meridian.kill()
            stop.set()
            for writer in writers:
                writer.join()
            self.meridian.start()
            type(self).s3 = self.meridian.client("s3")
            for key, body in acknowledged.items():
                self.assertEqual(self.read(key), body, key)
            objects = self.meridian.data / "regions" / "us-west-2" / "objects"
            self.assertEqual(list((objects / "tmp").iterdir()), [])
            files = [f for d in objects.iterdir() if d.is_dir() for f in d.iterdir()]
            self.assertEqual(len(files), len(self.keys()))
        self.assertGreater(len(acknowledged), 20)


if __name__ == "__main__":
    unittest.main()
