"""What became of every line of a configuration: nothing is dropped in silence."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verdict = Literal["understood", "no-effect", "not-modelled", "not-understood", "contradiction", "assumed"]
"""`no-effect`: known, and nothing that a simulation could show. `not-modelled`: known, and left out here."""

WORDS: dict[Verdict, str] = {
    "understood": "understood",
    "no-effect": "no effect on queues",
    "not-modelled": "NOT MODELLED",
    "not-understood": "NOT UNDERSTOOD",
    "contradiction": "CONTRADICTION",
    "assumed": "assumed",
}
TEXT_MAX = 70
"""Characters of a line that a report quotes."""


@dataclass(frozen=True)
class Remark:
    """One line of the configuration, or one thing that no line says."""

    line: int
    """1 is the first line; 0 when no single line says it."""
    text: str
    """The line as it stands, or the part of it that this is about."""
    verdict: Verdict
    words: str
    """Where it went, or what it would have meant."""


@dataclass
class Remarks:
    """All remarks about one configuration."""

    found: list[Remark] = field(default_factory=list)
    known: set[Remark] = field(default_factory=set, repr=False)
    places: dict[tuple[int, str], int] = field(default_factory=dict, repr=False)
    """Which piece of the text a line, or a part of a line, is."""

    def placed(self, line: int, text: str) -> None:
        """The next piece of the text."""
        self.places.setdefault((line, text), len(self.places))

    def add(self, line: int, text: str, verdict: Verdict, words: str) -> None:
        """One more remark; the same thing about the same line is said once."""
        remark = Remark(line, text, verdict, words)
        if remark not in self.known:
            self.known.add(remark)
            self.found.append(remark)

    def repeated(self, earlier_line: int, earlier: str, line: int, text: str) -> None:
        """A setting is there twice: the later one counts."""
        if earlier.split() == text.split():
            self.add(earlier_line, earlier, "no-effect", f"line {line} says the same")
        else:
            self.add(earlier_line, earlier, "contradiction", f"line {line} says '{text}', and the later line counts")

    def count(self, *verdicts: Verdict) -> int:
        """How many remarks have one of these verdicts."""
        return sum(remark.verdict in verdicts for remark in self.found)

    @property
    def is_complete(self) -> bool:
        """Whether everything was understood and nothing contradicts anything."""
        return self.count("not-modelled", "not-understood", "contradiction") == 0

    def data(self) -> list[dict[str, Any]]:
        """For programs, in the order of the lines."""
        return [asdict(remark) for remark in self.ordered()]

    def ordered(self) -> list[Remark]:
        """In the order of the text; what no line says comes last."""
        last = len(self.places)
        return sorted(self.found, key=lambda r: (r.line == 0, r.line, self.places.get((r.line, r.text), last)))

    def text(self, file: str, nothing: str = "nothing in it") -> str:
        """For people: one line for each, then the counts, or what it means that there is none."""
        rows = [_row(file, remark) for remark in self.ordered()]
        counts = [f"{count} {WORDS[verdict]}" for verdict in WORDS if (count := self.count(verdict))]
        return "\n".join([*rows, f"{file}: " + (", ".join(counts) or nothing)])


def _row(file: str, remark: Remark) -> str:
    place = f"{file}:{remark.line}" if remark.line else file
    text = " ".join(remark.text.split())
    quoted = f" '{text[: TEXT_MAX - 3] + '...' if len(text) > TEXT_MAX else text}'" if text else ""
    return f"{place}: {WORDS[remark.verdict]}:{quoted} {remark.words}".rstrip()
