"""Watches under load: many at once, one kept open over many unrelated writes, resumed after a restart.

MERIDIAN_SOAK=1 runs them whole: 1,000 watches, 100,000 writes.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import os
import threading
import time
import unittest

import harness
import kube_http

SOAK = os.environ.get("MERIDIAN_SOAK") == "1"
WATCHES = 1000 if SOAK else 50
WRITES = 100_000 if SOAK else 5_000
MAPS = "/api/v1/namespaces/default/configmaps"


def resident_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def config_map(name, value):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"v": str(value)}}


class Watching(unittest.TestCase):
    def setUp(self):
        self.daemon = harness.Daemon().start()
        self.addCleanup(self.daemon.close)
        self.api = kube_http.Api(self.daemon.data / "kubeconfig")

    def version(self):
        return self.api.get(MAPS)["metadata"]["resourceVersion"]

    def test_one_watch_over_many_unrelated_writes(self):
        """A quiet watch is not forgotten while everything else is busy, and can be resumed."""
        start = self.version()
        quiet = self.api.watch(f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dquiet&resourceVersion={start}"
                               "&timeoutSeconds=7200&allowWatchBookmarks=true")
        self.addCleanup(quiet.close)
        bucket = self.daemon.client("s3")
        bucket.create_bucket(Bucket="busy", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        for worker in [threading.Thread(target=self.write_maps, args=(n, WRITES // 4)) for n in range(4)] + [
                threading.Thread(target=lambda: [bucket.put_object(Bucket="busy", Key=f"k{i % 50}", Body=b"x" * 1000)
                                                 for i in range(WRITES // 50)])]:
            worker.start()
            self.addCleanup(worker.join)
            self.workers = getattr(self, "workers", []) + [worker]
        for worker in self.workers:
            worker.join()
        self.api.create(MAPS, config_map("quiet", 1))
        event = quiet.next("ADDED")
        self.assertEqual(event["object"]["metadata"]["name"], "quiet")
        # The same by a watch that begins now at the old version: the history reaches back so far.
        late = self.api.watch(f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dquiet&resourceVersion={start}")
        self.addCleanup(late.close)
        self.assertEqual(late.next("ADDED")["object"], event["object"])
        print(f"watch kept open over {WRITES} writes; daemon {resident_mib(self.daemon.run['pid']):.0f} MiB")

    def write_maps(self, number, count):
        api = kube_http.Api(self.daemon.data / "kubeconfig")
        name = f"busy-{number}"
        api.create(MAPS, config_map(name, 0))
        for i in range(1, count):
            api.patch(f"{MAPS}/{name}", {"data": {"v": str(i)}})

    def test_many_watches_at_once(self):
        before = resident_mib(self.daemon.run["pid"])
        seconds = asyncio.run(self.watch_with_many())
        after = resident_mib(self.daemon.run["pid"])
        print(f"{WATCHES} watches: an event reached all within {seconds:.2f} s; "
              f"daemon {before:.0f} MiB before, {after:.0f} MiB with all open")
        self.assertLess(after - before, 40 + 0.1 * WATCHES, "MiB for the watches")
        # Others are served meanwhile and afterwards.
        self.assertEqual(self.api.get(f"{MAPS}/many")["data"]["v"], "1")

    async def watch_with_many(self):
        start = self.version()
        target = f"{MAPS}?watch=1&resourceVersion={start}&timeoutSeconds=600"
        gate = asyncio.Semaphore(50)

        async def open_one():
            async with gate:
                reader, writer = await asyncio.open_connection(self.api.host, self.api.port, ssl=self.api.tls)
                writer.write(f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.api.token}\r\n\r\n".encode())
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 120)
                self.assertTrue(head.startswith(b"HTTP/1.1 200"), head)
                return reader, writer
        streams = await asyncio.gather(*(open_one() for _ in range(WATCHES)))
        began = time.monotonic()
        await asyncio.to_thread(self.api.create, MAPS, config_map("many", 1))
        lines = await asyncio.gather(*(asyncio.wait_for(r.readuntil(b"}\n"), 120) for r, _ in streams))
        seconds = time.monotonic() - began
        self.assertTrue(all(b'"name":"many"' in line for line in lines))
        for _, writer in streams:
            writer.close()
        return seconds

    def test_a_restart_forgets_nothing(self):
        """kill -9: what was acknowledged is there, the token is good, and a watch goes on where it was."""
        made = self.api.create(MAPS, config_map("kept", 1))
        token = self.api.token
        self.daemon.kill()
        self.daemon.start()
        self.api = kube_http.Api(self.daemon.data / "kubeconfig")
        self.assertEqual(self.api.token, token)
        self.assertEqual(self.api.get(f"{MAPS}/kept"), made)
        self.api.patch(f"{MAPS}/kept", {"data": {"v": "2"}})
        watch = self.api.watch(f"{MAPS}?watch=1&resourceVersion={made['metadata']['resourceVersion']}")
        self.addCleanup(watch.close)
        event = watch.next("MODIFIED")
        self.assertEqual(event["object"]["data"], {"v": "2"})

    def test_a_watch_ends_when_its_time_is_up(self):
        watch = self.api.watch(f"{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={self.version()}")
        began = time.monotonic()
        self.assertIsNone(watch.next_or_end())
        self.assertLess(time.monotonic() - began, 20)
        watch.close()

    def test_a_stop_does_not_wait_for_watches(self):
        watch = self.api.watch(f"{MAPS}?watch=1&resourceVersion={self.version()}")
        self.addCleanup(watch.close)
        began = time.monotonic()
        self.daemon.stop()
        self.assertLess(time.monotonic() - began, 20)
        self.daemon.start()

    def test_hostile_requests_are_refused(self):
        for target in (f"{MAPS}/%2e%2e", f"{MAPS}/a%2Fb", "/apis/" + "x" * 3000,
                       f"{MAPS}?labelSelector=" + "a," * 5000, f"{MAPS}?continue=" + "A" * 4000):
            status = self.api.request("GET", target)[0]
            self.assertIn(status, (400, 404, 431), target)
        self.assertEqual(self.api.request("GET", f"{MAPS}?limit=-1")[0], 200)  # no limit, as kube-apiserver answers
        deep = '{"a":' * 5000 + "1" + "}" * 5000
        self.assertEqual(self.api.request("POST", MAPS, deep.encode())[0], 400)
        self.assertEqual(self.api.request("POST", MAPS, b"x" * (4 << 20))[0], 413)
        self.assertEqual(self.api.request("GET", MAPS)[0], 200)


if __name__ == "__main__":
    unittest.main()
