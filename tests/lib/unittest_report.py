"""Runs one unittest file and writes which tests passed, failed and were skipped to $MERIDIAN_REPORT.

SPDX-License-Identifier: Apache-2.0
"""
import importlib.util
import json
import os
import pathlib
import sys
import unittest


class Recorder(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.passed = []

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.append(test.id())


def main() -> int:
    path = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Recorder, stream=sys.stdout).run(suite)
    failed = [t.id() for t, _ in result.failures + result.errors] + [
        t.id() for t in result.unexpectedSuccesses]
    pathlib.Path(os.environ["MERIDIAN_REPORT"]).write_text(json.dumps({
        "passed": result.passed,
        "failed": failed,
        "skipped": [[t.id(), why] for t, why in result.skipped],
    }))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
