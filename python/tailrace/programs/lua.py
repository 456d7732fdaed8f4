"""Lua, the language of the scripts of wrk and sysbench: a draw there is the very number that the
lab computes.

Both programs have LuaJIT, whose numbers are doubles and whose FFI has 64-bit integers and the
system's clock.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.programs.draws import Dialect, Draw, expression

SHARED = Path(__file__).with_name("lua_clock.lua")
"""Clock, sleep, and the steps of draws."""


def _cases(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    """Every value is a number, which is true in Lua."""
    return "".join(f"{condition} and {value} or " for condition, value in cases) + otherwise


DIALECT = Dialect("u{}", "math.log({})", "math.exp({})", "normal({})", _cases)


def text(value: str) -> str:
    """A string of Lua, whatever its characters are."""
    plain = "".join(
        one if one.isascii() and (one.isalnum() or one in " -_./:") else _escaped(one)
        for one in value
    )
    return f'"{plain}"'


def _escaped(one: str) -> str:
    return "".join(f"\\{byte:03d}" for byte in os.fsencode(one))


def settings(values: Mapping[str, int | str]) -> str:
    """Local variables."""
    lines = (
        f"local {name} = {value if isinstance(value, int) else text(value)}"
        for name, value in values.items()
    )
    return "\n".join(lines) + "\n"


def shared() -> str:
    """The common beginning of scripts."""
    return SHARED.read_text(encoding="utf-8")


def function(name: str, draw: Draw) -> str:
    """A local function of user and number that returns the draw in whole microseconds."""
    lines = [f"local function {name}(user, number)"]
    lines += [
        f"  local u{i} = uniform(user, number, {draw.seed + i}ULL)" for i in range(draw.uniforms)
    ]
    return "\n".join(
        [*lines, f"  return math.max(0, math.floor({expression(draw, DIALECT)}))", "end", ""]
    )
