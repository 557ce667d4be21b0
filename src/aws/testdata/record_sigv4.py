#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records requests that botocore signs, as conformance data for sigv4_test.cpp.

    python3 record_sigv4.py > sigv4.json     needs botocore; the keys are AWS's documented dummies

Each entry is a request as it goes over the wire, and the time of its signature.
"""
import datetime
import json
import sys
from unittest import mock
from urllib.parse import urlsplit

import botocore.auth
import botocore.compat
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

NOW = datetime.datetime(2026, 1, 31, 12, 0, 0)
KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Credentials("ASIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "FQoDYXdz+/token==")
HOST = "http://127.0.0.1:8470"


class FrozenDatetime(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW

    @classmethod
    def now(cls, tz=None):
        return NOW.replace(tzinfo=tz)


def sign(auth, method, url, headers=None, body=b"", context=None):
    request = AWSRequest(method=method, url=url, headers=headers or {}, data=body)
    request.context.update(context or {})
    patches = [mock.patch("datetime.datetime", FrozenDatetime),
               mock.patch("time.time", lambda: NOW.replace(tzinfo=datetime.timezone.utc).timestamp())]
    if hasattr(botocore.auth, "get_current_datetime"):
        patches.append(mock.patch("botocore.auth.get_current_datetime", lambda *a, **k: NOW))
    for patch in patches:
        patch.start()
    try:
        auth.add_auth(request)
    finally:
        mock.patch.stopall()
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    names = {k.lower() for k in prepared.headers}
    fields = [[k, v if isinstance(v, str) else v.decode()] for k, v in prepared.headers.items()]
    if "Query" in type(auth).__name__:  # the URL is all that its user gets
        fields, names = [], set()
    if "host" not in names:
        fields.append(["Host", parts.netloc])
    return {"method": method, "path": parts.path, "query": parts.query, "headers": fields,
            "body": body.decode()}


def v4(service, region="us-west-2", keys=KEYS):
    return botocore.auth.SigV4Auth(keys, service, region)


def s3(region="us-west-2", keys=KEYS):
    return botocore.auth.S3SigV4Auth(keys, "s3", region)


def cases():
    json11 = {"Content-Type": "application/x-amz-json-1.1",
              "X-Amz-Target": "SageMaker.DescribeTrainingJob"}
    yield "json call", sign(v4("sagemaker"), "POST", HOST + "/", json11, b'{"TrainingJobName":"a"}')
    yield "json call with a session token", sign(v4("sagemaker", keys=TEMPORARY), "POST", HOST + "/",
                                                 json11, b"{}")
    yield "query call", sign(v4("sts"), "POST", HOST + "/",
                             {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
                             b"Action=GetCallerIdentity&Version=2011-06-15")
    yield "path with an encoded ARN", sign(
        v4("batch"), "GET",
        HOST + "/v1/tags/arn%3Aaws%3Abatch%3Aus-west-2%3A000000000000%3Ajob-queue%2Fq")
    yield "path with dots", sign(v4("batch"), "GET", HOST + "/a/./b/../c//d/")
    yield "header values with runs of blanks", sign(
        v4("logs"), "POST", HOST + "/", {"X-Amz-Meta-A": "  a   b  ", "Content-Type": "x"}, b"{}")
    payload = {"payload_signing_enabled": True}
    for name, key in [("plain", "data/train.csv"), ("blank and plus", "a%20b%2Bc"),
                      ("dots and slashes", "a/../b//c"), ("not ASCII", "%C3%A4/%E2%82%AC"),
                      ("tilde and star", "~a%2A")]:
        yield f"s3 get, {name}", sign(s3(), "GET", f"{HOST}/bucket/{key}", {}, b"")
    yield "s3 put, signed body", sign(s3(), "PUT", HOST + "/bucket/k", {"Content-Type": "text/plain"},
                                      b"hello world", {"client_config": None, **payload})
    yield "s3 list", sign(
        s3(), "GET", HOST + "/bucket?list-type=2&prefix=a%2Fb&delimiter=%2F&encoding-type=url")
    yield "s3 subresource without a value", sign(s3(), "POST", HOST + "/bucket/k?uploads")
    yield "s3 with a token", sign(s3(keys=TEMPORARY), "GET", HOST + "/bucket/k")
    query = botocore.auth.S3SigV4QueryAuth(KEYS, "s3", "us-west-2", expires=900)
    yield "presigned s3", sign(query, "GET", HOST + "/bucket/a%20b?versionId=3")
    query = botocore.auth.S3SigV4QueryAuth(TEMPORARY, "s3", "us-west-2", expires=900)
    yield "presigned s3 with a token", sign(query, "PUT", HOST + "/bucket/k")
    query = botocore.auth.SigV4QueryAuth(KEYS, "sts", "us-west-2", expires=60)
    yield "presigned sts", sign(query, "GET", HOST + "/?Action=GetCallerIdentity&Version=2011-06-15")
    old = botocore.auth.HmacV1QueryAuth(KEYS, expires=900)
    yield "sigv2 presigned", sign(old, "GET", HOST + "/bucket/a%20b")
    yield "sigv2 presigned, signed parameters", sign(
        old, "GET", HOST + "/bucket/k?response-content-type=text%2Fplain&versionId=7&other=1")
    yield "sigv2 presigned put with a type", sign(old, "PUT", HOST + "/bucket/k",
                                                  {"Content-Type": "text/plain"})
    old = botocore.auth.HmacV1QueryAuth(TEMPORARY, expires=900)
    yield "sigv2 presigned with a token", sign(old, "GET", HOST + "/bucket/k")


def main():
    print(f"botocore {botocore.__version__}", file=sys.stderr)
    json.dump({"secret": KEYS.secret_key, "token": TEMPORARY.token, "time": "20260131T120000Z",
               "cases": [{"name": name, **case} for name, case in cases()]}, sys.stdout, indent=1)
    print()


main()
