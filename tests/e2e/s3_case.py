"""A daemon with two regions and a bucket, shared by the S3 tests of one file.

SPDX-License-Identifier: Apache-2.0
"""
import http.client
import unittest

import harness


class S3Case(unittest.TestCase):
    regions = ("us-west-2", "eu-central-1")

    @classmethod
    def setUpClass(cls):
        cls.meridian = harness.Daemon(regions=cls.regions).start()
        cls.addClassCleanup(cls.meridian.__exit__, None, None, None)
        cls.s3 = cls.meridian.client("s3")
        cls.other = cls.meridian.client("s3", region="eu-central-1")

    def setUp(self):
        # One bucket for each test: what one leaves does not matter to another.
        self.bucket = self.id().rsplit(".", 1)[1].lower().replace("_", "-")[:60].strip("-")
        self.s3.create_bucket(Bucket=self.bucket)

    def put(self, key, body=b"x", **more):
        return self.s3.put_object(Bucket=self.bucket, Key=key, Body=body, **more)

    def get(self, key, **more):
        return self.s3.get_object(Bucket=self.bucket, Key=key, **more)

    def read(self, key, **more):
        return self.get(key, **more)["Body"].read()

    def keys(self, **more):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, **more)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def assert_fails(self, code, status, call, **arguments):
        """The call is refused with this error code and HTTP status; returns the error's response."""
        with self.assertRaises(self.s3.exceptions.ClientError) as caught:
            call(**arguments)
        response = caught.exception.response
        self.assertEqual((response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]),
                         (code, status), response)
        return response

    def signed(self, method, path, headers=None, body=b"", payload="UNSIGNED-PAYLOAD"):
        """A SigV4 request that boto3's own checks do not see: status, body, headers of the answer."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        class Auth(S3SigV4Auth):
            def payload(self, request):
                return payload
        request = AWSRequest(method, self.meridian.endpoint + path, headers=headers or {})
        keys = self.meridian.keys
        Auth(Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"]), "s3",
             self.regions[0]).add_auth(request)
        return self.plain(method, path, dict(request.headers), body)

    def plain(self, method, path, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.meridian.run["port"], timeout=30)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        answer = response.status, response.read(), dict(response.headers)
        connection.close()
        return answer
