"""What an import writes is valid in a scenario, whatever the configuration; what is not is not
written."""

import random
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from counts import cases as of_all
from fuzzing.imports import around
from importers.corpus_cases import cases
from importers.eos_files import FILES
from tailrace.cli.vendors import import_file
from tailrace.errors import TailraceError
from tailrace.scenario.loading import load_scenario

MUTATIONS = of_all(20, 2)
"""Changed copies of each file."""
SOURCES = [("eos", name, text) for name, text in FILES.items()] + [
    (case.vendor, case.name, case.path.read_text(encoding="utf-8")) for case in cases()
]


@pytest.mark.parametrize(
    ("vendor", "name", "text"), SOURCES, ids=[f"{vendor}/{name}" for vendor, name, _ in SOURCES]
)
def test_an_import_writes_only_what_check_accepts(
    vendor: str, name: str, text: str, tmp_path: Path
) -> None:
    rng = random.Random(f"{vendor} {name}")
    for number in range(MUTATIONS):
        file, out = tmp_path / f"{number}.cfg", tmp_path / f"{number}.yaml"
        file.write_text(changed(text, rng), encoding="utf-8")
        try:
            code = import_file(vendor, file, out, None, is_strict=False, is_json=False)
        except TailraceError:
            code = 2
        assert out.exists() == (code == 0)
        if code == 0:
            check(out)


def changed(text: str, rng: random.Random) -> str:
    """Lines that are lost, doubled, exchanged, or whose numbers differ."""
    lines = text.splitlines()
    for _ in range(rng.randint(0, 5)):
        place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                lines[place] = lines[other]
            case 1:
                lines[place], lines[other] = lines[other], lines[place]
            case 2:
                lines.insert(place, lines[other])
            case _:
                words = [
                    str(rng.choice((0, 1, 3, 7, 100, 9217))) if word.isdecimal() else word
                    for word in lines[place].split(" ")
                ]
                lines[place] = " ".join(words)
    return "\n".join(lines)


def check(section: Path) -> None:
    """A scenario with this section and the hosts that it names is valid."""
    load_scenario(around(YAML(typ="safe").load(section.read_text(encoding="utf-8"))))
