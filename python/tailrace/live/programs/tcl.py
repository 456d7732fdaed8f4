"""Words and draws in Tcl, the language of HammerDB's scripts: a draw there is the very number that the lab computes."""

import re
from typing import Any

from tailrace.programs.draws import PS_PER_US, Draw, segments

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")
"""A word that means itself."""
SAFE_IN_BRACES = re.compile(r"[^{}\\\n]*")


def word(value: str | int) -> str:
    """A value as one word of a script, whatever its characters are."""
    text = str(value)
    if PLAIN.fullmatch(text):
        return text
    if SAFE_IN_BRACES.fullmatch(text):
        return f"{{{text}}}"
    return "".join(one if PLAIN.fullmatch(one) else f"\\U{ord(one):08x}" for one in text)


def words(*values: str | int) -> str:
    """A list, as one word."""
    return f"{{{' '.join(map(word, values))}}}"


def procedure(name: str, draw: Draw) -> list[str]:
    """Lines of a procedure `name user number` that returns the draw in whole microseconds."""
    lines = [f"proc {name} {{user number}} {{"]
    for i in range(draw.uniforms):
        lines.append(f"    set u{i} [uniform $user $number {draw.seed + i}]")
    value = _expression(draw.kind, draw.raw[draw.kind], draw.uniforms)
    return [*lines, f"    return [expr {{max(0, entier({value}))}}]", "}"]


def _us(picoseconds: int) -> str:
    return repr(picoseconds / PS_PER_US)


def _expression(kind: str, value: Any, uniforms: int) -> str:
    """The steps of `Draw.value_us` in their order, so that not even the last bit differs."""
    match kind:
        case "uniform":
            return f"{_us(value['low'])} + $u0 * {_us(value['high'] - value['low'])}"
        case "exponential":
            return f"-{_us(value['mean'])} * log($u0)"
        case "normal":
            return f"{_us(value['mean'])} + {_us(value['deviation'])} * [normal $u0]"
        case "log-normal":
            return f"{_us(value['median'])} * exp({value['sigma_milli'] / 1000!r} * [normal $u0])"
        case "erlang":
            logarithms = " + ".join(f"log($u{i})" for i in range(uniforms))
            return f"-{_us(value['mean'])} / {value['shape']} * ({logarithms})"
        case "cumulative":
            return f"({_quantile(value)}) / {PS_PER_US}"
    return _us(value)  # constant: a `Draw` knows no other kind


def _quantile(points: list[list[int]]) -> str:
    cases = "".join(f"$u0 <= {upto!r} ? {x!r} + ($u0 - {p!r}) * {slope!r} : " for upto, x, p, slope in segments(points))
    return f"{cases}{float(points[-1][0])!r}"
