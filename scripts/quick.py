"""Is my change right so far? `make quick`: the checks and tests that a change can reach, in 90
seconds when warm.

The change is what differs from the last commit, or the last commit itself where nothing does;
`BASE=commit` names another one. After a change of Python: formats, lints, types, and the tests
whose imports reach what changed, nearest first, until they would take too long (`make test` records
durations). After a change of Rust: formats and lints, the tests of the crate and of those that use
it, and the Python tests marked `smoke`, on an extension that is built for tests, with overflow
checks.
"""

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grimp

import bootstrap
import checks
from checks import ROOT, Check, tool

BUDGET_S = 60.0
"""Processor time that the chosen Python tests may have taken when they were last recorded, in
seconds."""
UNKNOWN_S = 1.0
"""What a file of tests is taken to cost that was never recorded."""
CORE = {"units", "wire", "plan"}
"""Crates that all others use: the tests of their dependents are `make test`."""
RANDOM = ("--skip", "any_division")
"""Random divisions of plans among threads, which take as long as all others: `make test` has
them."""
GIT = ("git", "-c", "core.quotePath=false")
MANIFESTS = {"Cargo.toml", "Cargo.lock"}
ALLOWED = {"deny.toml", "scripts/python-licences.toml"}
"""What says which packages of others there may be."""
IMPORTED_FROM = ("tests/support", "scripts")
"""Folders whose modules tests import by their names."""
COMMAND = "tailrace.cli"
"""What a file of tests uses that imports nothing of the package: it starts the program."""


@dataclass(frozen=True)
class Chosen:
    """Files of tests that run now, and how many more a change can reach."""

    files: tuple[str, ...]
    left_out: int


def main() -> int:
    """Run what the change can reach."""
    started = time.monotonic()
    changed = changes(os.environ.get("BASE", ""))
    if not changed:
        print("quick: nothing has changed")
        return 0
    print(
        f"quick: {len(changed)} changed file{'s' if len(changed) > 1 else ''}: "
        f"{' '.join(changed[:6])}",
        flush=True,
    )
    checks.LOGS.mkdir(parents=True, exist_ok=True)
    rust, python = of_rust(changed), of_python(changed)
    if {*ALLOWED, "Cargo.lock", "uv.lock"}.intersection(changed):
        python = [*python, *checks.DEPENDENCIES]
    if unreached := [name for name in changed if not is_reached(name)]:
        print(f"quick: no check here reaches {' '.join(unreached[:6])}: `make test`", flush=True)
    built = [checks.run(checks.BUILD)]
    rows = ((*rust, *python), smoke() if rust else ())
    # Guests run where their kernel was built, and `make exact-deps` has installed their programs.
    guests = (
        {"TAILRACE_EXACT_REQUIRED": "1"}
        if (bootstrap.user_cache("exact") / "linux").exists()
        else {}
    )
    verdicts = built + checks.side_by_side(rows, checks.USUAL_SEED, guests)
    return checks.summarise(verdicts, time.monotonic() - started)


def changes(base: str) -> list[str]:
    """Changed files, relative to the project; those that are gone as well."""
    new = lines(*GIT, "ls-files", "--others", "--exclude-standard")
    named = lines(*GIT, "diff", "--name-only", "--no-renames", base or "HEAD") + new
    if not base and not named:
        named = lines(*GIT, "diff", "--name-only", "--no-renames", "HEAD~1")
    return sorted(set(named))


def there(names: Iterable[str], suffix: str) -> list[str]:
    """Files of a kind that are not gone."""
    return [name for name in names if name.endswith(suffix) and (ROOT / name).is_file()]


def is_reached(name: str) -> bool:
    """Whether anything here looks at such a file."""
    if name.startswith(("tests/live/", "tests/exact/")):
        return False
    has_own = name.startswith(
        ("crates/", "docs/", "examples/", "python/tailrace/", "README", "CONTRIBUTING")
    )
    return (
        has_own
        or name in MANIFESTS | ALLOWED
        or (name.endswith(".py") and Path(name).name != "conftest.py")
    )


