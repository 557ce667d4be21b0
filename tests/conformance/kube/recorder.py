"""Stands between a client and a Kubernetes API and writes down each exchange. The client speaks plain HTTP to it; the
recorder adds the token of the kubeconfig and speaks TLS to the server. Where the client would take protobuf or JSON it asks
for JSON, which can be compared.

SPDX-License-Identifier: Apache-2.0
"""
import http.client
import http.server
import pathlib
import threading

import kube_http

HOP_HEADERS = {"connection", "transfer-encoding", "content-length", "keep-alive", "date", "accept-encoding", "authorization"}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that is done closes its connections


class Recorder:
    """`kubeconfig`: the server's, with a token. `exchanges`: what was said since the last `take()`."""

    def __init__(self, kubeconfig, folder):
        self.api = kube_http.Api(kubeconfig)
        self.exchanges = []
        self.lock = threading.Lock()
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def answer(self):
                recorder.pass_on(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.kubeconfig = pathlib.Path(folder) / "recorded.kubeconfig"
        self.kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: r\nusers: []\n"
            f"clusters:\n- name: r\n  cluster: {{server: '{self.address}'}}\n"
            "contexts:\n- name: r\n  context: {cluster: r, user: ''}\n")

    def take(self):
        with self.lock:
            taken, self.exchanges = self.exchanges, []
        return taken

    def pass_on(self, handler):
        body = self.body_of(handler)
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in HOP_HEADERS | {"host"}}
        headers["Accept"] = ",".join(
            form for form in headers.get("Accept", "*/*").split(",") if "vnd.kubernetes.protobuf" not in form) or headers["Accept"]
        headers["Authorization"] = f"Bearer {self.api.token}"
        exchange = {"method": handler.command, "path": handler.path, "accept": handler.headers.get("Accept", ""),
                    "type": handler.headers.get("Content-Type", ""), "status": 0, "answer_type": "", "warnings": [],
                    "body": b""}
        with self.lock:
            self.exchanges.append(exchange)
        connection = self.api.connect(timeout=90)
        try:
            connection.request(handler.command, handler.path, body, headers)
            answer = connection.getresponse()
            exchange.update(status=answer.status, answer_type=answer.headers.get("Content-Type", ""),
                            warnings=answer.headers.get_all("Warning") or [])
            self.copy(handler, answer, exchange)
        except (OSError, http.client.HTTPException):
            handler.close_connection = True  # the client went away from its watch, or the server ended it
        finally:
            connection.close()

    @staticmethod
    def body_of(handler):
        if handler.headers.get("Transfer-Encoding") != "chunked":
            return handler.rfile.read(int(handler.headers.get("Content-Length") or 0)) or None
        body = b""
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
        return body

    @staticmethod
    def copy(handler, answer, exchange):
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_HEADERS:
                handler.send_header(name, value)
        if answer.status in (204, 304):
            handler.end_headers()
            return
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while piece := answer.read1(65536):
            exchange["body"] += piece
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
