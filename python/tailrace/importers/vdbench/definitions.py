"""Definitions of a parameter file: hosts (HD), devices (SD), workloads (WD) and runs (RD), with
their defaults."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tailrace.errors import closest
from tailrace.importers.storage.source import Findings, Location
from tailrace.importers.vdbench.keywords import NAMING, OBJECTS, TABLES, UNMODELLED, find
from tailrace.importers.vdbench.pieces import Piece, texts

DEFAULT = "default"
REPLAY = "replay"
"""Key of a definition that names a recorded load of vdbench."""
DEFINITIONS_MAX = 10_000
KINDS = ("hd", "sd", "wd", "rd")
ALIASES = {"readpct": "rdpct", "wrpct": "writepct", "hd": "host"}
FORX = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct")
"""Keywords of a run that also exist as `for...`, with the same meaning."""


@dataclass
class Definition:
    """A host, device, workload or run."""

    kind: str
    name: str
    location: Location
    pieces: dict[str, Piece] = field(default_factory=dict)
    """By the full keyword, in the order of the file; the loops of a run nest in it."""
    pairs: list[Piece] = field(default_factory=list)
    """`lun` and `host` of a device, which belong together in order."""

    def piece(self, key: str) -> Piece | None:
        """The piece with a keyword."""
        return self.pieces.get(key)

    @property
    def of_usual_load(self) -> str:
        """Name of the workload of a run that names devices and no workload: no workload of the file
        has such a name."""
        return f"{self.kind}={self.name}"


@dataclass
class Definitions:
    """All definitions of a file."""

    by_kind: dict[str, list[Definition]] = field(
        default_factory=lambda: {kind: [] for kind in KINDS}
    )
    usual_load: dict[str, Piece] = field(default_factory=dict)
    """Pieces of `wd=default` at the end of the file."""

    def names(self, kind: str) -> list[str]:
        """Names of all definitions of a kind."""
        return [one.name for one in self.by_kind[kind]]


def read_definitions(pieces: Iterable[Piece], findings: Findings) -> Definitions:
    """All definitions; a remark about each piece that they do not use, or whose keyword is
    unknown."""
    found = Definitions()
    defaults = {kind: Definition(kind, DEFAULT, Location("", 0)) for kind in KINDS}
    current: Definition | None = None
    kind = ""
    for piece in pieces:
        findings.advance_to(piece.location, piece.text)
        if piece.key in OBJECTS and not (piece.key in NAMING.get(kind, ()) and kind):
            kind = "hd" if piece.key == "host" else piece.key
            current = _begin(kind, piece, found, defaults, findings)
        elif kind in UNMODELLED:
            findings.say(piece.location, piece.text, "not-modelled", UNMODELLED[kind])
        else:
            _add(kind, piece, current, findings)
    found.usual_load = defaults["wd"].pieces
    return found


def _begin(
    kind: str, piece: Piece, found: Definitions, defaults: dict[str, Definition], findings: Findings
) -> Definition | None:
    if kind in UNMODELLED:
        findings.say(piece.location, piece.text, "not-modelled", UNMODELLED[kind])
        return None
    name = piece.values[0] if piece.values else ""
    if not name:
        findings.refuse(piece.location, piece.key, "no name is given", f"write {piece.key}=NAME")
    if name == DEFAULT:
        findings.say(piece.location, piece.text, "understood", f"defaults of each following {kind}")
        return defaults[kind]
    if name in found.names(kind):
        findings.fault(
            piece.location,
            f"{piece.key}={name}",
            "this name is defined twice",
            "names of a kind must differ",
        )
    if len(found.by_kind[kind]) >= DEFINITIONS_MAX:
        findings.refuse(
            piece.location, piece.key, f"more than {DEFINITIONS_MAX} definitions of this kind"
        )
    usual = defaults[kind]
    definition = Definition(kind, name, piece.location, dict(usual.pieces))
    found.by_kind[kind].append(definition)
    return definition


def _add(kind: str, piece: Piece, current: Definition | None, findings: Findings) -> None:
    keyword = find(kind, piece.key)
    if keyword is None:
        known = [one.name for one in TABLES[kind]]
        where = f"of {kind.upper()}" if kind else "before the first definition"
        words = f"unknown keyword {where}: {closest(piece.key, known, 'keywords')}"
        findings.say(piece.location, piece.text, "not-understood", words)
        return
    if keyword.verdict is not None:
        findings.say(piece.location, piece.text, keyword.verdict, keyword.words)
        if keyword.name == REPLAY and current is not None:
            current.pieces[REPLAY] = piece
        return
    assert current is not None, "only definitions have keywords without words"
    name = ALIASES.get(keyword.name, keyword.name)
    if current.kind == "rd" and name in FORX:
        name = f"for{name}"
    if current.kind == "sd" and name in ("lun", "host") and current.name != DEFAULT:
        current.pairs.append(Piece(name, piece.values, piece.text, piece.location))
        return
    if not piece.values:
        findings.fault(piece.location, piece.key, "no value is given", f"write {piece.key}=VALUE")
        return
    current.pieces.pop(name, None)
    current.pieces[name] = piece


def matching(names: Iterable[str], known: list[str]) -> tuple[list[str], list[str]]:
    """Known names that match the names (`*` at the end is any rest), in order, and the names
    without a match."""
    found: list[str] = []
    missing: list[str] = []
    for name in names:
        head, star, _ = name.partition("*")
        here = [one for one in known if (one.startswith(head) if star else one == name)]
        found += [one for one in here if one not in found]
        if not here:
            missing.append(name)
    return found, missing


def named(piece: Piece, known: list[str], noun: str, findings: Findings) -> list[str]:
    """Names that a piece stands for; a problem for each that does not exist."""
    found, missing = matching(texts(piece, findings), known)
    for name in missing:
        findings.fault(
            piece.location,
            piece.key,
            f"there is no {noun} '{name}'",
            closest(name, known, f"{noun} names"),
        )
    return found
