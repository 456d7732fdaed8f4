"""The section that the page about importing shows is whole: a scenario can have it."""

from pathlib import Path

from ruamel.yaml import YAML

from lab import sound
from tailrace.importers.nxos.importer import import_nxos
from tailrace.scenario.loading import load_scenario

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "import-configuration.md").read_text(
    encoding="utf-8"
)


def test_the_section_that_the_page_shows_is_what_the_import_writes_and_loads() -> None:
    shown = PAGE.partition("$ cat switch.yaml\n")[2].partition("```")[0]
    typed = PAGE.partition("<<'END'\n")[2].partition("> END")[0]
    text = "\n".join(line.removeprefix("> ") for line in typed.splitlines())
    assert shown == import_nxos(text)[0].text("nexus.cfg")
    section = YAML(typ="safe").load(shown)
    scenario = sound(network__topology__switch="Lacrosse-1", arms={}) | section
    assert load_scenario(scenario).scenario.switch("Lacrosse-1").policy == "nxos"
