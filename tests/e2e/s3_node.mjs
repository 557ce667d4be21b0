// Node's @aws-sdk/client-s3 against a running Meridian: node s3_node.mjs ENDPOINT BUCKET
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import { createRequire } from "node:module";
import { Readable } from "node:stream";

const require = createRequire(import.meta.url); // honours NODE_PATH
const s3 = require("@aws-sdk/client-s3");

const [endpoint, Bucket] = process.argv.slice(2);
const client = new s3.S3Client({ endpoint, region: process.env.AWS_REGION, forcePathStyle: false });
const send = (command, input) => client.send(new s3[command + "Command"]({ Bucket, ...input }));
const read = async (Key, more = {}) => (await send("GetObject", { Key, ...more })).Body.transformToString();

// A string, with the default CRC32 by header.
await send("PutObject", { Key: "plain", Body: "hello", Metadata: { a: "b" } });
assert.equal(await read("plain"), "hello");
assert.equal(await read("plain", { ChecksumMode: "ENABLED" }), "hello");
assert.equal(await read("plain", { Range: "bytes=1-3" }), "ell");
assert.deepEqual((await send("HeadObject", { Key: "plain" })).Metadata, { a: "b" });

// A stream: aws-chunked with a trailing checksum.
const body = "streamed ".repeat(50_000);
await send("PutObject", { Key: "stream", Body: Readable.from([body.slice(0, 77), body.slice(77)]), ContentLength: body.length });
assert.equal(await read("stream"), body);
assert.equal((await send("HeadObject", { Key: "stream" })).ContentEncoding, undefined);

for (const Key of ["a b+c%20", "//x/", "foo/bar/s3://baz", "ü/😀", "q?x=1&y#z"]) {
  await send("PutObject", { Key, Body: Key });
  assert.equal(await read(Key), Key);
}
const listed = [];
let page;
do {
  page = await send("ListObjectsV2", { MaxKeys: 2, ContinuationToken: page?.NextContinuationToken });
  listed.push(...(page.Contents ?? []).map((item) => item.Key));
} while (page.IsTruncated);
assert.deepEqual(listed, [...listed].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
assert.equal(listed.length, 7);

// Multipart, with checksums of the parts.
const { UploadId } = await send("CreateMultipartUpload", { Key: "big", ChecksumAlgorithm: "CRC32" });
const Parts = [];
for (const [index, text] of ["1".repeat(5 << 20), "22"].entries()) {
  const part = await send("UploadPart", { Key: "big", UploadId, PartNumber: index + 1, Body: text, ChecksumAlgorithm: "CRC32" });
  Parts.push({ PartNumber: index + 1, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32 });
}
await send("CompleteMultipartUpload", { Key: "big", UploadId, MultipartUpload: { Parts } });
assert.equal((await read("big", { Range: "bytes=-3" })), "122");

// Conditions and errors by their class.
await assert.rejects(send("PutObject", { Key: "plain", Body: "x", IfNoneMatch: "*" }), { name: "PreconditionFailed" });
await assert.rejects(send("GetObject", { Key: "absent" }), (error) => error instanceof s3.NoSuchKey);
await assert.rejects(send("HeadObject", { Key: "absent" }), { name: "NotFound" });
await assert.rejects(client.send(new s3.ListObjectsV2Command({ Bucket: "no-such-bucket" })), { name: "NoSuchBucket" });

await send("CopyObject", { Key: "copy", CopySource: encodeURIComponent(`${Bucket}/ü/😀`) });
assert.equal(await read("copy"), "ü/😀");
const deleted = await send("DeleteObjects", { Delete: { Objects: [...listed, "big", "copy"].map((Key) => ({ Key })) } });
assert.equal(deleted.Deleted.length, 9);
assert.equal((await send("ListObjectsV2", {})).KeyCount, 0);
console.log("all well");
