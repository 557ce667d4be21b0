"""What must hold of the tree beside its tests: formatting, includes, sizes, scripts, hygiene.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
problems = []


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout
    return [ROOT / line for line in out.splitlines() if (ROOT / line).is_file()]


def check_format():
    files = [str(p) for p in tracked("*.h", "*.cpp")]
    for start in range(0, len(files), 50):
        done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *files[start:start + 50]], cwd=ROOT,
                              text=True, capture_output=True)
        for line in done.stderr.splitlines():
            if "error:" in line:
                problems.append("format: " + line.replace(str(ROOT) + "/", "") + " (./dev fmt mends it)")


def include_table():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text.split("<!-- includes:begin -->")[1].split("<!-- includes:end -->")[0]
    allowed = {}
    for row in re.findall(r"^\| `([^`]+)` \|[^|]*(?:`[^`]*`[^|]*)*\| ([^|]*) \|$", table, re.M):
        allowed[row[0]] = set(row[1].replace("–", "").split())
    return allowed


def folder_of(path):
    parts = path.relative_to(ROOT / "src").parts[:-1]
    return "/".join(parts) or "."


def check_includes():
    allowed = include_table()
    for path in tracked("src/*.h", "src/*.cpp"):
        here = folder_of(path)
        if here not in allowed:
            problems.append(f"includes: folder src/{here} is not in ARCHITECTURE.md's table")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'#include "([^"]+)"', line)
            if not found:
                continue
            target = "/".join(found[1].split("/")[:-1]) or "."
            if target != here and target not in allowed[here]:
                problems.append(f"includes: {path.relative_to(ROOT)}:{number}: {here} may not include {target}")


def check_spdx():
    for path in tracked("*.h", "*.cpp", "*.py", "*.sh", "*.cmake", "dev", ".ci/run"):
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text(errors="replace")[:4000]:
            problems.append(f"licence: {path.relative_to(ROOT)} has no SPDX line")


def check_named_files():
    for name in set(re.findall(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+\.(?:h|cpp|py|md))`", (ROOT / "ARCHITECTURE.md").read_text())):
        if not (ROOT / name).is_file() and not (ROOT / "src" / name).is_file():
            problems.append(f"docs: ARCHITECTURE.md names {name}, which is not there")


def check_shell():
    scripts = [str(p) for p in tracked("dev", ".ci/run", "*.sh")]
    done = subprocess.run(["shellcheck", "-S", "warning", *scripts], cwd=ROOT, text=True, capture_output=True)
    if done.returncode != 0:
        problems.append("shell:\n" + done.stdout)


def functions(path):
    """Yields (lines, first line) of function bodies at namespace or class level, by the closing brace."""
    start = None
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if re.match(r"^ {0,2}\S.*\) ?(const)? ?(noexcept)? ?(override)? ?\{$", line) and not line.lstrip().startswith(
                ("if", "for", "while", "switch", "namespace")):
            start = (number, len(line) - len(line.lstrip()))
        elif start and line == " " * start[1] + "}":
            yield number - start[0] + 1, start[0]
            start = None


def print_sizes():
    sources = [p for p in tracked("src/*.h", "src/*.cpp", "algorithms/*.cpp")]
    sizes = sorted(((len(p.read_text().splitlines()), p) for p in sources), reverse=True)
    print("largest files:")
    for size, path in sizes[:10]:
        print(f"  {size:5} {path.relative_to(ROOT)}")
    longest = sorted(((n, p, at) for p in sources for n, at in functions(p)), reverse=True)
    print("longest functions:")
    for size, path, at in longest[:10]:
        print(f"  {size:5} {path.relative_to(ROOT)}:{at}")


def main():
    for check in (check_format, check_includes, check_spdx, check_named_files, check_shell):
        check()
    print_sizes()
    for problem in problems:
        print(problem)
    print(f"lint: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
