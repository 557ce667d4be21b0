#!/usr/bin/python3
"""Writes the files below packaging/ that come from `meridian operator manifests`: definitions, kustomize base, chart.

    packaging/generate.py build/release/bin/meridian            writes them
    packaging/generate.py build/release/bin/meridian --check    says which differ; exit 1 when one does

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Written by packaging/generate.py; changes are overwritten.\n"
CHART = HERE / "helm/meridian-operator"


def documents(meridian, *options):
    text = subprocess.run([meridian, "operator", "manifests", *options], capture_output=True, text=True, check=True).stdout
    return [d for d in text.split("---\n") if d.strip()]


def kind_of(document):
    return re.search(r"^kind: (\w+)$", document, re.M)[1]


def name_of(document):
    return re.search(r"^metadata:\n(?:  .*\n)*?  name: (\S+)$", document, re.M)[1].strip('"')


def plain(meridian):
    """The definitions, and the rest as a kustomize base."""
    files = {}
    crds, rest = [], []
    for document in documents(meridian):
        (crds if kind_of(document) == "CustomResourceDefinition" else rest).append(document)
    for crd in crds:
        files[HERE / "crds" / (name_of(crd).split(".")[0] + ".yaml")] = HEADER + crd
    files[HERE / "crds/kustomization.yaml"] = (
        HEADER + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
        + "".join(f"  - {name_of(crd).split('.')[0]}.yaml\n" for crd in crds))
    files[HERE / "kustomize/base/operator.yaml"] = HEADER + "---\n".join(rest)
    return files


def expressions(document):
    return document.replace("WATCHED", "{{ .Values.watchNamespace | quote }}").replace(
        "INSTALLED", "{{ .Release.Namespace | quote }}").replace("IMAGE", "{{ .Values.image | quote }}")


def only_elsewhere(document):
    """What an operator needs at home, where it watches another namespace."""
    if kind_of(document) in ("Role", "RoleBinding") and "\n  namespace: INSTALLED\n" in document:
        return "{{- if ne .Values.watchNamespace .Release.Namespace }}\n" + document + "{{- end }}\n"
    return document


def templates(meridian):
    """The chart's templates: the manifests themselves, made with Helm's expressions for values."""
    both = []
    for scope in ([], ["--namespace", "WATCHED"]):
        made = documents(meridian, "--install-namespace", "INSTALLED", "--image", "IMAGE", *scope)
        made = [d for d in made if kind_of(d) not in ("CustomResourceDefinition", "Namespace")]
        both.append([expressions(only_elsewhere(d) if scope else d) for d in made])

    def part(kinds):
        everywhere, one = ("---\n".join(d for d in made if kind_of(d) in kinds) for made in both)
        if everywhere == one:
            return everywhere
        return "{{- if .Values.watchNamespace }}\n" + one + "{{- else }}\n" + everywhere + "{{- end }}\n"

    rbac = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    return {
        CHART / "templates/account.yaml": HEADER + "{{- if .Values.rbac.create }}\n" + part(("ServiceAccount",))
        + "---\n" + part(rbac) + "{{- end }}\n",
        CHART / "templates/deployment.yaml": HEADER + part(("Deployment",)),
    }




def main():
    meridian, check = sys.argv[1], "--check" in sys.argv[2:]
    files = {**plain(meridian), **templates(meridian)}
    known = [*HERE.glob("crds/*.yaml"), HERE / "kustomize/base/operator.yaml", *files]
    stale = [p for p in sorted(set(known)) if not p.exists() or p.read_text() != files.get(p)]
    if check:
        for path in stale:
            print(f"{path.relative_to(HERE)} is not what `meridian operator manifests` prints: run packaging/generate.py")
        return 1 if stale else 0
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in set(known) - set(files):
        path.unlink()
    print(f"{len(files)} files, {len(stale)} of them new or changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
