"""The values of a scenario that a page can change: those that it names, or a default selection."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tailrace.scenario.loading import Loaded
from tailrace.scenario.sweep import number_of, text_of

KNOBS_MAX = 12
"""Knobs that are chosen without being named, at most."""
POSITIONS_MAX = 33
"""Positions of one knob, at most."""
FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)
"""Where a value that is not named can be put, as multiples of itself."""
ASKED_FOR = {
    "policies": (
        "limit",
        "max_packets",
        "age",
        "alpha",
        "min",
        "max",
        "threshold",
        "target",
        "weight",
        "rate",
    ),
    "switches": ("buffer", "alpha"),
    "workloads": (
        "users",
        "connections",
        "response",
        "request",
        "size",
        "block",
        "rate",
        "gap",
        "queue_depth",
    ),
    "network": ("rate",),
}
"""By section, keys whose values are knobs when none are named; in this order of sections."""

PASSED = ("queues", "round_trips", "calls")
"""Parts of a path that its label leaves out."""
LINK_PARTS = 3
"""Parts of the path of one link."""


@dataclass(frozen=True)
class Knob:
    """A value of the scenario and where it can be put."""

    path: str
    values: tuple[Any, ...]
    start: int
    """The position that is the scenario's own."""
    label: tuple[str, str]
    """The part of the scenario, and the property of it."""
    is_drawn: bool = False
    """It is edited in the drawing of the policies, and has no slider."""
    group: str = ""
    """Knobs of one group are stated together as soon as one of them is moved; empty for a knob by
    itself."""

    @property
    def texts(self) -> list[str]:
        """The positions as in a scenario file."""
        return [text_of(value) for value in self.values]


def knobs_of(loaded: Loaded) -> list[Knob]:
    """The knobs that the scenario names, or up to `KNOBS_MAX` of the default selection."""
    data = loaded.document.data
    named = loaded.scenario.whatif.knobs
    axes = dict(named) if named else dict(_chosen(data))
    return [_knob(data, path, values, is_named=bool(named)) for path, values in axes.items()]


def _knob(data: Any, path: str, values: Any, *, is_named: bool) -> Knob:
    own = value_at(data, path)
    listed = list(dict.fromkeys(map(text_of, values)))
    by_text = {text_of(value): value for value in values}
    if own is not None and text_of(own) not in by_text and is_named:
        by_text[text_of(own)] = own
        listed = sorted([*listed, text_of(own)], key=_order)
    start = listed.index(text_of(own)) if own is not None and text_of(own) in by_text else 0
    return Knob(path, tuple(by_text[text] for text in listed), start, label_of(data, path))


def label_of(data: Any, path: str) -> tuple[str, str]:
    """`policies.dpp.queues.normal.limit` is ("dpp: normal", "limit"); a link is named after its
    ends."""
    parts = path.split(".")
    what = parts[-1].replace("_", " ")
    if parts[:2] == ["network", "links"] and len(parts) > LINK_PARTS:
        ends = value_at(data, ".".join([*parts[:LINK_PARTS], "between"]))
        return (f"link {' – '.join(map(str, ends))}:" if isinstance(ends, list) else "link:", what)
    if len(parts) < LINK_PARTS:
        return parts[0], what
    between = [
        part
        for part in parts[2:-1]
        if part not in PASSED and not part.isdecimal() and part != parts[1]
    ]
    return f"{parts[1]}: {' '.join(between)}".strip(), what


def own_labels(knobs: Sequence[Knob]) -> dict[str, tuple[str, str]]:
    """By path a unique label for each knob: equal ones get their positions in lists, then their
    sections, and at last their paths."""
    labels = {knob.path: knob.label for knob in knobs}
    for longer in (
        _with_position,
        _in_section,
        lambda path, label: (label[0], f"{label[1]} ({path})"),
    ):
        counts = Counter(labels.values())
        labels |= {path: longer(path, label) for path, label in labels.items() if counts[label] > 1}
    return labels


def _with_position(path: str, label: tuple[str, str]) -> tuple[str, str]:
    """`response` of `round_trips.1.response` is `response of round trip 2`."""
    parts = path.split(".")
    positions = [
        f"{parts[at - 1].replace('_', ' ').removesuffix('s')} {int(part) + 1}"
        for at, part in enumerate(parts)
        if part.isdecimal() and 0 < at < len(parts) - 1
    ]
    return (label[0], f"{label[1]} of {', '.join(positions)}") if positions else label


def _in_section(path: str, label: tuple[str, str]) -> tuple[str, str]:
    """`leaf: limit` of a switch and of a policy: `switch leaf: limit`."""
    first = path.split(".")[0]
    section = {"policies": "policy", "switches": "switch"}.get(first, first.removesuffix("s"))
    return f"{section} {label[0]}", label[1]


def _order(text: str) -> tuple[str, float]:
    found = number_of(text)
    return (found[1], found[0]) if found else (text, 0.0)


def value_at(data: Any, path: str) -> Any:
    """The value that a scenario file gives at a dotted path; None without one."""
    for key in path.split("."):
        if isinstance(data, Mapping) and key in data:
            data = data[key]
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


def _chosen(data: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """One value of each section in turn, so that no section takes all the room; returned in the
    order of the sections."""
    columns = [
        [
            (path, values)
            for path, value in leaves(data.get(section, {}), section)
            if path.rsplit(".", 1)[-1] in keys and len(values := around(value)) > 1
        ]
        for section, keys in ASKED_FOR.items()
    ]
    columns.append(
        [
            (f"workloads.{name}.enabled", [True, False])
            for name in list(data.get("workloads", {}))[1:]
        ]
    )
    rows = [row for turn in zip_longest(*columns) for row in turn if row is not None][:KNOBS_MAX]
    for column in columns:
        yield from (row for row in column if row in rows)


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value in a part of a scenario file, by dotted path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}.{index}")
    else:
        yield path, value


def around(value: Any) -> list[Any]:
    """Multiples of a number, with its unit; of a duration in a distribution with one argument
    too."""
    if isinstance(value, bool) or value is None:
        return []
    head, tail, text = "", "", str(value)
    if text.endswith(")") and "," not in text and "(" in text:
        head, text = text[:-1].split("(", 1)
        head, tail = f"{head}(", ")"
    found = number_of(text)
    if found is None or found[0] <= 0:
        return []
    number, unit = found
    is_whole = not unit and float(number).is_integer()
    numbers = [
        max(1, round(number * factor)) if is_whole else float(f"{number * factor:.4g}")
        for factor in FACTORS
    ]
    plain = [int(one) if float(one).is_integer() else one for one in dict.fromkeys(numbers)]
    if head or unit:
        return [f"{head}{one}{unit}{tail}" for one in plain]
    return plain
