"""The house: which crate may use which, and what the crates that model things never touch."""

import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# From the ground up. A crate uses only what is named here, in code, tests and build scripts alike.
ALLOWED: dict[str, set[str]] = {
    "units": set(),
    "blockdev": {"units"},
    "wire": {"units"},
    "dataplane": {"units", "wire"},
    "transport": {"units", "wire"},
    "programs": {"units", "blockdev", "transport"},
    # The interface of a host has the scheduler of a switch's port.
    "host": {"units", "wire", "dataplane", "transport", "programs"},
    # What every engine writes: types, which know nothing of who fills them.
    "outcome": set(),
    # Spanning trees are resolved with the plan, and are part of outcomes.
    "plan": {"units", "wire", "outcome"},
    "record": {"units", "outcome"},
    "network": {"units", "outcome", "wire", "dataplane", "host", "plan", "record"},
    "workloads": {
        "units",
        "outcome",
        "blockdev",
        "wire",
        "transport",
        "programs",
        "host",
        "plan",
        "record",
    },
    "sim": {
        "units",
        "outcome",
        "wire",
        "dataplane",
        "transport",
        "programs",
        "host",
        "plan",
        "record",
        "network",
        "workloads",
    },
    # Real frames in that network, and the kernels that send them: live and exact runs have it in
    # common. It knows neither, and not the simulator.
    "lab": {"units", "outcome", "wire", "dataplane", "plan", "record", "network"},
    "fabric": {
        "units",
        "outcome",
        "wire",
        "dataplane",
        "host",
        "plan",
        "record",
        "network",
        "lab",
    },
    # The workloads alone, over the sockets of whatever system it runs on.
    "traffic": {
        "units",
        "outcome",
        "transport",
        "programs",
        "host",
        "plan",
        "record",
        "network",
        "workloads",
    },
    # The traffic of its hosts is that of the traffic program.
    "exact": {
        "units",
        "outcome",
        "wire",
        "host",
        "plan",
        "record",
        "network",
        "workloads",
        "lab",
        "traffic",
    },
    # Captures of any network: no engine, no plan.
    "capture": {"units", "wire", "record"},
    "bindings": {"dataplane", "plan", "record", "sim", "capture"},
    # The same simulator for a page.
    "web": {"plan", "record", "sim"},
    # Tests that compare the engines, which do not know each other.
    "parity": {
        "units",
        "outcome",
        "wire",
        "plan",
        "network",
        "workloads",
        "sim",
        "lab",
        "traffic",
    },
}

# A file is one concept; the switch, the host, the world and the experiment are where a god
# object would grow. Lines have at most 100 columns.
LINES_MAX = 520
GENERATED = {"python/tailrace/outcome/types.py", "python/tailrace/plan/types.py"}

# State machines that are handed the time: they know no clock, socket, thread, file or terminal.
SANS_IO = ("units", "blockdev", "wire", "dataplane", "transport", "programs", "host")
FORBIDDEN = re.compile(
    r"\bstd::(time|net|thread|fs|io|process|env)\b|\b(SystemTime|Instant)::|\be?println!"
)
LINE_COMMENT = re.compile(r"//.*")


@cache
def dependencies() -> dict[str, set[str]]:
    """Crate → the project's own crates that it names in Cargo.toml."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    answer = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    return {
        short_name(package["name"]): {
            short_name(dependency["name"])
            for dependency in package["dependencies"]
            if dependency["name"].startswith("tailrace-")
        }
        for package in json.loads(answer.stdout)["packages"]
    }


def short_name(package: str) -> str:
    """`tailrace-units` as `units`."""
    return package.removeprefix("tailrace-")


def test_every_crate_has_its_place_in_the_order() -> None:
    assert set(dependencies()) == set(ALLOWED)


@pytest.mark.parametrize("crate", ALLOWED)
def test_a_crate_uses_only_what_its_place_allows(crate: str) -> None:
    assert dependencies()[crate] <= ALLOWED[crate]


def test_the_order_has_no_circle() -> None:
    seen: set[str] = set()
    for crate, below in ALLOWED.items():
        assert below <= seen, f"{crate} may use only the crates above it in the list"
        seen.add(crate)


@pytest.mark.parametrize("crate", SANS_IO)
def test_a_model_knows_no_clock_socket_thread_or_terminal(crate: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if FORBIDDEN.search(LINE_COMMENT.sub("", line))
    ]
    assert found == []


def test_nothing_in_the_fabric_uses_its_command_line() -> None:
    folder = ROOT / "crates" / "fabric" / "src"
    others = [path for path in folder.rglob("*.rs") if path.parent.name != "commands"]
    assert len(others) > 50
    assert [path.name for path in others if "crate::commands" in path.read_text()] == []


def test_no_file_grows_into_everything() -> None:
    sources = [
        path
        for folder in ("crates", "python", "scripts")
        for path in (ROOT / folder).rglob("*.[rp][sy]")
    ]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert sources
    assert {
        name: lines
        for name, lines in lengths.items()
        if lines > LINES_MAX and name not in GENERATED
    } == {}


def test_the_pages_name_every_crate_after_those_that_it_uses() -> None:
    map_of_code = (
        (ROOT / "docs" / "architecture.md")
        .read_text()
        .partition("crates/ ")[2]
        .partition("python/tailrace/")[0]
    )
    order = re.search(r"^    (units -> .+)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert order is not None
    for named in (
        re.findall(r"^  (\w+)/ ", map_of_code, re.MULTILINE),
        re.findall(r"\w+", order[1]),
    ):
        assert sorted(named) == sorted(ALLOWED)
        for place, crate in enumerate(named):
            assert ALLOWED[crate] <= set(named[:place]), crate


def test_the_map_names_every_layer_of_the_package() -> None:
    map_of_code = (
        (ROOT / "docs" / "architecture.md")
        .read_text()
        .partition("python/tailrace/ ")[2]
        .partition("\n```")[0]
    )
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if "containers" in contract)
    named = {name for layer in layers for name in layer.split(" | ")}
    assert named - set(re.findall(r"(?<=  )(\w+)(?=/|\.py)", map_of_code)) == set()


def test_the_package_and_the_simulator_have_one_version() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert cargo["workspace"]["package"]["version"] == python["project"]["version"]