def lines(*command: str) -> list[str]:
    """What a command prints, line by line; ends this program with what it complains about."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        said = " ".join(done.stderr.split()[:40])
        sys.exit(
            f"quick: {' '.join(command)}: {said} (hint: BASE=commit names another one; `make "
            "test` needs none)"
        )
    return done.stdout.splitlines()


# --- Rust -----------------------------------------------------------------------------------------


def of_rust(changed: list[str]) -> list[Check]:
    """Formats, lints and tests of changed crates and of those that use them."""
    files = there(changed, ".rs")
    crates = {name.split("/")[1] for name in changed if name.startswith("crates/")}
    crates = {name for name in crates if (ROOT / "crates" / name / "Cargo.toml").exists()}
    if not crates:
        return [checks.CLIPPY] if MANIFESTS.intersection(changed) else []
    tested = crates if crates & CORE else crates | dependents(crates)
    found = (
        [Check("rustfmt", ("rustfmt", "--check", "--edition", "2024", *files), 60)] if files else []
    )
    tests = (
        "cargo",
        "test",
        "--locked",
        "--quiet",
        "--lib",
        "--bins",
        "--tests",
        *packages(tested),
        "--",
        *RANDOM,
    )
    return [
        *found,
        Check("crates", tests, 1800),
        Check(
            "clippy",
            (
                "cargo",
                "clippy",
                "--locked",
                "--quiet",
                "--all-targets",
                *packages(crates),
                "--",
                "-D",
                "warnings",
            ),
            900,
        ),
    ]


def packages(crates: set[str]) -> list[str]:
    """Options of cargo that choose crates."""
    return [word for crate in sorted(crates) for word in ("--package", f"tailrace-{crate}")]


def dependents(crates: set[str]) -> set[str]:
    """Crates whose Cargo.toml names one of these."""
    metadata = json.loads(
        lines("cargo", "metadata", "--no-deps", "--format-version", "1", "--locked")[0]
    )
    wanted = {f"tailrace-{crate}" for crate in crates}
    users = (
        p["name"] for p in metadata["packages"] if wanted & {d["name"] for d in p["dependencies"]}
    )
    return {name.removeprefix("tailrace-") for name in users} - {"bindings", "web"}


def smoke() -> list[Check]:
    """The Python tests marked `smoke`, with the extension that is built for tests."""
    words = ("--numprocesses", "2", "--dist", "loadfile", "-m", "smoke")
    return [checks.pytest("smoke", 600, *words)]


# --- Python ---------------------------------------------------------------------------------------


def of_python(changed: list[str]) -> list[Check]:
    """Formats, lints and types of changed files, and the tests that reach them."""
    files = there(changed, ".py")
    try:
        chosen = choose(changed)
    except (SyntaxError, grimp.exceptions.SourceSyntaxError) as error:
        print(f"quick: {error}: no test is chosen before that is mended", flush=True)
        chosen = Chosen((), 0)
    found = []
    if files:
        found = [
            Check("ruff", (tool("ruff"), "check", *files), 60),
            Check("ruff format", (tool("ruff"), "format", "--check", *files), 60),
        ]
    if any(name.endswith((".py", ".pyi")) for name in changed):
        found.append(Check("mypy", (tool("mypy"),), 600))
    if chosen.left_out:
        print(
            f"quick: {chosen.left_out} more files of tests can reach the change: `make test`",
            flush=True,
        )
    if not chosen.files:
        return found
    words = ("--numprocesses", "2", "--dist", "loadfile", "-m", "not slow", *chosen.files)
    return [*found, checks.pytest("pytest", 600, *words)]


def choose(changed: list[str]) -> Chosen:
    """Changed files of tests, then those that import a changed module, nearest first, within the
    budget."""
    ranks = {name: -1 for name in changed if name in all_tests()}
    near = distances(
        [module for name in changed if not is_test(name) for module in modules_of(name)]
    )
    for path in all_tests():
        if (rank := rank_of(path, near)) is not None:
            ranks.setdefault(path, rank)
    if any(name.startswith(("docs/", "README", "CONTRIBUTING")) for name in changed):
        ranks |= {path: 0 for path in all_tests() if path.startswith("tests/docs/test_links")}
    if any(name.startswith("examples/") for name in changed):
        ranks |= {path: 0 for path in all_tests() if path.endswith("/test_examples.py")}
    costs, spent = recorded(), 0.0
    files: list[str] = []
    own = {
        f"tests/python/{name.split('/')[2]}/"
        for name in changed
        if name.startswith("python/tailrace/")
    }

    def order(path: str) -> tuple[int, bool, float, str]:
        return ranks[path], not path.startswith(tuple(own)), costs.get(path, UNKNOWN_S), path

    ordered = sorted(ranks, key=order)
    for path in ordered:
        spent += costs.get(path, UNKNOWN_S)
        if files and spent > BUDGET_S:
            break
        files.append(path)
    return Chosen(tuple(files), len(ordered) - len(files))


def is_test(name: str) -> bool:
    """Whether pytest collects a file."""
    return (
        name.startswith("tests/") and Path(name).name.startswith("test_") and name.endswith(".py")
    )


@cache
def all_tests() -> tuple[str, ...]:
    """Files of tests that need neither root nor a kernel for guests."""
    found = (str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return tuple(name for name in found if not name.startswith(("tests/live/", "tests/exact/")))


def modules_of(name: str) -> list[str]:
    """The module of a file that tests may import. For a data file of the package, and for one that
    is gone, those of its folder, or of the next above that has any.
    """
    path = Path(name)
    if path.suffix == ".py" and not name.startswith("python/"):
        folder = next((one for one in IMPORTED_FROM if name.startswith(f"{one}/")), None)
        return [".".join(path.relative_to(folder).with_suffix("").parts)] if folder else [path.stem]
    if path.suffix == ".py" and (ROOT / name).exists():
        return [".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")]
    if not name.startswith("python/tailrace/"):
        return []
    above = (found for one in path.parents if (found := sorted((ROOT / one).glob("*.py"))))
    return [module for one in next(above, []) for module in modules_of(str(one.relative_to(ROOT)))]


def distances(modules: Iterable[str]) -> dict[str, int]:
    """How many imports lie between each module and the nearest changed one."""
    sys.path.insert(0, str(ROOT / "python"))  # nothing is installed yet in a fresh clone
    graph = grimp.build_graph("tailrace")
    near = dict.fromkeys(modules, 0)
    edge = list(near)
    while edge:
        following = []
        for module in edge:
            users = (
                graph.find_modules_that_directly_import(module)
                if module in graph.modules
                else set()
            )
            for user in users - near.keys():
                near[user] = near[module] + 1
                following.append(user)
        edge = following
    return near


def rank_of(path: str, near: dict[str, int]) -> int | None:
    """The least distance of what a file of tests imports, none where it cannot reach the change."""
    names = set(imported(ROOT / path))
    if not any(name.split(".")[0] == "tailrace" for name in names):
        names.add(COMMAND)
    found = [near[name] for name in names if name in near]
    return min(found) if found else None


@cache
def names_in(path: Path) -> tuple[str, ...]:
    """`imported` of a file that several others import."""
    return tuple(imported(path))


def imported(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports, at its head or in a function, and those that its
    scripts and support modules do.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            yield name
            for folder in IMPORTED_FROM:
                if (
                    file := ROOT / folder / f"{name.replace('.', '/')}.py"
                ).exists() and file != path:
                    yield from names_in(file)


def recorded() -> dict[str, float]:
    """Processor time of each file of tests when it was last recorded, in seconds."""
    costs: dict[str, float] = {}
    for row in checks.read_durations():
        if row["kind"] == "python":
            file = str(row["name"]).partition("::")[0]
            costs[file] = costs.get(file, 0.0) + checks.cost(row)
    return costs


if __name__ == "__main__":
    checks.program("quick", main)
