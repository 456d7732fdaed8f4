"""Reports known vulnerabilities of the crates of `Cargo.lock` and the packages of `uv.lock`; gates
nothing.

It asks the database of https://osv.dev, which holds those of RustSec and of PyPI, one question
about all of them. Where it cannot be reached, that is said: a machine without it builds and tests
the same.
"""

import json
import os
import sys
import tomllib
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATABASE = os.environ.get("OSV_DATABASE", "https://api.osv.dev")
ANSWER_S = 15.0
"""Time in which it has to answer."""
ANSWER_BYTES_MAX = 10_000_000


def main() -> int:
    """Prints what is known; the exit code is always 0."""
    packages = [*locked("uv.lock", "PyPI"), *locked("Cargo.lock", "crates.io")]
    try:
        answers = asked(packages)
    except (OSError, ValueError) as error:
        print(f"advisories: not looked up: {DATABASE} cannot be reached: {error}")
        return 0
    found = known(packages, answers)
    for line in found:
        print(line)
    print(f"advisories: {len(found)} of {len(packages)} packages have some")
    return 0


def locked(file: str, ecosystem: str) -> list[dict[str, Any]]:
    """The packages of a lock file that come from a registry, as the database names them."""
    content = tomllib.loads((ROOT / file).read_text("utf-8"))
    return [
        {"package": {"name": one["name"], "ecosystem": ecosystem}, "version": one["version"]}
        for one in content["package"]
        if "registry" in str(one.get("source", ""))
    ]


def asked(packages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """An answer for each package; raises `OSError` or `ValueError`."""
    question = json.dumps({"queries": packages}).encode()
    request = urllib.request.Request(
        f"{DATABASE}/v1/querybatch", question, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
        results = json.loads(answer.read(ANSWER_BYTES_MAX))["results"]
    if len(results) != len(packages):
        raise ValueError(f"{len(results)} answers to {len(packages)} questions")
    return list(results)


def known(packages: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each package with advisories."""
    return [
        f"{one['package']['name']} {one['version']}: "
        f"{', '.join(vulnerability['id'] for vulnerability in found)}"
        for one, answer in zip(packages, answers, strict=True)
        if (found := answer.get("vulns") or [])
    ]


if __name__ == "__main__":
    sys.exit(main())
