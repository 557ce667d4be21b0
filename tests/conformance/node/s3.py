"""Node's @aws-sdk/client-s3: the end-to-end test that needs the npm package, alone.

SPDX-License-Identifier: Apache-2.0
"""


def load_tests(loader, tests, pattern):
    return loader.loadTestsFromName("test_s3_clients.Clients.test_node_sdk")
