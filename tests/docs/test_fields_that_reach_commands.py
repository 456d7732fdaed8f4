"""The page of fields that reach a command has every text of a scenario, every option, every start
of a program."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from tailrace.cli.app import app
from tailrace.scenario.schema import scenario_schema

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "fields-that-reach-commands.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "python" / "tailrace"
WORD = re.compile(r"`([^`]+)`")
STARTS = {
    "subprocess": {
        "run",
        "Popen",
        "call",
        "check_call",
        "check_output",
        "getoutput",
        "getstatusoutput",
    },
    "os": {"system", "popen", "posix_spawn", "posix_spawnp", "startfile", "fork", "forkpty"},
    "pty": {"spawn", "fork"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
"""Functions that start programs, by module; those of `os` that begin with `exec` and `spawn` do,
too."""
SHELLS = {
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "create_subprocess_shell",
}


def rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading."""
    [part] = [part for part in PAGE.split("\n## ")[1:] if part.partition("\n")[0] == heading]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def words(heading: str, column: int = 0) -> list[str]:
    """What stands between backticks in a column."""
    return [word.replace("\\|", "|") for row in rows(heading) for word in WORD.findall(row[column])]


# --- fields of scenarios --------------------------------------------------------------------------


def free(node: object, path: tuple[str, ...]) -> Iterator[str]:
    """Texts of a schema that may be anything: neither choices nor a pattern. Keys of mappings are
    texts, too."""
    if not isinstance(node, Mapping):
        return
    if node.get("type") == "string" and not {"enum", "const", "pattern"} & node.keys():
        yield ".".join(path)
    for name, below in node.get("properties", {}).items():
        yield from free(below, (*path, name))
    for key in ("items", "additionalProperties"):
        yield from free(node.get(key), (*path, "*"))
    for below in node.get("patternProperties", {}).values():
        yield from free(below, (*path, "*"))
    if node.get("additionalProperties") and "pattern" not in node.get("propertyNames", {}):
        yield ".".join((*path, "<key>"))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for below in node.get(key, ()):
            yield from free(below, path)


def free_fields(schema: Mapping[str, Any]) -> set[str]:
    """By type and key."""
    parts = [("Scenario", schema), *schema["$defs"].items()]
    return {field for name, part in parts for field in free(part, (name,))}


def test_every_text_field_of_a_scenario_is_in_the_table() -> None:
    fields = free_fields(scenario_schema())
    assert {"Star.hosts.*", "Scenario.description", "Switch.ports.<key>"} <= fields
    listed = words("Scenarios")
    assert sorted(listed) == sorted(fields), "docs/fields-that-reach-commands.md, Scenarios"


def test_a_new_text_field_is_noticed() -> None:
    part = {
        "properties": {
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "unit": {"type": "string", "enum": ["s"]},
        }
    }
    keys = {"properties": {"by": {"type": "object", "additionalProperties": {"type": "integer"}}}}
    assert free_fields({"$defs": {"New": part, "Keys": keys}}) == {"New.note", "Keys.by.<key>"}


# --- options --------------------------------------------------------------------------------------


def options(command: Any) -> Iterator[str]:
    """Options and arguments that are texts or paths."""
    for below in getattr(command, "commands", {}).values():
        yield from options(below)
    for one in getattr(command, "params", ()):
        if re.search(r"\b(str|Path)\b", str(one.bare_type())):
            yield one.opts[0] if one.param_type_name == "option" else one.metavar or one.name


def test_every_text_option_is_in_the_table() -> None:
    found = set(options(typer.main.get_command(app)))
    assert {"--partition", "--netns", "HOST", "SCENARIO..."} <= found
    listed = {word for row in rows("Options and arguments") for word in WORD.findall(row[0])}
    assert {word.replace("\\|", "|") for word in listed} == found, (
        "docs/fields-that-reach-commands.md, Options"
    )


# --- starts of programs ---------------------------------------------------------------------------


def starts(tree: ast.Module) -> Iterator[tuple[str, ast.Call | None]]:
    """Calls that start programs; and imports of such functions by their name, which would hide
    them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of, name = ast.unparse(node.func.value), node.func.attr
            if name in STARTS.get(of, ()) or (of == "os" and name.startswith(("exec", "spawn"))):
                yield f"{of}.{name}", node
        if isinstance(node, ast.ImportFrom) and node.module in STARTS:
            hidden = [
                one.name
                for one in node.names
                if one.name in STARTS[node.module] or one.name.startswith("exec")
            ]
            yield from ((f"from {node.module} import {name}", None) for name in hidden)


def starting() -> dict[str, list[tuple[str, ast.Call | None]]]:
    """By module of the package, what starts programs in it."""
    trees = {
        str(file.relative_to(PACKAGE)): ast.parse(file.read_text("utf-8"))
        for file in PACKAGE.rglob("*.py")
    }
    return {name: found for name, tree in trees.items() if (found := list(starts(tree)))}


def rust_starting() -> set[str]:
    """Sources of crates that start programs outside of their tests."""
    sources = ROOT.glob("crates/*/src/**/*.rs")
    pattern = re.compile(r"\bCommand::new\(|\bexecv|\bposix_spawn")
    code = {source: source.read_text("utf-8").partition("#[cfg(test)]")[0] for source in sources}
    return {str(source.relative_to(ROOT)) for source, text in code.items() if pattern.search(text)}


def test_every_place_that_starts_programs_is_in_the_table() -> None:
    listed = {word for word in words("Where programs are started") if word.endswith((".py", ".rs"))}
    assert listed == set(starting()) | rust_starting(), (
        "docs/fields-that-reach-commands.md, Where programs are started"
    )


def test_no_program_is_started_by_a_shell() -> None:
    calls = [(name, call) for found in starting().values() for name, call in found]
    assert [name for name, _ in calls if name.startswith("from ") or name in SHELLS] == []
    keywords = {keyword.arg for _, call in calls if call is not None for keyword in call.keywords}
    assert "timeout" in keywords
    assert not {"shell", "executable"} & keywords


def test_a_start_of_a_program_is_found() -> None:
    text = (
        "import os\nfrom subprocess import run\nsubprocess.Popen(words, "
        "shell=True)\nos.execv(a, b)\nos.system('x')\n"
    )
    assert [name for name, _ in starts(ast.parse(text))] == [
        "from subprocess import run",
        "subprocess.Popen",
        "os.execv",
        "os.system",
    ]


def test_every_module_that_reads_the_environment_is_in_the_table() -> None:
    pattern = re.compile(r"\bos\.(environ|getenv)\b")
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if pattern.search(file.read_text("utf-8"))
    }
    assert set(words("Environment", 2)) == found


# --- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading", ["Scenarios", "Options and arguments", "Imported files", "Languages"]
)
def test_every_test_that_the_page_names_exists(heading: str) -> None:
    defined = {
        name
        for file in ROOT.glob("tests/**/*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.M)
    }
    named = [word for row in rows(heading) for word in WORD.findall(row[-1])]
    assert named, heading
    assert [name for name in named if name not in defined] == []


def test_every_source_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.(?:py|rs))`", PAGE))
    assert [
        name for name in named if not (ROOT / name).exists() and not (PACKAGE / name).exists()
    ] == []


def test_the_options_that_reach_a_program_name_what_keeps_them_data() -> None:
    for row in (*rows("Scenarios"), *rows("Options and arguments"), *rows("Languages")):
        goes, kept = row[-3], row[-2]
        assert bool(kept) or goes.startswith("nothing") or row[-1], row
