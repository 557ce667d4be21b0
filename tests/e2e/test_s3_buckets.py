"""Buckets, listings and regions by boto3.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import datetime
import http.client
import json
import unittest

import harness
from s3_case import S3Case


class Buckets(S3Case):
    def test_names_are_unique_over_all_regions(self):
        self.assert_fails("BucketAlreadyOwnedByYou", 409, self.s3.create_bucket, Bucket=self.bucket)
        self.assert_fails("BucketAlreadyOwnedByYou", 409, self.other.create_bucket, Bucket=self.bucket,
                          CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        self.assertIn(self.bucket, [b["Name"] for b in self.s3.list_buckets()["Buckets"]])

    def test_bad_names_are_refused(self):
        for name in "ab", "UpperCase", "under_score", "-dash", "dots..twice", "1.2.3.4", "x" * 64:
            status, body, _ = self.signed("PUT", "/" + name)
            self.assertEqual((status, b"InvalidBucketName" in body), (400, True), name)

    def test_a_bucket_lives_in_its_region(self):
        self.other.create_bucket(Bucket="in-europe", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        self.other.put_object(Bucket="in-europe", Key="k", Body=b"x")
        self.assertEqual(self.other.get_bucket_location(Bucket="in-europe")["LocationConstraint"], "eu-central-1")
        self.assertEqual(self.s3.get_bucket_location(Bucket="in-europe")["LocationConstraint"], "eu-central-1")
        self.assertEqual(self.other.head_bucket(Bucket="in-europe")["ResponseMetadata"]["HTTPHeaders"]
                         ["x-amz-bucket-region"], "eu-central-1")
        for method, path in ("GET", "/in-europe/k"), ("HEAD", "/in-europe"), ("HEAD", "/in-europe/k"), ("PUT", "/in-europe/z"):
            status, body, _ = self.signed(method, path)
            self.assertEqual(status, 301, method + path)
            self.assertEqual(b"PermanentRedirect" in body, method != "HEAD")
        self.assertTrue((self.meridian.data / "regions" / "eu-central-1" / "s3.db").exists())

    def test_clients_follow_the_redirect(self):
        self.other.create_bucket(Bucket="follow-me", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        self.s3.put_object(Bucket="follow-me", Key="k", Body=b"followed")
        self.assertEqual(self.other.get_object(Bucket="follow-me", Key="k")["Body"].read(), b"followed")

    def test_settings_that_are_not_there_say_so(self):
        self.assertEqual(self.s3.get_bucket_acl(Bucket=self.bucket)["Grants"][0]["Permission"], "FULL_CONTROL")
        self.assertNotIn("Status", self.s3.get_bucket_versioning(Bucket=self.bucket))
        for call, code in [(self.s3.get_bucket_policy, "NoSuchBucketPolicy"),
                           (self.s3.get_bucket_tagging, "NoSuchTagSet"),
                           (self.s3.get_bucket_cors, "NoSuchCORSConfiguration"),
                           (self.s3.get_bucket_lifecycle_configuration, "NoSuchLifecycleConfiguration"),
                           (self.s3.get_bucket_encryption, "ServerSideEncryptionConfigurationNotFoundError")]:
            self.assert_fails(code, 404, call, Bucket=self.bucket)
        self.assert_fails("NotImplemented", 501, self.s3.get_bucket_inventory_configuration, Bucket=self.bucket, Id="i")
        self.s3.put_bucket_tagging(Bucket=self.bucket, Tagging={"TagSet": [{"Key": "team", "Value": "a"}]})
        self.assertEqual(self.s3.get_bucket_tagging(Bucket=self.bucket)["TagSet"], [{"Key": "team", "Value": "a"}])

    def test_a_bucket_of_which_nobody_says_where_lies_in_the_first_region(self):
        self.meridian.client("s3", region="ap-south-1").create_bucket(Bucket="nowhere-in-particular")
        self.assertEqual(self.s3.get_bucket_location(Bucket="nowhere-in-particular")["LocationConstraint"], "us-west-2")

    def test_policy_and_encryption_are_stored_and_not_enforced(self):
        policy = json.dumps({"Version": "2012-10-17", "Statement": [{
            "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": f"arn:aws:s3:::{self.bucket}/*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}}}]})
        answer = self.s3.put_bucket_policy(Bucket=self.bucket, Policy=policy)
        self.assertIn("not enforced", answer["ResponseMetadata"]["HTTPHeaders"]["warning"])
        self.assertEqual(self.s3.get_bucket_policy(Bucket=self.bucket)["Policy"], policy)
        self.put("k")
        self.s3.delete_bucket_policy(Bucket=self.bucket)
        self.assert_fails("NoSuchBucketPolicy", 404, self.s3.get_bucket_policy, Bucket=self.bucket)
        self.assert_fails("MalformedPolicy", 400, self.s3.put_bucket_policy, Bucket=self.bucket, Policy="{}")
        self.assert_fails("AccessDenied", 403, self.s3.put_bucket_policy, Bucket=self.bucket,
                          Policy=policy.replace("Deny", "Allow").replace("Condition", "Sid").replace(
                              '{"Bool": {"aws:SecureTransport": "false"}}', '"open"'))
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
        answer = self.s3.put_bucket_encryption(Bucket=self.bucket, ServerSideEncryptionConfiguration=rules)
        self.assertIn("not enforced", answer["ResponseMetadata"]["HTTPHeaders"]["warning"])
        stored = self.s3.get_bucket_encryption(Bucket=self.bucket)["ServerSideEncryptionConfiguration"]["Rules"]
        self.assertEqual(stored[0]["ApplyServerSideEncryptionByDefault"], {"SSEAlgorithm": "AES256"})

    def test_a_life_cycle_removes_what_is_due(self):
        for key in "tmp/a", "tmp/b", "keep/c":
            self.put(key)
        rules = [{"ID": "tmp", "Status": "Enabled", "Filter": {"Prefix": "tmp/"},
                  "Expiration": {"Date": datetime.datetime(2020, 1, 1)}},
                 {"ID": "later", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 30},
                  "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}]
        self.s3.put_bucket_lifecycle_configuration(Bucket=self.bucket, LifecycleConfiguration={"Rules": rules})
        stored = self.s3.get_bucket_lifecycle_configuration(Bucket=self.bucket)["Rules"]
        self.assertEqual([r["ID"] for r in stored], ["tmp", "later"])
        harness.wait_for(lambda: self.keys() == ["keep/c"], 60, "the expired objects to be gone")
        self.s3.delete_bucket_lifecycle(Bucket=self.bucket)
        self.assert_fails("NoSuchLifecycleConfiguration", 404, self.s3.get_bucket_lifecycle_configuration,
                          Bucket=self.bucket)

    def test_settings_that_tools_make_by_habit(self):
        block = {name: True for name in ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy",
                                         "RestrictPublicBuckets")}
        self.assertEqual(self.s3.get_public_access_block(Bucket=self.bucket)["PublicAccessBlockConfiguration"], block)
        block["BlockPublicAcls"] = False
        self.s3.put_public_access_block(Bucket=self.bucket, PublicAccessBlockConfiguration=block)
        self.assertEqual(self.s3.get_public_access_block(Bucket=self.bucket)["PublicAccessBlockConfiguration"], block)
        self.s3.put_bucket_ownership_controls(
            Bucket=self.bucket, OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]})
        self.s3.put_bucket_notification_configuration(Bucket=self.bucket, NotificationConfiguration={})
        self.s3.put_bucket_request_payment(Bucket=self.bucket, RequestPaymentConfiguration={"Payer": "BucketOwner"})
        refused = self.assert_fails(
            "NotImplemented", 501, self.s3.put_object_lock_configuration, Bucket=self.bucket,
            ObjectLockConfiguration={"ObjectLockEnabled": "Enabled"})
        self.assertIn("versioning", refused["Error"]["Message"])

    def test_another_accounts_owner_header_is_refused(self):
        self.s3.head_bucket(Bucket=self.bucket, ExpectedBucketOwner="000000000000")
        self.assert_fails("403", 403, self.s3.head_bucket, Bucket=self.bucket, ExpectedBucketOwner="111111111111")

    def test_a_bucket_goes_only_when_it_is_empty(self):
        self.put("k")
        self.assert_fails("BucketNotEmpty", 409, self.s3.delete_bucket, Bucket=self.bucket)
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.s3.delete_bucket(Bucket=self.bucket)
        self.assert_fails("NoSuchBucket", 404, self.s3.list_objects_v2, Bucket=self.bucket)
        self.assert_fails("404", 404, self.s3.head_bucket, Bucket=self.bucket)

    def test_cors(self):
        rule = {"AllowedOrigins": ["https://*.example"], "AllowedMethods": ["GET", "PUT"], "AllowedHeaders": ["x-*"],
                "ExposeHeaders": ["ETag"], "MaxAgeSeconds": 60}
        self.s3.put_bucket_cors(Bucket=self.bucket, CORSConfiguration={"CORSRules": [rule]})
        self.assertEqual(self.s3.get_bucket_cors(Bucket=self.bucket)["CORSRules"], [rule])

        def preflight(origin, method="PUT", headers="x-some"):
            connection = http.client.HTTPConnection("127.0.0.1", self.meridian.run["port"], timeout=30)
            connection.request("OPTIONS", f"/{self.bucket}/k", headers={
                "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers})
            response = connection.getresponse()
            response.read()
            connection.close()
            return response
        good = preflight("https://a.example")
        self.assertEqual((good.status, good.headers["Access-Control-Allow-Origin"]), (200, "https://a.example"))
        self.assertEqual(preflight("https://evil.test").status, 403)
        self.assertEqual(preflight("https://a.example", method="DELETE").status, 403)
        self.assertEqual(preflight("https://a.example", headers="authorization").status, 403)

    def test_virtual_host_style(self):
        self.put("dir/k", b"by host")
        from botocore.config import Config
        client = self.meridian.client("s3", config=Config(s3={"addressing_style": "virtual"}, signature_version="s3v4"),
                                      endpoint_url=f"http://localhost:{self.meridian.run['port']}")
        url = client.generate_presigned_url("get_object", Params={"Bucket": self.bucket, "Key": "dir/k"})
        host, path = url[len("http://"):].split("/", 1)
        self.assertTrue(host.startswith(self.bucket + ".localhost"), host)
        connection = http.client.HTTPConnection("127.0.0.1", self.meridian.run["port"], timeout=30)
        connection.request("GET", "/" + path, headers={"Host": host})
        response = connection.getresponse()
        self.assertEqual((response.status, response.read()), (200, b"by host"))
        connection.close()


class Listings(S3Case):
    def fill(self, keys):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(self.put, keys))

    def test_ten_thousand_keys(self):
        keys = sorted(f"d{i % 7}/sub{i % 13}/{i:05}" for i in range(10_000))
        self.fill(keys)
        self.assertEqual(self.keys(), keys)
        self.assertEqual(self.keys(Prefix="d3/"), [k for k in keys if k.startswith("d3/")])
        pages = self.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Delimiter="/", PaginationConfig={"PageSize": 3})
        self.assertEqual([p["Prefix"] for page in pages for p in page.get("CommonPrefixes", [])],
                         [f"d{i}/" for i in range(7)])
        pages = self.s3.get_paginator("list_objects").paginate(
            Bucket=self.bucket, Prefix="d1/", Delimiter="/", PaginationConfig={"PageSize": 5})
        self.assertEqual(sorted(p["Prefix"] for page in pages for p in page.get("CommonPrefixes", [])),
                         sorted(f"d1/sub{i}/" for i in range(13)))

    def test_any_delimiter_and_page_size_end(self):
        keys = sorted(f"a{i % 5}-b{i % 3}-{i:02}" for i in range(50))
        self.fill(keys)
        for delimiter in "-", "-b", "b1":
            plain, groups = set(), set()
            for key in keys:
                at = key.find(delimiter)
                (groups.add(key[:at + len(delimiter)]) if at >= 0 else plain.add(key))
            for name in "list_objects_v2", "list_objects":
                for size in 1, 2, 7:
                    pages = list(self.s3.get_paginator(name).paginate(
                        Bucket=self.bucket, Delimiter=delimiter, PaginationConfig={"PageSize": size}))
                    seen = [p["Prefix"] for page in pages for p in page.get("CommonPrefixes", [])]
                    found = [c["Key"] for page in pages for c in page.get("Contents", [])]
                    self.assertEqual((seen, found), (sorted(groups), sorted(plain)), (name, delimiter, size))

    def test_parameters_of_a_listing(self):
        self.fill(["a", "b", "c"])
        self.assert_fails("InvalidArgument", 400, self.s3.list_objects_v2, Bucket=self.bucket, ContinuationToken="")
        self.assert_fails("InvalidArgument", 400, self.s3.list_objects_v2, Bucket=self.bucket, ContinuationToken="%%")
        none = self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=0)
        self.assertEqual((none["KeyCount"], none["IsTruncated"]), (0, False))
        after = self.s3.list_objects_v2(Bucket=self.bucket, StartAfter="a", FetchOwner=True)
        self.assertEqual([c["Key"] for c in after["Contents"]], ["b", "c"])
        self.assertIn("ID", after["Contents"][0]["Owner"])
        self.assertNotIn("Owner", self.s3.list_objects_v2(Bucket=self.bucket)["Contents"][0])
        first = self.s3.list_objects(Bucket=self.bucket, MaxKeys=2)
        self.assertTrue(first["IsTruncated"])
        self.assertEqual([c["Key"] for c in self.s3.list_objects(Bucket=self.bucket, Marker="b")["Contents"]], ["c"])


if __name__ == "__main__":
    unittest.main()
