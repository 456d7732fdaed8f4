"""Words and draws in Tcl, the language of HammerDB's scripts: a draw there is the very number that
the lab computes."""

import re
from collections.abc import Sequence

from tailrace.programs.draws import Dialect, Draw, expression

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")
"""A word that means itself."""
SAFE_IN_BRACES = re.compile(r"[^{}\\\n]*")


def _cases(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    return "".join(f"{condition} ? {value} : " for condition, value in cases) + otherwise


DIALECT = Dialect("$u{}", "log({})", "exp({})", "[normal {}]", _cases)


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
    return [*lines, f"    return [expr {{max(0, entier({expression(draw, DIALECT)}))}}]", "}"]
