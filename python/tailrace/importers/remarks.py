"""Remarks: the treatment of every line of a configuration. No line is dropped silently."""

import re
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Verdict = Literal[
    "understood", "no-effect", "not-modelled", "not-understood", "contradiction", "assumed"
]
"""`no-effect`: known, without effect on a simulation. `not-modelled`: known, but not represented in
a scenario."""

WORDS: dict[Verdict, str] = {
    "understood": "understood",
    "no-effect": "no effect",
    "not-modelled": "NOT MODELLED",
    "not-understood": "NOT UNDERSTOOD",
    "contradiction": "CONTRADICTION",
    "assumed": "assumed",
}
TEXT_MAX = 70
"""Characters of a line that a report quotes."""


NAMES = re.compile(r"'[^']*'|[A-Za-z-]*Ethernet[\w/.:-]*|^[\w-]+(?=: )")
NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[kMG]?B|%)?")
"""Parts in which remarks of one kind may differ."""


@dataclass(frozen=True)
class Remark:
    """A remark about one line of the configuration, or about a setting that no line states."""

    line: int
    """The first line is 1; 0 for a remark about no single line."""
    text: str
    """The line, or the part of it that the remark is about."""
    verdict: Verdict
    words: str
    """The key that it set, or the meaning of the omitted setting."""


@dataclass
class Remarks:
    """All remarks about one configuration."""

    found: list[Remark] = field(default_factory=list)
    known: set[Remark] = field(default_factory=set, repr=False)
    positions: dict[tuple[int, str], int] = field(default_factory=dict, repr=False)
    """Position in the text of the current line, or part of a line."""
    leading: set[Remark] = field(default_factory=set, repr=False)
    """Remarks about the whole text, listed before all others."""
    about: str = "queues"
    """The object on which a line without effect has none."""

    def advance_to(self, line: int, text: str) -> None:
        """Advances to the next line, or part of a line."""
        self.positions.setdefault((line, text), len(self.positions))

    def add(self, line: int, text: str, verdict: Verdict, words: str) -> None:
        """Adds a remark; duplicates about the same line are omitted."""
        remark = Remark(line, text, verdict, words)
        if remark not in self.known:
            self.known.add(remark)
            self.found.append(remark)

    def lead(self, verdict: Verdict, words: str) -> None:
        """Adds a remark about the whole text, before all others."""
        self.leading.add(Remark(0, "", verdict, words))
        self.add(0, "", verdict, words)

    def repeated(self, earlier_line: int, earlier: str, line: int, text: str) -> None:
        """Adds a remark about a repeated setting: the later line takes precedence."""
        if earlier.split() == text.split():
            self.add(earlier_line, earlier, "no-effect", f"line {line} repeats it")
        else:
            self.add(
                earlier_line,
                earlier,
                "contradiction",
                f"line {line} sets '{text}'; the later line takes precedence",
            )

    def rename(self, old: str, new: str) -> None:
        """Replaces a key path of the scenario in all remarks."""
        whole = re.compile(re.escape(old) + r"(?![\w-])")
        self.found = [
            replace(remark, words=whole.sub(lambda _: new, remark.words)) for remark in self.found
        ]
        self.known = set(self.found)
        self.leading = {
            replace(remark, words=whole.sub(lambda _: new, remark.words)) for remark in self.leading
        }

    def count(self, *verdicts: Verdict) -> int:
        """Number of remarks with one of these verdicts."""
        return sum(remark.verdict in verdicts for remark in self.found)

    @property
    def is_complete(self) -> bool:
        """Whether every line was understood and there is no contradiction."""
        return self.count("not-modelled", "not-understood", "contradiction") == 0

    def data(self) -> list[dict[str, Any]]:
        """The remarks as JSON values, in the order of the lines."""
        return [asdict(remark) for remark in self.ordered()]

    def noteworthy(self) -> list[Remark]:
        """The remarks that a reader of the configuration has to know, in the order of the lines."""
        return [remark for remark in self.ordered() if remark.verdict != "understood"]

    def ordered(self) -> list[Remark]:
        """Remarks in the order of the text; those without a line come last, except the leading
        ones."""
        last = len(self.positions)

        def sort_key(remark: Remark) -> tuple[bool, bool, int, int]:
            position = self.positions.get((remark.line, remark.text), last)
            return remark not in self.leading, remark.line == 0, remark.line, position

        return sorted(self.found, key=sort_key)

    def label(self, verdict: Verdict) -> str:
        """The label of a verdict in reports."""
        return f"{WORDS[verdict]} on {self.about}" if verdict == "no-effect" else WORDS[verdict]

    def kinds(self) -> list[tuple[Remark, int]]:
        """The first remark of each kind, in order, and the number of remarks of that kind."""
        found: dict[tuple[str, ...], tuple[Remark, int]] = {}
        for remark in self.ordered():
            kind = _kind(remark)
            first, count = found.get(kind, (remark, 0))
            found[kind] = (first, count + 1)
        return list(found.values())

    def text(self, file: str, nothing: str = "nothing in it", *, is_verbose: bool = False) -> str:
        """Text with a line for each kind or each remark, then the counts; `nothing` when there is
        none."""
        if is_verbose:
            rows = [_row(file, remark, self.label(remark.verdict)) for remark in self.ordered()]
        else:
            rows = [
                _row(file, remark, self.label(remark.verdict), count - 1)
                for remark, count in self.kinds()
            ]
        counts = [
            f"{count} {self.label(verdict)}" for verdict in WORDS if (count := self.count(verdict))
        ]
        more = "" if len(rows) == len(self.found) else " (--verbose lists each)"
        return "\n".join([*rows, f"{file}: " + (", ".join(counts) or nothing) + more])


def _kind(remark: Remark) -> tuple[str, ...]:
    """Remarks are of one kind when they differ only in names and numbers and concern the same
    command or table."""
    words = NUMBERS.sub("#", NAMES.sub("*", remark.words))
    if remark.verdict == "no-effect":
        return remark.verdict, words, ""
    table, bar, _ = remark.text.partition("|")
    return (
        remark.verdict,
        words,
        table if bar else NUMBERS.sub("#", (remark.text.split() or [""])[0].lower()),
    )


def _row(file: str, remark: Remark, label: str, others: int = 0) -> str:
    location = f"{file}:{remark.line}" if remark.line else file
    text = " ".join(remark.text.split())
    quoted = f" '{text[: TEXT_MAX - 3] + '...' if len(text) > TEXT_MAX else text}'" if text else ""
    more = f" (and {others} more of this kind)" if others else ""
    return f"{location}: {label}:{quoted} {remark.words}".rstrip() + more
