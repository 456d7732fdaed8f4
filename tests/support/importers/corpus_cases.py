"""The corpus: configurations by facts of public ones, with where each occurs and what it means."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from importers.meaning import SUFFIX

CORPUS = Path(__file__).resolve().parents[2] / "python" / "importers" / "corpus"


@dataclass(frozen=True)
class Case:
    """One file. `refused` is part of the reason why it has no section; empty for one that is
    imported."""

    vendor: str
    name: str
    where: str
    refused: str = ""

    @property
    def path(self) -> Path:
        """The configuration."""
        return CORPUS / self.vendor / f"{self.name}.{SUFFIX[self.vendor]}"

    @property
    def meaning_path(self) -> Path:
        """What it means."""
        return self.path.with_suffix(".meaning")

    def __str__(self) -> str:
        return f"{self.vendor}/{self.name}"


def cases(vendor: str | None = None, *, is_accepted: bool | None = None) -> list[Case]:
    """Every case in the order of the index."""
    index = tomllib.loads((CORPUS / "index.toml").read_text(encoding="utf-8"))
    found = [
        Case(of, name, **entry) for of, entries in index.items() for name, entry in entries.items()
    ]
    return [
        case
        for case in found
        if vendor in (None, case.vendor)
        and (is_accepted is None or is_accepted == (not case.refused))
    ]


def case(vendor: str, name: str) -> Case:
    """One case by its name."""
    return next(one for one in cases(vendor) if one.name == name)
