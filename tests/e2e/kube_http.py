"""The Kubernetes API by plain HTTPS, for what no client does: raw watches, odd requests, many of them.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import http.client
import json
import pathlib
import re
import ssl


class Api:
    """One keep-alive connection as the user of a kubeconfig that Meridian wrote."""

    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text()
        self.host, port = re.search(r"server: https://([^:\s]+):(\d+)", text).groups()
        self.port = int(port)
        self.token = re.search(r"token: (\S+)", text)[1]
        authority = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text)[1]).decode()
        self.tls = ssl.create_default_context(cadata=authority)
        self.connection = None

    def connect(self, timeout=120):
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)

    def headers(self, content_type="application/json"):
        return {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}

    def request(self, method, target, body=None, content_type="application/json", token=None):
        """(status, body as text, headers)"""
        headers = self.headers(content_type)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = self.connect()
            try:
                self.connection.request(method, target, body, headers)
                answer = self.connection.getresponse()
                return answer.status, answer.read().decode(), answer.headers
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                self.connection = None
                if attempt == 2:
                    raise

    def call(self, method, target, body=None, content_type="application/json"):
        status, text, _ = self.request(method, target, None if body is None else json.dumps(body), content_type)
        if status >= 300:
            raise AssertionError(f"{method} {target}: {status} {text}")
        return json.loads(text)

    def get(self, target):
        return self.call("GET", target)

    def create(self, target, body):
        return self.call("POST", target, body)

    def patch(self, target, body):
        return self.call("PATCH", target, body, "application/merge-patch+json")

    def watch(self, target):
        return Watch(self, target)


class Watch:
    def __init__(self, api, target):
        self.connection = api.connect(timeout=600)
        self.connection.request("GET", target, headers=api.headers())
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise AssertionError(f"watch {target}: {self.answer.status} {self.answer.read().decode()}")

    def next_or_end(self):
        line = self.answer.readline()
        return json.loads(line) if line.strip() else None

    def next(self, wanted=None):
        """The next event, or the next of that type (bookmarks between are passed over)."""
        while True:
            event = self.next_or_end()
            if event is None:
                raise AssertionError("the watch ended")
            if wanted is None or event["type"] == wanted:
                return event
            if event["type"] != "BOOKMARK":
                raise AssertionError(f"{wanted} expected: {event}")

    def close(self):
        self.connection.close()
