#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refreshes api/*.json from the data directory of a botocore release, and prints what changed.

    ./dev api --from DIR          DIR holds sagemaker/, batch/, … (botocore/data of an unpacked release)
    ./dev api --from DIR --check  prints the difference only, changes nothing; exit status 1 if any

Facts only, no documentation prose: operations (input, output, HTTP method and URI, errors) and shapes
(type, members, required, ranges, patterns, enums, wire names). One operation or shape per line, sorted,
so that a refresh reads well in `git diff`. Operations that are not selected are kept by name, so that
a request for one is told apart from a misspelt one.
"""
import argparse
import difflib
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Meridian's service name → (directory in botocore, operations whose shapes are kept).
SERVICES = {
    "sagemaker": (
        "sagemaker",
        r"Training(Job|Jobs|JobsFor.*)$|ProcessingJobs?$|TransformJobs?$|HyperParameterTuningJobs?$"
        r"|(Create|Describe|Delete|List)Models?$|Endpoints?$|EndpointConfigs?$|EndpointWeights"
        r"|Tags$|^Search$|^GetSearchSuggestions$"
        r"|^(Create|Describe|Delete|List)(Experiment|Trial|TrialComponent)s?$"
        r"|^(Associate|Disassociate|Update)TrialComponent$",
    ),
    "logs": ("logs", r"LogGroups?$|LogStreams?$|LogEvents$|RetentionPolicy$|Tag|Untag"),
    "monitoring": ("cloudwatch", r"MetricData$|MetricStatistics$|^ListMetrics$|Alarms?$"),
    "sts": ("sts", r"GetCallerIdentity|AssumeRole$|AssumeRoleWithWebIdentity|GetSessionToken"),
    "iam": ("iam", r"(Create|Get|List|Delete|Update)Roles?$|RolePolicy$|RolePolicies$|RoleTags$|^SimulatePrincipalPolicy$"),
    "batch": ("batch", r"."),
    "application-autoscaling": ("application-autoscaling", r"."),
    "sagemaker-runtime": ("sagemaker-runtime", r"."),
}

# Enums that the service takes in any case, whatever its model says: checked by the service here.
ANY_CASE = {"batch": {"RetryAction"}}

SHAPE_FACTS = ["required", "min", "max", "pattern", "enum", "flattened", "union", "payload",
               "timestampFormat", "locationName", "eventstream"]
MEMBER_FACTS = ["location", "locationName", "flattened", "timestampFormat", "idempotencyToken",
                "jsonvalue"]


def read_model(data: pathlib.Path, directory: str) -> dict:
    versions = sorted(p for p in (data / directory).iterdir() if p.is_dir())
    if not versions:
        sys.exit(f"{data / directory}: no API version directory")
    for name, reader in (("service-2.json.gz", gzip.open), ("service-2.json", open)):
        path = versions[-1] / name
        if path.exists():
            with reader(path, "rt", encoding="utf-8") as file:
                return json.load(file)
    sys.exit(f"{versions[-1]}: no service-2.json")


def member_fact(member: dict):
    facts = {k: member[k] for k in MEMBER_FACTS if k in member}
    return {"shape": member["shape"], **facts} if facts else member["shape"]


def shape_fact(shape: dict) -> dict:
    out = {"type": shape["type"]}
    out.update({k: shape[k] for k in SHAPE_FACTS if k in shape})
    if shape["type"] == "structure":
        out["members"] = {k: member_fact(v) for k, v in shape.get("members", {}).items()}
    for part in ("member", "key", "value"):
        if part in shape:
            out[part] = member_fact(shape[part])
    if shape.get("exception"):
        error = shape.get("error", {})
        out["exception"] = {k: error[k] for k in ("code", "httpStatusCode") if k in error}
        if shape.get("fault"):
            out["fault"] = True
    return out


def operation_fact(operation: dict) -> dict:
    http = operation.get("http", {})
    out = {"method": http.get("method", "POST"), "uri": http.get("requestUri", "/")}
    if "responseCode" in http:
        out["status"] = http["responseCode"]
    if "input" in operation:
        out["input"] = operation["input"]["shape"]
    if "output" in operation:
        out["output"] = operation["output"]["shape"]
        if "resultWrapper" in operation["output"]:
            out["resultWrapper"] = operation["output"]["resultWrapper"]
    if operation.get("errors"):
        out["errors"] = [e["shape"] for e in operation["errors"]]
    return out


def reachable(shapes: dict, roots: list) -> list:
    seen, todo = set(), list(roots)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        shape = shapes[name]
        todo += [m["shape"] for m in shape.get("members", {}).values()]
        todo += [shape[p]["shape"] for p in ("member", "key", "value") if p in shape]
    return sorted(seen)


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def extract(model: dict, name: str, selection: str) -> str:
    meta = model["metadata"]
    wanted = {k: v for k, v in model["operations"].items() if re.search(selection, k)}
    others = sorted(set(model["operations"]) - set(wanted))
    roots = []
    for operation in wanted.values():
        roots += [operation[p]["shape"] for p in ("input", "output") if p in operation]
        roots += [e["shape"] for e in operation.get("errors", [])]
    head = {
        "name": name,
        "apiVersion": meta["apiVersion"],
        "protocols": meta.get("protocols", [meta["protocol"]]),
        "signingName": meta.get("signingName", meta["endpointPrefix"]),
    }
    for fact in ("jsonVersion", "targetPrefix", "xmlNamespace"):
        if fact in meta:
            head[fact] = meta[fact]
    if "awsQueryCompatible" in meta:
        head["awsQueryCompatible"] = True
    lines = ["{" + compact(head)[1:-1] + ","]
    lines.append('"operations":{')
    lines.append(",\n".join(f"{compact(k)}:{compact(operation_fact(wanted[k]))}" for k in sorted(wanted)))
    lines.append("},")
    lines.append('"shapes":{')
    shapes = {k: shape_fact(model["shapes"][k]) for k in reachable(model["shapes"], roots)}
    for shape in ANY_CASE.get(name, ()):
        del shapes[shape]["enum"]
    lines.append(",\n".join(f"{compact(k)}:{compact(v)}" for k, v in shapes.items()))
    lines.append("},")
    lines.append(f'"otherOperations":{compact(others)}}}')
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="data", required=True, type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 on a difference")
    arguments = parser.parse_args()
    changed = 0
    for name, (directory, selection) in SERVICES.items():
        new = extract(read_model(arguments.data, directory), name, selection)
        path = HERE / f"{name}.json"
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if new == old:
            continue
        changed += 1
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{path.name}",
                                         f"b/{path.name}", lineterm="", n=0):
            print(line if len(line) < 400 else line[:400] + "…")
        if not arguments.check:
            path.write_text(new, encoding="utf-8")
    print(f"{changed} of {len(SERVICES)} services differ", file=sys.stderr)
    return 1 if arguments.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
