"""Lua, the language of the scripts of wrk and sysbench: a draw there is the very number that the lab computes.

Both programs have LuaJIT, whose numbers are doubles and whose FFI has 64-bit integers and the system's clock.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.programs.draws import PS_PER_US, Draw, segments

SHARED = Path(__file__).with_name("lua_clock.lua")
"""Clock, sleep, and the steps of draws."""


def text(value: str) -> str:
    """A string of Lua, whatever its characters are."""
    plain = "".join(one if one.isascii() and (one.isalnum() or one in " -_./:") else _escaped(one) for one in value)
    return f'"{plain}"'


def _escaped(one: str) -> str:
    return "".join(f"\\{byte:03d}" for byte in one.encode())


def settings(values: Mapping[str, int | str]) -> str:
    """Local variables."""
    lines = (f"local {name} = {value if isinstance(value, int) else text(value)}" for name, value in values.items())
    return "\n".join(lines) + "\n"


def shared() -> str:
    """What scripts begin with."""
    return SHARED.read_text(encoding="utf-8")


def function(name: str, draw: Draw) -> str:
    """A local function of user and number that returns the draw in whole microseconds."""
    lines = [f"local function {name}(user, number)"]
    lines += [f"  local u{i} = uniform(user, number, {draw.seed + i}ULL)" for i in range(draw.uniforms)]
    value = _expression(draw.kind, draw.raw[draw.kind], draw.uniforms)
    return "\n".join([*lines, f"  return math.max(0, math.floor({value}))", "end", ""])


def _us(picoseconds: int) -> str:
    return repr(picoseconds / PS_PER_US)


def _expression(kind: str, value: Any, uniforms: int) -> str:
    """The steps of `Draw.value_us` in their order, so that not even the last bit differs."""
    match kind:
        case "uniform":
            return f"{_us(value['low'])} + u0 * {_us(value['high'] - value['low'])}"
        case "exponential":
            return f"-{_us(value['mean'])} * math.log(u0)"
        case "normal":
            return f"{_us(value['mean'])} + {_us(value['deviation'])} * normal(u0)"
        case "log-normal":
            return f"{_us(value['median'])} * math.exp({value['sigma_milli'] / 1000!r} * normal(u0))"
        case "erlang":
            logarithms = " + ".join(f"math.log(u{i})" for i in range(uniforms))
            return f"-{_us(value['mean'])} / {value['shape']} * ({logarithms})"
        case "cumulative":
            return f"({_quantile(value)}) / {PS_PER_US}"
    return _us(value)  # constant: a `Draw` knows no other kind


def _quantile(points: list[list[int]]) -> str:
    """The first segment that holds the share: every value is a number, which is true in Lua."""
    cases = "".join(
        f"u0 <= {upto!r} and {x!r} + (u0 - {p!r}) * {slope!r} or " for upto, x, p, slope in segments(points)
    )
    return f"{cases}{float(points[-1][0])!r}"
