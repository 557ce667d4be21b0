"""Adds up what unittest_report.py wrote: lane_counts.py LANE REPORT… prints the skipped tests with their reasons and closes with
"conformance LANE: N passed, N failed, N skipped".

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

counts = {"passed": 0, "failed": 0, "skipped": 0}
for path in map(pathlib.Path, sys.argv[2:]):
    report = json.loads(path.read_text()) if path.exists() else {"failed": [f"{path.stem} as a whole"]}
    for name in counts:
        counts[name] += len(report.get(name, []))
    for test in report.get("failed", []):
        print(f"failed: {test}")
    for test, why in report.get("skipped", []):
        print(f"skipped: {test}: {why}")
print(f"conformance {sys.argv[1]}: " + ", ".join(f"{n} {name}" for name, n in counts.items()))
