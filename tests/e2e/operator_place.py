"""Where the operators' resources live: the API that a daemon embeds, or the cluster that MERIDIAN_KUBECONFIG names (an
administrator's file) with `meridian operator run` beside it. The region is a daemon's in both.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import harness


def start(regions=("us-west-2",)):
    given = os.environ.get("MERIDIAN_KUBECONFIG")
    return Cluster(regions, pathlib.Path(given)) if given else Embedded(regions)


class Embedded:
    in_a_cluster = False

    def __init__(self, regions):
        self.meridian = harness.Daemon(regions=regions).start()

    @property
    def kubeconfig(self):
        return self.meridian.data / "kubeconfig"

    def crash(self):
        """kill -9 of what runs the controllers, and its next start."""
        self.meridian.kill()
        self.meridian.start()

    def close(self):
        self.meridian.close()


class Cluster:
    """The operator works as the account of its own manifests: with what they allow and nothing else."""
    in_a_cluster = True
    NAMESPACE = "meridian-system"

    def __init__(self, regions, kubeconfig):
        self.kubeconfig = kubeconfig
        self.meridian = harness.Daemon(regions=regions).start()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="meridian-operator-"))
        self.process = None
        self.install()
        self.start()

    def kubectl(self, *arguments, **kwargs):
        done = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, *arguments], text=True, capture_output=True,
                              env=dict(os.environ, HOME=str(self.folder)), **kwargs)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def install(self):
        manifests = self.meridian.cli("operator", "manifests", "--install-namespace", self.NAMESPACE).stdout
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=manifests)
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        token = self.kubectl("create", "token", "meridian-operator", "-n", self.NAMESPACE, "--duration=3h").strip()
        self.own_kubeconfig = self.folder / "kubeconfig"
        self.own_kubeconfig.write_text(re.sub(r"token: \S+", f"token: {token}", self.kubeconfig.read_text()))
        self.own_kubeconfig.chmod(0o600)

    def start(self):
        # The daemon's port is another one after its next start; a cluster's region stands where it stood.
        self.regions_file = self.folder / "regions.yaml"
        self.regions_file.write_text("regions:\n" + "".join(
            f"  {name}:\n    endpoint: {self.meridian.endpoint}\n    credentials: {self.meridian.data}/credentials\n"
            for name in self.meridian.regions))
        self.output = open(self.folder / "operator.log", "ab")
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        self.process = subprocess.Popen(
            [harness.BIN / "meridian", "operator", "run", "--kubeconfig", self.own_kubeconfig, "--leader-elect",
             "--lease-namespace", self.NAMESPACE, "--regions-file", self.regions_file],
            stdout=self.output, stderr=subprocess.STDOUT, env=env, start_new_session=True)

    def stop(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        code = self.process.wait(timeout=60)
        self.output.close()
        return code

    def crash(self):
        self.stop(signal.SIGKILL)
        self.start()

    def log(self):
        return (self.folder / "operator.log").read_text(errors="replace")

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.meridian.close()
