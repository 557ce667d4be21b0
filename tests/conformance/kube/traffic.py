"""The same kubectl commands against a real kube-apiserver and against Meridian's Kubernetes API: exit code, output and
every exchange compared. What differs must be written down in differences.yaml, and what is written there must differ.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass

import yaml

import cases
import compare
import harness
import kube_case
from cluster import Cluster
from recorder import Recorder

HERE = pathlib.Path(__file__).resolve().parent
REPORT = harness.ROOT / "build/lane-kube/traffic"


class Side:
    """One server, through a recorder, with a kubectl home of its own."""

    def __init__(self, name, kubeconfig, kubectl, folder):
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir()
        self.recorder = Recorder(kubeconfig, self.folder)
        self.kubectl = kubectl

    def run(self, case):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KUBECONFIG": str(self.recorder.kubeconfig), **case.env}
        self.recorder.take()
        done = subprocess.run([self.kubectl, "-n", cases.NAMESPACE, *case.command], input=case.stdin, env=env, text=True,
                              capture_output=True, timeout=120)
        time.sleep(case.settle)
        return {"exit": done.returncode, "stdout": compare.output(done.stdout), "stderr": compare.text(done.stderr),
                "exchanges": self.recorder.take()}


@dataclass
class Difference:
    case: str
    what: str  # "exit", "stdout", "stderr" or "traffic PLACE"
    text: str


def differences(title, real, ours):
    found = [Difference(title, what, compare.side_by_side(real[what], ours[what]))
             for what in ("exit", "stdout", "stderr") if real[what] != ours[what]]
    return found + [Difference(title, f"traffic {place}", f"- {json.dumps(a)}\n+ {json.dumps(b)}")
                    for place, a, b in compare.exchanges(real["exchanges"], ours["exchanges"])]


class Known:
    """The rows of differences.yaml: why, and of which cases (all) and places (all, by regular expression)."""

    def __init__(self, rows):
        self.rows = rows
        self.used = [False] * len(rows)

    def explains(self, difference, kubectl):
        """Marks each row that does."""
        explained = False
        for i, row in enumerate(self.rows):
            fits = (difference.case in row.get("cases", [difference.case]) and
                    re.search(row.get("what", ""), difference.what) and kubectl in row.get("kubectl", [kubectl]))
            self.used[i] |= bool(fits)
            explained |= bool(fits)
        return explained

    def unused(self, kubectl):
        return [row["why"] for row, used in zip(self.rows, self.used) if not used and kubectl in row.get("kubectl", [kubectl])]


class Traffic(unittest.TestCase):
    maxDiff = None

    def test_kubectl_is_answered_as_by_kubernetes(self):
        wanted = os.environ.get("MERIDIAN_LANE_KUBECTL", "")
        for version, kubectl in sorted(kube_case.find_kubectls().items()):
            if wanted in ("", version):
                with self.subTest(kubectl=version):
                    self.judge(version, self.record(kubectl))

    def record(self, kubectl):
        """[Difference] of all cases"""
        found = []
        with tempfile.TemporaryDirectory() as folder, harness.Daemon() as meridian, \
                Cluster(harness.ROOT / "build/lane-kube/cluster") as cluster:
            crds = subprocess.run([harness.BIN / "meridian", "operator", "manifests", "--crds"], text=True, check=True,
                                  capture_output=True).stdout
            cluster.kubectl("apply", "--server-side", "-f", "-", input=crds)
            real = Side("real", cluster.kubeconfig, kubectl, folder)
            ours = Side("ours", meridian.data / "kubeconfig", kubectl, folder)
            for case in cases.ALL:
                found += differences(case.title, real.run(case), ours.run(case))
        return found

    def judge(self, version, found):
        known = Known(yaml.safe_load((HERE / "differences.yaml").read_text()))
        news = [d for d in found if not known.explains(d, version)]
        REPORT.mkdir(parents=True, exist_ok=True)
        for name, all in (("all", found), ("new", news)):
            (REPORT / f"kubectl-{version}-{name}.txt").write_text(
                "".join(f"== {d.case}: {d.what}\n{d.text}\n\n" for d in all))
        differ = len({d.case for d in found})
        print(f"kubectl {version}: {len(cases.ALL)} commands, {len(cases.ALL) - differ} answered alike, "
              f"{differ} with differences, {len({d.case for d in news})} with one that is not written down")
        self.assertEqual([f"{d.case}: {d.what}" for d in news], [], f"not in differences.yaml; see {REPORT}")
        self.assertEqual(known.unused(version), [], "in differences.yaml, but seen no more")


if __name__ == "__main__":
    sys.exit(unittest.main())
