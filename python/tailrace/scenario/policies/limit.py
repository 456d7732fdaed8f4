"""Limits of queues and priority groups: bytes, frames, or alpha times the free buffer, also in
vendors' numbers."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from tailrace.scenario.text.quantities import Part, refuse
from tailrace.scenario.text.units import FRAMES, PLAN_SMALL_MAX, SIZE, QuantityError, parse

ALPHA_MAX = 256.0
"""Larger factors of a dynamic threshold are equivalent to the whole buffer; SONiC's largest is 2 to
the 8."""

VENDOR_ALPHAS_MILLI: dict[str, dict[int, int]] = {
    # NX-OS `queue-limit dynamic N` on Leaf-Spine-Engine ASICs (1/8 ... 18) [K]; the range 0-10 is
    # [S] (YANG).
    "nxos": dict(enumerate((125, 250, 500, 750, 1125, 1750, 3000, 5000, 8000, 14_000, 18_000))),
    # The same command on the network forwarding engine of the first Nexus 9000 (1/128 ... 8) [K].
    "nxos-nfe": dict(enumerate((8, 16, 31, 63, 125, 250, 500, 1000, 2000, 4000, 8000))),
    # SONiC `dynamic_th`: alpha is 2 to the power of it (SAI_BUFFER_PROFILE_ATTR_SHARED_DYNAMIC_TH)
    # [K].
    "sonic": {power: max(1, round(1000 * 2.0**power)) for power in range(-8, 9)},
}
"""Alpha in thousandths, the resolution of a plan, by the number in a vendor's configuration."""


class Limit(Part):
    """A limit: bytes, frames, or alpha times the free buffer."""

    unit: Literal["bytes", "frames", "alpha-milli"]
    amount: int


def read_limit(value: object) -> Limit:
    """Parses a limit; raises pydantic's error with a hint."""
    if isinstance(value, Limit):
        return value
    if (
        isinstance(value, str)
        and value.strip().startswith("dynamic(")
        and value.strip().endswith(")")
    ):
        return Limit(unit="alpha-milli", amount=_alpha(value.strip()[len("dynamic(") : -1].strip()))
    frames = isinstance(value, str) and value.strip().endswith(("frames", "frame"))
    try:
        amount = parse(value, FRAMES if frames else SIZE)
    except QuantityError as error:
        raise refuse(error.what, "write a size such as 4MB, dynamic(8), or 100 frames") from None
    if frames and amount > PLAN_SMALL_MAX:
        raise refuse(f"'{value}' is too large", f"write at most {PLAN_SMALL_MAX} frames")
    return Limit(unit="frames" if frames else "bytes", amount=amount)


def _alpha(text: str) -> int:
    vendor, colon, number = text.partition(":")
    if colon:
        return _vendor_alpha(vendor.strip(), number.strip())
    try:
        alpha = float(text)
    except ValueError:
        raise refuse(
            f"'{text}' is not a factor", "write dynamic(8): at most 8 times the free buffer"
        ) from None
    if not 0.001 <= alpha <= ALPHA_MAX:
        raise refuse(
            f"alpha {text} is outside 0.001 to {ALPHA_MAX:g}", "write for example 0.125 to 14"
        )
    return round(alpha * 1000)


def _vendor_alpha(vendor: str, number: str) -> int:
    table = VENDOR_ALPHAS_MILLI.get(vendor)
    if table is None:
        raise refuse(f"unknown vendor '{vendor}'", "known: " + ", ".join(VENDOR_ALPHAS_MILLI))
    milli = table.get(int(number)) if number.lstrip("-").isdecimal() else None
    if milli is None:
        raise refuse(
            f"'{number}' is not a factor of {vendor}", f"write {min(table)} to {max(table)}"
        )
    return milli


_LIMIT_PATTERN = (
    r"^\s*(\d+(\.\d+)?\s*(B|kB|MB|GB|KiB|MiB|GiB|frames?)"
    r"|dynamic\(\s*(\d+(\.\d+)?|(nxos|nxos-nfe|sonic):-?\d+)\s*\))\s*$"
)
_LIMIT_EXAMPLES = ["4MB", "dynamic(8)", "dynamic(nxos:9)", "100 frames"]
QueueLimit = Annotated[
    Limit,
    BeforeValidator(read_limit),
    WithJsonSchema({"type": "string", "pattern": _LIMIT_PATTERN, "examples": _LIMIT_EXAMPLES}),
]
