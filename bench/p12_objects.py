"""Object store: PUT and GET of 64 MiB, small GETs, LIST of 1,000 keys (peers: moto, disk, MD5, a bare sendfile).

Clients are a socket fed by sendfile(2) for PUT, curl for GET and wrk for small GETs, all on presigned URLs, so that
neither a Python client nor the start of a program sets the pace. The policy of `s3.sync` is printed with each PUT.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import http.client
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

import measure
import jobs

SIZE = 64 << 20
ROUNDS = 7


def mib_per_second(seconds):
    return SIZE / 2**20 / seconds


def curl(*args):
    subprocess.run(["curl", "-sf", "-o", "/dev/null", *args], check=True)


def put(url, file):
    """From the connection to the answer."""
    parts = urllib.parse.urlsplit(url)
    head = (f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {SIZE}\r\n"
            "Connection: close\r\n\r\n").encode()
    answer = b""

    def send():
        nonlocal answer
        with socket.create_connection((parts.hostname, parts.port)) as connection, open(file, "rb") as source:
            connection.sendall(head, socket.MSG_MORE)
            connection.sendfile(source)
            while piece := connection.recv(65536):
                answer += piece
    seconds = measure.timed(send)
    assert answer.startswith(b"HTTP/1.1 200 "), answer[:300]
    return mib_per_second(seconds)


def put_small(url, count=200):
    """Milliseconds of a PUT of 1,000 bytes on a kept connection: the median of each run."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)

    def once():
        connection.request("PUT", f"{parts.path}?{parts.query}", b"x" * 1000)
        response = connection.getresponse()
        response.read()
        assert response.status == 200
    return statistics.median(1000 * measure.timed(once) for _ in range(count))


def get(url):
    return mib_per_second(measure.timed(lambda: curl(url)))


def presign(client, operation, key):
    return client.generate_presigned_url(operation, Params={"Bucket": jobs.BUCKET, "Key": key}, ExpiresIn=3600)


def disk_and_md5(file, scratch):
    """The slower of writing the same bytes with fsync and hashing them once, in MiB/s."""
    data = file.read_bytes()

    def write():
        with open(scratch / "copy", "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())

    disk = mib_per_second(measure.timed(write))
    md5 = mib_per_second(measure.timed(lambda: hashlib.md5(data).digest()))
    return min(disk, md5)


def bare_sendfile(file):
    """A server of one sendfile(2) per connection, read by the same curl."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n".encode())
        with open(file, "rb") as source:
            connection.sendfile(source)
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    value = get(f"http://127.0.0.1:{listener.getsockname()[1]}/")
    thread.join()
    listener.close()
    return value


def small_gets(url, seconds=2.0):
    """Requests per second of one keep-alive connection per core, by wrk where it is installed."""
    done = subprocess.run(["wrk", "-t2", "-c8", f"-d{int(seconds)}s", url], capture_output=True, text=True)
    return float(next(l.split()[1] for l in done.stdout.splitlines() if l.startswith("Requests/sec")))


def list_ms(client):
    return 1000 * measure.timed(lambda: client.list_objects_v2(Bucket=jobs.BUCKET, Prefix="many/"))


def list_raw_ms(client):
    url = client.generate_presigned_url("list_objects_v2", Params={"Bucket": jobs.BUCKET, "Prefix": "many/"})
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)

    def once():
        connection.request("GET", f"{parts.path}?{parts.query}")
        body = connection.getresponse().read()
        assert body.count(b"<Key>") == 1000, body[:300]

    once()
    return [1000 * measure.timed(once) for _ in range(20)]


def main():
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="meridian-bench-"))
    file = scratch / "64m"
    file.write_bytes(os.urandom(SIZE))
    for policy in ("true", "false"):
        with measure.harness.Daemon(config=f"s3: {{sync: {policy}}}\n") as meridian:
            s3 = jobs.ensure_bucket(meridian)
            counter = iter(range(1000))
            ours, peer = measure.in_turns(lambda: put(presign(s3, "put_object", f"big/{next(counter)}"), file),
                                          lambda: disk_and_md5(file, scratch), ROUNDS)
            measure.report(f"PUT 64 MiB, sync {policy}", "MiB/s", ours, "min(disk + fsync, MD5)", peer, "more")
            measure.report(f"PUT 1,000 B, sync {policy}", "ms",
                           [put_small(presign(s3, "put_object", "one-small")) for _ in range(3)])
            if policy == "false":
                url = presign(s3, "get_object", "big/0")
                get(url)
                ours, peer = measure.in_turns(lambda: get(url), lambda: bare_sendfile(file), ROUNDS)
                measure.report("GET 64 MiB", "MiB/s", ours, "bare sendfile", peer, "more")
                s3.put_object(Bucket=jobs.BUCKET, Key="small", Body=b"x" * 1000)
                measure.report("small GET, presigned", "1/s", [small_gets(presign(s3, "get_object", "small"))
                                                                for _ in range(3)])
                for i in range(1000):
                    s3.put_object(Bucket=jobs.BUCKET, Key=f"many/{i:04}", Body=b"")
                measure.report("LIST 1,000 keys, on the wire", "ms", list_raw_ms(s3))
                if measure.moto() is not None:
                    with measure.Moto() as moto:
                        m3 = moto.client("s3")
                        m3.create_bucket(Bucket=jobs.BUCKET,
                                         CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
                        ours, peer = measure.in_turns(
                            lambda: put(presign(s3, "put_object", "vs-moto"), file),
                            lambda: put(presign(m3, "put_object", "vs-moto"), file), 3)
                        measure.report("PUT 64 MiB", "MiB/s", ours, "moto", peer, "more")
                        ours, peer = measure.in_turns(lambda: get(presign(s3, "get_object", "vs-moto")),
                                                      lambda: get(presign(m3, "get_object", "vs-moto")), 3)
                        measure.report("GET 64 MiB", "MiB/s", ours, "moto", peer, "more")


main()
