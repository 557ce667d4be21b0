"""Batch operations by their documented HTTP form, for an SDK that is older than they are, as Debian 12's is.

SPDX-License-Identifier: Apache-2.0
"""
import json
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


class SignedCalls:
    """SignedCalls(meridian).submit_service_job(jobName=…): POST /v1/submitservicejob, signed; the answer as JSON."""

    def __init__(self, meridian):
        self.meridian = meridian

    def __getattr__(self, name):
        def call(**body):
            url = f"{self.meridian.endpoint}/v1/{name.replace('_', '')}"
            request = AWSRequest("POST", url, data=json.dumps(body), headers={"Content-Type": "application/json"})
            keys = self.meridian.keys
            SigV4Auth(Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"]), "batch",
                      self.meridian.regions[0]).add_auth(request)
            raw = urllib.request.Request(url, data=request.data.encode(), headers=dict(request.headers.items()))
            with urllib.request.urlopen(raw, timeout=60) as answer:
                return json.loads(answer.read())
        return call
