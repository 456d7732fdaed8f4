"""Random draws that a load generator and the lab compute identically: the load generator waits for
them, and the lab subtracts them.

A load generator may log the time of a whole transaction including its pause. A pause that depends
only on the numbers of user and transaction can be computed again, so that the latency counts from
the intended start of the transaction: a late load generator makes a latency longer and never
shorter.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

MASK = 2**30 - 1
"""A draw has 30 bits: a resolution of one in a thousand million."""
USERS_MAX = 65_536
"""Bits of the hashed value that hold the number of the user."""
UNIFORMS_MAX = 16
"""Independent uniform numbers that one draw may use, and so the largest shape of an Erlang
distribution."""
PS_PER_US = 10**6
NS_PER_US = 1000
ONE_PPB = 10**9

# Constants of MurmurHash64A (Austin Appleby, MurmurHash2.cpp); scripts have it as `hash_murmur2`.
_MULTIPLIER = 0xC6A4A7935BD1E995
_MULTIPLIER_TIMES_8 = 0x35253C9ADE8F4CA8
_ROTATION = 47
_64_BITS = 2**64 - 1

# Abramowitz and Stegun, 26.2.23: the normal quantile to within 0.00045.
_NUMERATOR = (2.515517, 0.802853, 0.010328)
_DENOMINATOR = (1.432788, 0.189269, 0.001308)


class UnknownDrawError(ValueError):
    """A distribution that load generators cannot draw."""


def murmur2(value: int, seed: int) -> int:
    """The result of `hash_murmur2(value, seed)` of a script, as an unsigned number."""
    result = seed ^ _MULTIPLIER_TIMES_8
    key = value * _MULTIPLIER & _64_BITS
    key ^= key >> _ROTATION
    key = key * _MULTIPLIER & _64_BITS
    result = (result ^ key) * _MULTIPLIER & _64_BITS
    result ^= result >> _ROTATION
    result = result * _MULTIPLIER & _64_BITS
    return result ^ result >> _ROTATION


@dataclass(frozen=True)
class Draw:
    """A distribution of times in the form of the plan, drawn from a named random stream."""

    raw: Mapping[str, Any]
    seed: int
    """Below 2**62; draws with different seeds are independent."""

    def __post_init__(self) -> None:
        if self.uniforms > UNIFORMS_MAX:
            raise UnknownDrawError(f"a shape of {self.uniforms} is above {UNIFORMS_MAX}")

    @property
    def kind(self) -> str:
        """`constant`, `exponential`, ..."""
        return next(iter(self.raw))

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers that a draw uses."""
        if self.kind == "constant":
            return 0
        return int(self.raw["erlang"]["shape"]) if self.kind == "erlang" else 1

    def value_us(self, user: int, number: int) -> int:
        """The draw of a user's transaction (from 1), in microseconds, as a load generator waits for
        it."""
        return max(0, int(self._value_us(user, number)))

    def value_ns(self, user: int, number: int) -> int:
        """The same in nanoseconds, for programs that wait so exactly."""
        return max(0, round(self._value_us(user, number) * NS_PER_US))

    def _value_us(self, user: int, number: int) -> float:
        key = number * USERS_MAX + user
        numbers = [
            ((murmur2(key, self.seed + i) & MASK) + 0.5) / (MASK + 1) for i in range(self.uniforms)
        ]
        return _value(self.kind, self.raw[self.kind], numbers)

    def lines(self, prefix: str) -> list[str]:
        r"""`\set` lines of a script that has set `k`; the last name gets the draw in
        microseconds."""
        names = [f"{prefix}{i}" for i in range(self.uniforms)]
        hashed = (f"hash_murmur2(:k, {self.seed + i}) & {MASK}" for i in range(self.uniforms))
        lines = [
            rf"\set {name} (double({h}) + 0.5) / {MASK + 1}.0"
            for name, h in zip(names, hashed, strict=True)
        ]
        if self.kind in ("normal", "log-normal"):
            lines += _normal_lines(names[0])
        dialect = Dialect(f":{prefix}{{}}", "ln({})", "exp({})", "{}z", _cases)
        return [*lines, rf"\set {prefix} greatest(0, int({expression(self, dialect)} - 0.5))"]


def _us(picoseconds: int | float) -> float:
    return picoseconds / PS_PER_US


