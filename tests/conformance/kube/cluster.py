"""A real Kubernetes control plane without a node: etcd, kube-apiserver, controller manager and scheduler, each a process
on loopback with its data in one folder. The lane's `run` has built them.

    with Cluster(folder) as cluster:
        subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, "get", "ns"])

    cluster.py FOLDER COMMAND…      runs the command with MERIDIAN_KUBECONFIG, an administrator's

SPDX-License-Identifier: Apache-2.0
"""
import base64
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
BIN = pathlib.Path(os.environ.get("KUBE_CLUSTER", ROOT / "build/lane-kube/bin/cluster"))
# What a controller does for our kinds and their namespaces; the others are for nodes and pods.
CONTROLLERS = ("namespace-controller", "garbage-collector-controller", "serviceaccount-controller", "serviceaccount-token-controller",
               "root-ca-certificate-publisher-controller", "deployment-controller", "replicaset-controller",
               "job-controller", "taint-eviction-controller")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = []

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def _start(self):
        etcd, peer, self.port = free_ports(3)
        self.token = secrets.token_hex(16)
        self._run("etcd", "etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
                  "--listen-client-urls", f"http://127.0.0.1:{etcd}", "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
                  "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                  "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        self._make_keys()
        (self.folder / "tokens.csv").write_text(f"{self.token},admin,admin,system:masters\n")
        self._run("kube-apiserver", BIN, "kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}",
                  "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", self.port,
                  "--cert-dir", self.folder / "certs", "--service-cluster-ip-range", "10.96.0.0/16",
                  "--authorization-mode", "RBAC", "--token-auth-file", self.folder / "tokens.csv",
                  "--service-account-issuer", "https://kubernetes.default.svc",
                  "--service-account-key-file", self.folder / "accounts.pub",
                  "--service-account-signing-key-file", self.folder / "accounts.key")
        self._await("kube-apiserver", self._api_is_ready)
        self.kubeconfig = self.write_kubeconfig("admin", self.token)
        self._run("kube-controller-manager", BIN, "kube-controller-manager", "--kubeconfig", self.kubeconfig,
                  "--secure-port", "0", "--leader-elect=false", "--controllers", ",".join(CONTROLLERS),
                  "--service-account-private-key-file", self.folder / "accounts.key",
                  "--root-ca-file", self.folder / "certs/apiserver.crt")
        self._run("kube-scheduler", BIN, "kube-scheduler", "--kubeconfig", self.kubeconfig, "--secure-port", "0",
                  "--leader-elect=false")
        self._await("kube-controller-manager", lambda: self.kubectl("get", "sa", "default", check=False).returncode == 0)

    def _run(self, name, *command):
        log = open(self.folder / f"{name}.log", "ab")
        self.processes.append(subprocess.Popen([str(c) for c in command], stdout=log, stderr=subprocess.STDOUT))
        log.close()

    def _await(self, name, ready, seconds=120):
        end = time.monotonic() + seconds
        while not ready():
            ended = [p for p in self.processes if p.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"{name} did not start:\n" + (self.folder / f"{name}.log").read_text()[-3000:])
            time.sleep(0.3)

    def _make_keys(self):
        key = self.folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", key, "-pubout", "-out", self.folder / "accounts.pub"], check=True,
                       capture_output=True)

    def _api_is_ready(self):
        authority = self.folder / "certs/apiserver.crt"
        if not authority.exists():
            return False
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}/readyz",
                                         headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=authority), timeout=5) as answer:
                return answer.read() == b"ok"
        except OSError:
            return False

    def write_kubeconfig(self, user, token):
        """The way in for somebody with that token; returns the file."""
        authority = base64.b64encode((self.folder / "certs/apiserver.crt").read_bytes()).decode()
        file = self.folder / f"{user}.kubeconfig"
        file.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: real\n"
            f"clusters:\n- name: real\n  cluster:\n    server: https://127.0.0.1:{self.port}\n"
            f"    certificate-authority-data: {authority}\n"
            f"users:\n- name: {user}\n  user:\n    token: {token}\n"
            f"contexts:\n- name: real\n  context:\n    cluster: real\n    user: {user}\n")
        file.chmod(0o600)
        return file

    def kubectl(self, *arguments, check=True, input=None):
        done = subprocess.run(["kubectl", "--kubeconfig", str(self.kubeconfig), *map(str, arguments)], text=True,
                              input=input, capture_output=True, env=dict(os.environ, HOME=str(self.folder)), timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)

    def account_kubeconfig(self, name, namespace):
        """As that service account, with what RBAC lets it do."""
        return self.write_kubeconfig(name, self.kubectl("create", "token", name, "-n", namespace, "--duration=2h").stdout.strip())


def main():
    with Cluster(sys.argv[1]) as cluster:
        return subprocess.run(sys.argv[2:], env=dict(os.environ, MERIDIAN_KUBECONFIG=str(cluster.kubeconfig))).returncode


if __name__ == "__main__":
    sys.exit(main())
