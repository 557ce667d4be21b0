"""What two servers said to the same command, less what must differ: identities, times, versions, addresses, and what the
one serves and the other does not.

SPDX-License-Identifier: Apache-2.0
"""
import difflib
import json
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

VOLATILE = {"uid": "UID", "resourceVersion": "RV", "creationTimestamp": "TIME", "deletionTimestamp": "TIME", "time": "TIME",
            "lastTransitionTime": "TIME", "firstTimestamp": "TIME", "lastTimestamp": "TIME", "eventTime": "TIME",
            "continue": "TOKEN", "selfLink": "LINK", "observedGeneration": "N"}
TEXT = [
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "https://SERVER"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"), "TIME"),
    (re.compile(r"/tmp/(LIVE|MERGED)-\d+"), r"/tmp/\1-N"),
    (re.compile(r"/tmp/kubectl-edit-\w+"), "/tmp/kubectl-edit-N"),
    (re.compile(r"(?m)^((?:---|\+\+\+) \S+)\t.*$"), r"\1"),
    (re.compile(r'(resourceVersion"?: ?"?|Resource Version: +)\d+'), r"\1RV"),
    (re.compile(r"(?m)(^|[ \t])(<invalid>|\d+(?:\.\d+)?(?:ms|s|m|h|d)(?:\d+s)?)(?=[ \t]|$)"), r"\1AGE"),
    (re.compile(r"(resource version: )\d+(, current: )\d+"), r"\1N\2N"),
    (re.compile(r"\bR_[a-z0-9]{5}\b"), "R_xxxxx"),
    (re.compile(r"[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ "), "KLOG "),
    (re.compile(r"[ \t]{2,}"), "  "),
]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Answers that list all a server has: the cases ask for the parts that both have.
CATALOGUES = re.compile(r"^/(api|apis|openapi/v2|openapi/v3|openapi/v3/.*|api/v1|apis/[^/]+/[^/]+|version)$")


def text(value):
    for pattern, instead in TEXT:
        value = pattern.sub(instead, value)
    return "\n".join(line.rstrip() for line in value.splitlines())


def settled(value, key=""):
    """A JSON value without what differs from run to run."""
    if isinstance(value, dict):
        return {k: VOLATILE[k] if k in VOLATILE and not isinstance(v, (dict, list)) and v not in (None, "")
                else json.loads(v) if k == LAST_APPLIED else settled(v, k)
                for k, v in value.items() if (k, v) != ("continue", "")}
    if isinstance(value, list):
        settled_items = [settled(v, key) for v in value]
        return sorted(settled_items, key=lambda v: json.dumps(v, sort_keys=True)) if key == "managedFields" else settled_items
    return text(value) if isinstance(value, str) else value


def output(value):
    """What kubectl printed; JSON as such, whatever the order of its members."""
    for parts in ([value], value.splitlines()):  # one value, or a watch's events
        try:
            return "\n".join(json.dumps(settled(json.loads(part)), indent=1, sort_keys=True) for part in parts)
        except ValueError:
            pass
    return text(value)


def side_by_side(real, ours):
    """The lines that differ, after - what Kubernetes says, after + what Meridian says."""
    lines = difflib.unified_diff(str(real).splitlines(), str(ours).splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def path(value):
    parts = urlsplit(value)
    query = [(k, "TOKEN" if k == "continue" else "RV" if k == "resourceVersion" and v not in ("", "0")
              else ",".join(sorted(v.split(","))) if k == "fieldSelector" else v)
             for k, v in parse_qsl(parts.query, keep_blank_values=True) if k not in ("timeout", "timeoutSeconds")]
    return text(parts.path + ("?" + urlencode(sorted(query)) if query else ""))


def is_catalogue(exchange):
    return CATALOGUES.match(urlsplit(exchange["path"]).path) is not None


def body(exchange):
    """Parsed and settled: a value, a list of watch events, or text."""
    raw = exchange["body"]
    if is_catalogue(exchange):
        return "(a catalogue)"
    if b"\x00" in raw[:16]:
        return "(binary)"
    try:
        lines = raw.decode().splitlines()
        values = [settled(json.loads(line)) for line in lines] if len(lines) > 1 else [settled(json.loads(raw))]
        return values[0] if len(values) == 1 else values
    except ValueError:
        return text(raw.decode(errors="replace"))


def differences(real, ours, where=""):
    """[(place, real's, ours)] of two settled values; None stands for what is not there."""
    if isinstance(real, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(real.keys() | ours.keys()):
            found += differences(real.get(key), ours.get(key), f"{where}.{key}")
        return found
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return [d for i, (a, b) in enumerate(zip(real, ours)) for d in differences(a, b, f"{where}[{i}]")]
    return [] if real == ours else [(where or ".", real, ours)]


def exchanges(real, ours):
    """Differences of two recordings of one command: [(place, real's, ours)]"""
    def head(e):
        return f"{e['method']} {path(e['path'])} -> {e['status']}"
    asked = [[head(e) for e in side if not is_catalogue(e)] for side in (real, ours)]
    if asked[0] != asked[1]:
        return [("requests", "; ".join(asked[0]), "; ".join(asked[1]))]
    found = []
    pairs = zip((e for e in real if not is_catalogue(e)), (e for e in ours if not is_catalogue(e)))
    for a, b in pairs:
        for what in ("answer_type", "warnings"):
            if a[what] != b[what]:
                found.append((f"{head(a)} {what}", a[what], b[what]))
        found += [(f"{head(a)} {place}", x, y) for place, x, y in differences(body(a), body(b))]
    return found