def _value(kind: str, value: Any, u: list[float]) -> float:
    """The draw in microseconds."""
    match kind:
        case "constant":
            return _us(value)
        case "uniform":
            return _us(value["low"]) + u[0] * _us(value["high"] - value["low"])
        case "exponential":
            return -_us(value["mean"]) * math.log(u[0])
        case "normal":
            return _us(value["mean"]) + _us(value["deviation"]) * _normal(u[0])
        case "log-normal":
            return _us(value["median"]) * math.exp(value["sigma_milli"] / 1000 * _normal(u[0]))
        case "erlang":
            return -_us(value["mean"]) / int(value["shape"]) * sum(math.log(x) for x in u)
        case "cumulative":
            return _us(_quantile(value, u[0]))
    raise UnknownDrawError(f"'{kind}' is not known")


@dataclass(frozen=True)
class Dialect:
    """The syntax of a scripting language for draws. `{}` stands for an expression."""

    uniform: str
    """The uniform number of which `{}` is the number."""
    log: str
    exp: str
    normal: str
    """The normal quantile of a uniform number."""
    cases: Callable[[Sequence[tuple[str, str]], str], str]
    """The expression of the first condition that holds, or the last one."""


def _cases(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
    return f"CASE {whens} ELSE {otherwise} END"


def expression(draw: Draw, dialect: Dialect) -> str:
    """The steps of `Draw.value_us` in a script, in their order, so that not even the last bit
    differs."""
    value, u = draw.raw[draw.kind], [dialect.uniform.format(i) for i in range(draw.uniforms)]
    match draw.kind:
        case "constant":
            return f"{_us(value)!r}"
        case "uniform":
            return f"{_us(value['low'])!r} + {u[0]} * {_us(value['high'] - value['low'])!r}"
        case "exponential":
            return f"-{_us(value['mean'])!r} * {dialect.log.format(u[0])}"
        case "normal":
            return (
                f"{_us(value['mean'])!r} + {_us(value['deviation'])!r} * "
                f"{dialect.normal.format(u[0])}"
            )
        case "log-normal":
            power = f"{value['sigma_milli'] / 1000!r} * {dialect.normal.format(u[0])}"
            return f"{_us(value['median'])!r} * {dialect.exp.format(power)}"
        case "erlang":
            logarithms = " + ".join(dialect.log.format(x) for x in u)
            return f"-{_us(value['mean'])!r} / {value['shape']} * ({logarithms})"
        case "cumulative":
            found = segments(value)
            cases = [
                (f"{u[0]} <= {upto!r}", f"{x!r} + ({u[0]} - {p!r}) * {slope!r}")
                for upto, x, p, slope in found
            ]
            return f"({dialect.cases(cases, repr(float(value[-1][0])))}) / {float(PS_PER_US)!r}"
    raise UnknownDrawError(f"'{draw.kind}' is not known")


def _normal(u: float) -> float:
    t = math.sqrt(-2 * math.log(min(u, 1 - u)))
    a, b = _NUMERATOR, _DENOMINATOR
    z = t - (a[0] + t * (a[1] + t * a[2])) / (1 + t * (b[0] + t * (b[1] + t * b[2])))
    return z if u > 0.5 else -z


def _normal_lines(name: str) -> list[str]:
    """The normal quantile in the language of scripts; the result is in the name with a `z`."""
    u, t = f":{name}", f":{name}t"
    a, b = _NUMERATOR, _DENOMINATOR
    ratio = (
        f"({a[0]} + {t} * ({a[1]} + {t} * {a[2]})) / (1 + {t} * ({b[0]} + "
        f"{t} * ({b[1]} + {t} * {b[2]})))"
    )
    return [
        rf"\set {name}t sqrt(-2 * ln(least({u}, 1 - {u})))",
        rf"\set {name}z ({t} - {ratio}) * CASE WHEN {u} > 0.5 THEN 1 ELSE -1 END",
    ]


def segments(points: list[list[int]]) -> list[tuple[float, float, float, float]]:
    """Segments: the share up to which each is valid, its first value and share, and its slope."""
    whole = [(points[0][1] / ONE_PPB, float(points[0][0]), 0.0, 0.0)]
    for (x, p), (x_next, p_next) in pairwise(points):
        slope = (x_next - x) * ONE_PPB / (p_next - p) if p_next > p else 0.0
        whole.append((p_next / ONE_PPB, float(x), p / ONE_PPB, slope))
    return whole


def _quantile(points: list[list[int]], u: float) -> float:
    for upto, x, p, slope in segments(points):
        if u <= upto:
            return x + (u - p) * slope
    return float(points[-1][0])
