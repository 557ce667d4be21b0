"""Objects by boto3: round trips, ranges, conditions, checksums, copies, deletes, versions, tags.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import concurrent.futures
import datetime
import hashlib
import http.client
import unittest
import zlib

from s3_case import S3Case

HARD_KEYS = ["run_id=2026-06-26T00:00:00+00:00/f.log", "a%20b", "a%2Bb", "a b", "a+b", "//double//slash",
             "trailing/", "foo/bar/s3://baz", "emoji-😀/€", "quote\"'<>&?#*~!@$^()[]{}|\\", "k" * 1024,
             "./here", "a/../b", "tab\there", "ключ", "%", "%zz"]


class Objects(S3Case):
    def test_every_key_comes_back_from_list_and_get(self):
        for key in HARD_KEYS:
            self.put(key, key.encode())
        self.assertEqual(sorted(self.keys(), key=str.encode), sorted(HARD_KEYS, key=str.encode))
        for key in HARD_KEYS:
            self.assertEqual(self.read(key), key.encode())
            self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key=key)["ContentLength"], len(key.encode()))
        copied = "copy of every/thing"
        for key in HARD_KEYS:
            self.s3.copy_object(Bucket=self.bucket, Key=copied, CopySource={"Bucket": self.bucket, "Key": key})
            self.assertEqual(self.read(copied), key.encode())
        answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": k} for k in HARD_KEYS]})
        self.assertEqual(len(answer["Deleted"]), len(HARD_KEYS))
        self.assertEqual(self.keys(), [copied])

    def test_metadata_and_headers_come_back(self):
        self.put("k", b"body", Metadata={"Some-Name": "value"}, ContentType="text/x", CacheControl="no-store",
                 ContentDisposition="attachment", ContentLanguage="de", ContentEncoding="gzip",
                 StorageClass="STANDARD_IA", ServerSideEncryption="AES256", Tagging="a=b%20c&d=")
        for answer in self.get("k"), self.s3.head_object(Bucket=self.bucket, Key="k"):
            self.assertEqual(answer["Metadata"], {"some-name": "value"})
            self.assertEqual(answer["ContentType"], "text/x")
            self.assertEqual(answer["CacheControl"], "no-store")
            self.assertEqual(answer["ContentDisposition"], "attachment")
            self.assertEqual(answer["ContentLanguage"], "de")
            self.assertEqual(answer["ContentEncoding"], "gzip")
            self.assertEqual(answer["StorageClass"], "STANDARD_IA")
            self.assertEqual(answer["ServerSideEncryption"], "AES256")
            self.assertEqual(answer["ETag"], '"%s"' % hashlib.md5(b"body").hexdigest())
        self.assertEqual(self.get("k")["TagCount"], 2)
        tags = self.s3.get_object_tagging(Bucket=self.bucket, Key="k")["TagSet"]
        self.assertEqual(tags, [{"Key": "a", "Value": "b c"}, {"Key": "d", "Value": ""}])
        overridden = self.get("k", ResponseContentType="x/y", ResponseCacheControl="private")
        self.assertEqual((overridden["ContentType"], overridden["CacheControl"]), ("x/y", "private"))
        self.assertEqual(self.put("plain")["ResponseMetadata"]["HTTPStatusCode"], 200)
        self.assertEqual(self.get("plain")["ContentType"], "binary/octet-stream")

    def test_ranges(self):
        body = bytes(range(200))
        self.put("k", body)
        for text, part in [("bytes=0-9", body[:10]), ("bytes=190-", body[190:]), ("bytes=-7", body[-7:]),
                           ("bytes=150-9999", body[150:]), ("bytes=-9999", body), ("bytes=199-199", body[199:])]:
            answer = self.get("k", Range=text)
            self.assertEqual(answer["ResponseMetadata"]["HTTPStatusCode"], 206)
            self.assertEqual(answer["Body"].read(), part, text)
            first = len(body) - len(part) if text.startswith("bytes=-") else int(text[6:].split("-")[0])
            self.assertEqual(answer["ContentRange"], f"bytes {first}-{first + len(part) - 1}/200")
        for text in "bytes=200-", "bytes=-0", "bytes=500-600":
            self.assert_fails("InvalidRange", 416, self.get, key="k", Range=text)
        for text in "bytes=9-3", "lines=1-2", "bytes=a-b", "bytes=0-1,5-6":  # not a range: the whole
            answer = self.get("k", Range=text)
            self.assertEqual((answer["ResponseMetadata"]["HTTPStatusCode"], answer["Body"].read()), (200, body), text)
        self.put("empty", b"")
        self.assert_fails("InvalidRange", 416, self.get, key="empty", Range="bytes=0-")

    def test_conditional_reads(self):
        etag = self.put("k", b"body")["ETag"]
        modified = self.get("k")["LastModified"]
        later, earlier = modified + datetime.timedelta(hours=1), modified - datetime.timedelta(hours=1)
        for good in [dict(IfMatch=etag), dict(IfMatch=etag.strip('"')), dict(IfMatch="*"), dict(IfNoneMatch='"x"'),
                     dict(IfModifiedSince=earlier), dict(IfUnmodifiedSince=later),
                     dict(IfMatch=etag, IfUnmodifiedSince=earlier),       # If-Match decides alone
                     dict(IfNoneMatch='"x"', IfModifiedSince=later)]:     # If-None-Match decides alone
            self.assertEqual(self.read("k", **good), b"body", good)
        for bad in dict(IfMatch='"x"'), dict(IfUnmodifiedSince=earlier), dict(IfMatch='"x"', IfUnmodifiedSince=later):
            self.assert_fails("PreconditionFailed", 412, self.get, key="k", **bad)
        for same in dict(IfNoneMatch=etag), dict(IfNoneMatch="*"), dict(IfModifiedSince=later):
            self.assert_fails("304", 304, self.get, key="k", **same)
        self.assert_fails("NoSuchKey", 404, self.get, key="absent", IfNoneMatch=etag)

    def write(self, key, body, **headers):
        """A put with headers that this boto3 has no parameter for."""
        return self.signed("PUT", f"/{self.bucket}/{key}", {k.replace("_", "-"): v for k, v in headers.items()}, body)

    def test_of_two_writers_with_if_none_match_one_wins(self):
        def write(number):
            return self.write("lock", b"writer %d" % number, If_None_Match="*")
        for _ in range(5):
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(write, range(8)))
            statuses = sorted(status for status, _, _ in answers)
            self.assertEqual(statuses, [200] + [412] * 7)
            winner = next(i for i, answer in enumerate(answers) if answer[0] == 200)
            self.assertEqual(self.read("lock"), b"writer %d" % winner)
            self.s3.delete_object(Bucket=self.bucket, Key="lock")

    def test_conditional_writes(self):
        etag = self.put("k", b"one")["ETag"]
        self.assertEqual(self.write("k", b"two", If_Match='"bad"')[0], 412)
        self.assertEqual(self.read("k"), b"one")
        self.assertEqual(self.write("k", b"two", If_Match=etag)[0], 200)
        status, body, _ = self.write("absent", b"x", If_Match=etag)
        self.assertEqual((status, b"NoSuchKey" in body), (404, True))
        self.assertEqual(self.keys(), ["k"])

    def test_digests_are_verified_and_returned(self):
        md5 = base64.b64encode(hashlib.md5(b"body").digest()).decode()
        self.put("k", b"body", ContentMD5=md5)
        self.assert_fails("BadDigest", 400, self.put, key="bad", body=b"other", ContentMD5=md5)
        self.assert_fails("InvalidDigest", 400, self.put, key="bad", body=b"other", ContentMD5="x")
        crc = base64.b64encode(zlib.crc32(b"body").to_bytes(4, "big")).decode()
        sha = base64.b64encode(hashlib.sha256(b"body").digest()).decode()
        self.put("crc", b"body", ChecksumAlgorithm="CRC32")
        self.put("sha", b"body", ChecksumSHA256=sha)
        self.assertEqual(self.get("crc", ChecksumMode="ENABLED")["ChecksumCRC32"], crc)
        self.assertNotIn("ChecksumCRC32", self.get("crc"))
        self.assertNotIn("ChecksumCRC32", self.get("crc", ChecksumMode="ENABLED", Range="bytes=0-1"))
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="sha", ChecksumMode="ENABLED")["ChecksumSHA256"], sha)
        self.assert_fails("BadDigest", 400, self.put, key="bad", body=b"other", ChecksumSHA256=sha)
        self.assert_fails("BadDigest", 400, self.put, key="bad", body=b"other", ChecksumCRC32=crc)
        self.assert_fails("InvalidRequest", 400, self.put, key="bad", body=b"other", ChecksumCRC32="????")
        attributes = self.s3.get_object_attributes(Bucket=self.bucket, Key="sha",
                                                   ObjectAttributes=["Checksum", "ObjectSize", "ETag", "StorageClass"])
        self.assertEqual((attributes["Checksum"]["ChecksumSHA256"], attributes["ObjectSize"]), (sha, 4))
        self.assertEqual(sorted(self.keys()), ["crc", "k", "sha"])

    def test_trailing_checksums_are_verified(self):
        crc = base64.b64encode(zlib.crc32(b"hello world").to_bytes(4, "big")).decode()
        for sent, status in (crc, 200), ("AAAAAA==", 400):
            body = b"b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n" % sent.encode()
            answer = self.signed("PUT", f"/{self.bucket}/k{status}", {
                "Content-Encoding": "aws-chunked", "X-Amz-Trailer": "x-amz-checksum-crc32",
                "X-Amz-Decoded-Content-Length": "11"}, body, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            self.assertEqual(answer[0], status, answer)
        self.assertEqual(self.keys(), ["k200"])
        self.assertEqual(self.get("k200", ChecksumMode="ENABLED")["ChecksumCRC32"], crc)
        self.assertNotIn("ContentEncoding", self.get("k200"))

    def test_a_broken_upload_leaves_nothing(self):
        from botocore.config import Config
        client = self.meridian.client("s3", config=Config(signature_version="s3v4"))
        url = client.generate_presigned_url("put_object", Params={"Bucket": self.bucket, "Key": "broken"})
        connection = http.client.HTTPConnection("127.0.0.1", self.meridian.run["port"], timeout=30)
        connection.putrequest("PUT", url.split(str(self.meridian.run["port"]), 1)[1])
        connection.putheader("Content-Length", str(8 << 20))
        connection.endheaders()
        connection.send(b"x" * (4 << 20))
        connection.sock.close()
        connection.close()
        self.put("after")
        self.assertEqual(self.keys(), ["after"])
        objects = self.meridian.data / "regions" / "us-west-2" / "objects"
        for _ in range(100):
            left = list((objects / "tmp").iterdir())
            if not left:
                break
            __import__("time").sleep(0.05)
        self.assertEqual(left, [])

    def test_copies(self):
        self.put("a", b"body", Metadata={"m": "1"}, ContentType="t/x", Tagging="t=1")
        answer = self.s3.copy_object(Bucket=self.bucket, Key="b", CopySource=f"{self.bucket}/a")
        self.assertEqual(answer["CopyObjectResult"]["ETag"], self.get("a")["ETag"])
        copied = self.get("b")
        self.assertEqual((copied["Metadata"], copied["ContentType"], copied["TagCount"]), ({"m": "1"}, "t/x", 1))
        self.assert_fails("InvalidRequest", 400, self.s3.copy_object, Bucket=self.bucket, Key="a",
                          CopySource=f"{self.bucket}/a")
        self.s3.copy_object(Bucket=self.bucket, Key="a", CopySource=f"{self.bucket}/a", Metadata={"n": "2"},
                            MetadataDirective="REPLACE", ContentType="t/y")
        self.assertEqual((self.get("a")["Metadata"], self.get("a")["ContentType"]), ({"n": "2"}, "t/y"))
        self.assertEqual(self.read("a"), b"body")
        self.s3.delete_object(Bucket=self.bucket, Key="a")
        self.assertEqual(self.read("b"), b"body")
        self.assert_fails("NoSuchKey", 404, self.s3.copy_object, Bucket=self.bucket, Key="c", CopySource=f"{self.bucket}/a")
        self.assert_fails("PreconditionFailed", 412, self.s3.copy_object, Bucket=self.bucket, Key="c",
                          CopySource=f"{self.bucket}/b", CopySourceIfMatch='"x"')

    def test_a_copy_from_a_bucket_of_another_region(self):
        self.other.create_bucket(Bucket="elsewhere", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        self.other.put_object(Bucket="elsewhere", Key="k", Body=b"far", Metadata={"m": "1"})
        self.s3.copy_object(Bucket=self.bucket, Key="k", CopySource="elsewhere/k")
        self.assertEqual((self.read("k"), self.get("k")["Metadata"]), (b"far", {"m": "1"}))

    def test_deletes(self):
        for key in "abc":
            self.put(key)
        self.s3.delete_object(Bucket=self.bucket, Key="a")
        self.s3.delete_object(Bucket=self.bucket, Key="a")  # absent is fine
        quiet = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": "b"}, {"Key": "zz"}], "Quiet": True})
        self.assertNotIn("Deleted", quiet)
        self.assertEqual(self.keys(), ["c"])
        self.assert_fails("NoSuchKey", 404, self.get, key="a")
        self.assert_fails("404", 404, self.s3.head_object, Bucket=self.bucket, Key="a")

    def test_a_folder_marker_has_an_etag(self):
        self.assertEqual(self.put("data/", b"")["ETag"], '"d41d8cd98f00b204e9800998ecf8427e"')
        self.put("data/file")
        self.assertEqual(self.keys(), ["data/", "data/file"])

    def test_a_reader_of_an_overwritten_object_reads_the_old_bytes(self):
        old = b"o" * (32 << 20)
        self.put("k", old)
        body = self.get("k")["Body"]
        start = body.read(1000)
        self.put("k", b"new")
        self.assertEqual(start + body.read(), old)
        self.assertEqual(self.read("k"), b"new")

    def test_tags(self):
        self.put("k")
        self.s3.put_object_tagging(Bucket=self.bucket, Key="k", Tagging={"TagSet": [{"Key": "a", "Value": "1"}]})
        self.assertEqual(self.s3.get_object_tagging(Bucket=self.bucket, Key="k")["TagSet"], [{"Key": "a", "Value": "1"}])
        self.s3.delete_object_tagging(Bucket=self.bucket, Key="k")
        self.assertEqual(self.s3.get_object_tagging(Bucket=self.bucket, Key="k")["TagSet"], [])
        many = {"TagSet": [{"Key": str(i), "Value": ""} for i in range(11)]}
        self.assert_fails("BadRequest", 400, self.s3.put_object_tagging, Bucket=self.bucket, Key="k", Tagging=many)

    def test_bad_keys_and_metadata_are_refused(self):
        self.assert_fails("KeyTooLongError", 400, self.put, key="k" * 1025)
        self.assert_fails("MetadataTooLarge", 400, self.put, key="k", Metadata={"m": "x" * 2100})
        self.assert_fails("InvalidStorageClass", 400, self.put, key="k", StorageClass="NOWHERE")
        self.assertEqual(self.keys(), [])


class Versions(S3Case):
    def setUp(self):
        super().setUp()
        self.s3.put_bucket_versioning(Bucket=self.bucket, VersioningConfiguration={"Status": "Enabled"})

    def versions(self, **more):
        answer = self.s3.list_object_versions(Bucket=self.bucket, **more)
        every = [(v["Key"], v["VersionId"], v["IsLatest"]) for v in answer.get("Versions", [])]
        markers = [(v["Key"], v["VersionId"], v["IsLatest"]) for v in answer.get("DeleteMarkers", [])]
        return every, markers

    def test_every_version_stays_readable(self):
        first = self.put("k", b"1")["VersionId"]
        second = self.put("k", b"2")["VersionId"]
        self.assertEqual(self.read("k"), b"2")
        self.assertEqual(self.read("k", VersionId=first), b"1")
        self.assertEqual(self.get("k", VersionId=second)["VersionId"], second)
        self.assertEqual(self.versions(), ([("k", second, True), ("k", first, False)], []))
        self.assert_fails("NoSuchVersion", 404, self.get, key="k", VersionId="0" * 24)

    def test_a_delete_marker_hides_and_its_removal_shows_again(self):
        first = self.put("k", b"1")["VersionId"]
        gone = self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.assertTrue(gone["DeleteMarker"])
        error = self.assert_fails("NoSuchKey", 404, self.get, key="k")
        self.assertEqual(error["ResponseMetadata"]["HTTPHeaders"]["x-amz-delete-marker"], "true")
        self.assertEqual(self.keys(), [])
        self.assertEqual(self.versions(), ([("k", first, False)], [("k", gone["VersionId"], True)]))
        self.assert_fails("MethodNotAllowed", 405, self.get, key="k", VersionId=gone["VersionId"])
        removed = self.s3.delete_object(Bucket=self.bucket, Key="k", VersionId=gone["VersionId"])
        self.assertTrue(removed["DeleteMarker"])
        self.assertEqual(self.read("k"), b"1")

    def test_removing_the_current_version_brings_the_one_before(self):
        first = self.put("k", b"1")["VersionId"]
        second = self.put("k", b"2")["VersionId"]
        self.s3.delete_object(Bucket=self.bucket, Key="k", VersionId=second)
        self.assertEqual(self.read("k"), b"1")
        self.s3.delete_object(Bucket=self.bucket, Key="k", VersionId=first)
        self.assertEqual(self.versions(), ([], []))
        self.s3.delete_bucket(Bucket=self.bucket)

    def test_suspended_versioning_overwrites_the_null_version(self):
        first = self.put("k", b"1")["VersionId"]
        self.s3.put_bucket_versioning(Bucket=self.bucket, VersioningConfiguration={"Status": "Suspended"})
        self.put("k", b"null 1")
        self.put("k", b"null 2")
        self.assertEqual(self.versions()[0], [("k", "null", True), ("k", first, False)])
        self.assertEqual(self.read("k", VersionId="null"), b"null 2")
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.assertEqual(self.versions(), ([("k", first, False)], [("k", "null", True)]))

    def test_a_bucket_with_old_versions_is_not_empty(self):
        self.put("k")
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.assert_fails("BucketNotEmpty", 409, self.s3.delete_bucket, Bucket=self.bucket)

    def test_versions_are_listed_in_pages(self):
        expected = []
        for key in "abc":
            ids = [self.put(key, str(i).encode())["VersionId"] for i in range(5)]
            expected += [(key, v, v == ids[-1]) for v in reversed(ids)]
        for size in 1, 2, 4, 7:
            pages = self.s3.get_paginator("list_object_versions").paginate(
                Bucket=self.bucket, PaginationConfig={"PageSize": size})
            seen = [(v["Key"], v["VersionId"], v["IsLatest"]) for page in pages for v in page.get("Versions", [])]
            self.assertEqual(seen, expected, size)


if __name__ == "__main__":
    unittest.main()
