"""Multipart uploads by boto3.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import concurrent.futures
import hashlib
import http.client
import io
import os
import unittest
import zlib

from s3_case import S3Case

MB = 1 << 20


class Multipart(S3Case):
    def start(self, key="k", **more):
        return self.s3.create_multipart_upload(Bucket=self.bucket, Key=key, **more)["UploadId"]

    def part(self, upload, number, body, key="k", **more):
        return self.s3.upload_part(Bucket=self.bucket, Key=key, UploadId=upload, PartNumber=number, Body=body, **more)

    def complete(self, upload, parts, key="k"):
        return self.s3.complete_multipart_upload(
            Bucket=self.bucket, Key=key, UploadId=upload,
            MultipartUpload={"Parts": [{"PartNumber": n, "ETag": e} for n, e in parts]})

    def content_files(self):
        objects = self.meridian.data / "regions" / "us-west-2" / "objects"
        return {f.name for d in objects.iterdir() if d.is_dir() for f in d.iterdir()}

    def test_upload_file_and_ranges(self):
        body = os.urandom(20 * MB + 123)
        self.s3.upload_fileobj(io.BytesIO(body), self.bucket, "k")
        head = self.s3.head_object(Bucket=self.bucket, Key="k")
        digests = b"".join(hashlib.md5(body[i:i + 8 * MB]).digest() for i in range(0, len(body), 8 * MB))
        self.assertEqual(head["ETag"], '"%s-3"' % hashlib.md5(digests).hexdigest())
        self.assertEqual(self.read("k"), body)
        for first, last in (0, 9), (8 * MB - 5, 8 * MB + 5), (16 * MB, len(body) - 1), (7 * MB, 17 * MB):
            self.assertEqual(self.read("k", Range=f"bytes={first}-{last}"), body[first:last + 1])
        second = self.get("k", PartNumber=2)
        self.assertEqual((second["PartsCount"], second["Body"].read()), (3, body[8 * MB:16 * MB]))
        self.assert_fails("InvalidPartNumber", 416, self.get, key="k", PartNumber=4)
        sink = io.BytesIO()
        self.s3.download_fileobj(self.bucket, "k", sink)
        self.assertEqual(sink.getvalue(), body)
        self.s3.copy_object(Bucket=self.bucket, Key="copy", CopySource=f"{self.bucket}/k")
        self.assertEqual(self.get("copy")["ETag"], '"%s"' % hashlib.md5(body).hexdigest())
        self.assertEqual(self.read("copy"), body)

    def test_completion_is_a_list_of_parts(self):
        before = self.content_files()
        upload = self.start()
        etags = [(n, self.part(upload, n, bytes([n]) * (5 * MB))["ETag"]) for n in (1, 2)]
        parts = self.content_files() - before
        self.assertEqual(len(parts), 1)  # parts of one size lie in one file
        self.complete(upload, etags)
        self.assertEqual(self.content_files() - before, parts)
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.assertEqual(self.content_files() - before, set())

    def test_rules_of_completion(self):
        upload = self.start()
        small = self.part(upload, 1, b"small")["ETag"]
        last = self.part(upload, 3, b"last")["ETag"]
        self.assert_fails("EntityTooSmall", 400, self.complete, upload=upload, parts=[(1, small), (3, last)])
        self.assert_fails("InvalidPartOrder", 400, self.complete, upload=upload, parts=[(3, last), (1, small)])
        self.assert_fails("InvalidPart", 400, self.complete, upload=upload, parts=[(2, small)])
        self.assert_fails("InvalidPart", 400, self.complete, upload=upload, parts=[(1, last)])
        self.assert_fails("NoSuchUpload", 404, self.complete, upload="0" * 32, parts=[(1, small)])
        self.assert_fails("InvalidArgument", 400, self.part, upload=upload, number=10001, body=b"")
        self.assertEqual(self.keys(), [])
        self.complete(upload, [(3, last)])  # any numbers, and not all parts
        self.assertEqual(self.read("k"), b"last")
        self.assert_fails("NoSuchUpload", 404, self.part, upload=upload, number=1, body=b"x")

    def test_a_part_sent_twice_counts_once(self):
        upload = self.start()
        self.part(upload, 1, b"first")
        etag = self.part(upload, 1, b"second")["ETag"]
        self.complete(upload, [(1, etag)])
        self.assertEqual(self.read("k"), b"second")

    def test_a_completion_asked_for_again_gives_the_same_answer(self):
        upload = self.start()
        etag = self.part(upload, 1, b"body")["ETag"]
        first = self.complete(upload, [(1, etag)])
        second = self.complete(upload, [(1, etag)])
        self.assertEqual((second["ETag"], second["Location"]), (first["ETag"], first["Location"]))
        self.assert_fails("NoSuchUpload", 404, self.complete, upload=upload, parts=[(1, "0" * 32)])
        self.put("k", b"newer")
        self.complete(upload, [(1, etag)])
        self.assertEqual(self.read("k"), b"newer")

    def test_a_completion_may_name_the_checksum_and_size_of_the_whole_object(self):
        body = b"a" * (5 * MB) + b"b" * 10
        whole = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
        status, answer, _ = self.signed("POST", f"/{self.bucket}/k?uploads", {
            "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "FULL_OBJECT"})
        self.assertEqual(status, 200, answer)
        upload = answer.split(b"<UploadId>")[1].split(b"<")[0].decode()
        parts = "".join(
            f"<Part><PartNumber>{n}</PartNumber><ETag>{self.part(upload, n, piece)['ETag']}</ETag></Part>"
            for n, piece in enumerate((body[:5 * MB], body[5 * MB:]), 1))
        document = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()

        def complete(checksum, size):
            return self.signed("POST", f"/{self.bucket}/k?uploadId={upload}",
                               {"x-amz-checksum-crc32": checksum, "x-amz-mp-object-size": str(size)}, document)
        status, answer, _ = complete("AAAAAA==", len(body))
        self.assertEqual((status, b"BadDigest" in answer), (400, True), answer)
        status, answer, _ = complete(whole, len(body) - 1)
        self.assertEqual((status, b"InvalidRequest" in answer), (400, True), answer)
        status, answer, _ = complete(whole, len(body))
        self.assertEqual((status, whole.encode() in answer), (200, True), answer)
        self.assertEqual(self.read("k"), body)

    def test_abort_removes_the_parts(self):
        before = self.content_files()
        upload = self.start()
        self.part(upload, 1, b"x")
        self.assert_fails("BucketNotEmpty", 409, self.s3.delete_bucket, Bucket=self.bucket)
        self.s3.abort_multipart_upload(Bucket=self.bucket, Key="k", UploadId=upload)
        self.assertEqual(self.content_files(), before)
        self.assert_fails("NoSuchUpload", 404, self.s3.list_parts, Bucket=self.bucket, Key="k", UploadId=upload)
        self.s3.delete_bucket(Bucket=self.bucket)

    def test_uploads_and_parts_are_listed_in_pages(self):
        uploads = sorted((f"dir/{i}", self.start(f"dir/{i}")) for i in range(5))
        pages = self.s3.get_paginator("list_multipart_uploads").paginate(
            Bucket=self.bucket, PaginationConfig={"PageSize": 2})
        self.assertEqual([(u["Key"], u["UploadId"]) for page in pages for u in page.get("Uploads", [])], uploads)
        grouped = self.s3.list_multipart_uploads(Bucket=self.bucket, Delimiter="/")
        self.assertEqual(grouped["CommonPrefixes"], [{"Prefix": "dir/"}])
        key, upload = uploads[0]
        for number in range(1, 6):
            self.part(upload, number, b"x" * number, key=key)
        pages = self.s3.get_paginator("list_parts").paginate(
            Bucket=self.bucket, Key=key, UploadId=upload, PaginationConfig={"PageSize": 2})
        self.assertEqual([(p["PartNumber"], p["Size"]) for page in pages for p in page.get("Parts", [])],
                         [(n, n) for n in range(1, 6)])

    def test_parts_are_copied_from_ranges(self):
        body = os.urandom(12 * MB)
        self.put("source", body)
        upload = self.start()
        etags = []
        for number, (first, last) in enumerate([(0, 6 * MB - 1), (6 * MB, 12 * MB - 1)], 1):
            answer = self.s3.upload_part_copy(Bucket=self.bucket, Key="k", UploadId=upload, PartNumber=number,
                                              CopySource=f"{self.bucket}/source", CopySourceRange=f"bytes={first}-{last}")
            etags.append((number, answer["CopyPartResult"]["ETag"]))
        self.assert_fails("InvalidArgument", 400, self.s3.upload_part_copy, Bucket=self.bucket, Key="k", UploadId=upload,
                          PartNumber=3, CopySource=f"{self.bucket}/source", CopySourceRange=f"bytes=0-{12 * MB}")
        self.complete(upload, etags)
        self.assertEqual(self.read("k"), body)

    def test_checksums_of_parts_make_the_objects(self):
        bodies = [b"a" * (5 * MB), b"b" * 10]
        upload = self.start(ChecksumAlgorithm="CRC32")
        parts = []
        for number, body in enumerate(bodies, 1):
            answer = self.part(upload, number, body, ChecksumAlgorithm="CRC32")
            parts.append({"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": answer["ChecksumCRC32"]})
        done = self.s3.complete_multipart_upload(Bucket=self.bucket, Key="k", UploadId=upload,
                                                 MultipartUpload={"Parts": parts})
        raw = b"".join(zlib.crc32(body).to_bytes(4, "big") for body in bodies)
        expected = base64.b64encode(zlib.crc32(raw).to_bytes(4, "big")).decode() + "-2"
        self.assertEqual(done["ChecksumCRC32"], expected)
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="k", ChecksumMode="ENABLED")["ChecksumCRC32"], expected)
        attributes = self.s3.get_object_attributes(Bucket=self.bucket, Key="k", ObjectAttributes=["ObjectParts", "Checksum"])
        self.assertEqual([p["Size"] for p in attributes["ObjectParts"]["Parts"]], [len(b) for b in bodies])
        upload = self.start("wrong", ChecksumAlgorithm="CRC32")
        self.assert_fails("BadDigest", 400, self.part, upload=upload, number=1, body=b"x", key="wrong",
                          ChecksumCRC32="AAAAAA==")

    def test_an_upload_survives_a_failed_precondition(self):
        self.put("k", b"there")
        upload = self.start()
        etag = self.part(upload, 1, b"new")["ETag"]

        def add_header(request, **_):
            request.headers["If-None-Match"] = "*"
        client = self.meridian.client("s3")
        client.meta.events.register("before-sign.s3.CompleteMultipartUpload", add_header)
        arguments = dict(Bucket=self.bucket, Key="k", UploadId=upload,
                         MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
        self.assert_fails("PreconditionFailed", 412, client.complete_multipart_upload, **arguments)
        self.assertEqual(self.read("k"), b"there")
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        client.complete_multipart_upload(**arguments)
        self.assertEqual(self.read("k"), b"new")

    def test_a_large_object_goes_up_and_comes_down_by_ranges(self):
        """5 GiB in `./dev soak s3`, a twentieth of it otherwise."""
        part_size = 16 * MB
        count = 320 if os.environ.get("MERIDIAN_SOAK") else 16
        block = os.urandom(MB)

        def bytes_of(number):  # of one part: different in each MiB, and not kept
            return b"".join(b"%08d" % (number * 16 + i) + block[8:] for i in range(16))
        upload = self.start("large")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            etags = list(pool.map(lambda n: self.part(upload, n, bytes_of(n), key="large")["ETag"], range(1, count + 1)))
        self.complete(upload, list(enumerate(etags, 1)), key="large")
        size = self.s3.head_object(Bucket=self.bucket, Key="large")["ContentLength"]
        self.assertEqual(size, count * part_size)

        def check(number):  # ranges that lie across the parts' borders
            first = (number - 1) * part_size + part_size // 2
            expected = (bytes_of(number) + bytes_of(number + 1))[part_size // 2:][:part_size]
            return self.read("large", Range=f"bytes={first}-{first + part_size - 1}") == expected
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(check, range(1, count))))
        self.assertEqual(self.read("large", Range="bytes=-100"), bytes_of(count)[-100:])


if __name__ == "__main__":
    unittest.main()
