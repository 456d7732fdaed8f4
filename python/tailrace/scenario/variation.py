"""The variation of an assumption: the keys that hold it, and its possible values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, model_validator

from tailrace.scenario.sweep import refuse_repeated, text_of
from tailrace.scenario.text.extent import Extent, parse_extent
from tailrace.scenario.text.quantities import Part, refuse
from tailrace.scenario.text.units import SHARE, QuantityError

PRESENT_VALUE = "{}"
"""Where a form has the present value."""
WAYS = ("range", "times", "values", "forms", "settings")
VALUES_MIN = 2


def _extent(text: str) -> str:
    try:
        parse_extent(text)
    except QuantityError as error:
        raise refuse(error.what, error.hint) from None
    return text


def _factors(text: str) -> str:
    _extent(text)
    extent = parse_extent(text)
    if extent.dimension not in (None, SHARE) or extent.low <= 0:
        raise refuse(
            f"'{text}' are no factors", "write shares of the present value, such as 90%..110%"
        )
    return text


class Variation(Part):
    """The keys of an assumption and what they may be instead, for `tailrace sensitivity`. Exactly
    one of `range`, `times`, `values`, `forms` and `settings` is stated.
    """

    keys: list[str] = []
    """Dotted paths that get the value; not with `settings`."""
    range: Annotated[str, AfterValidator(_extent)] | None = None
    """Both ends, such as 2MB..30MB: quantities are spaced by factors, shares and near numbers by
    steps."""
    times: Annotated[str, AfterValidator(_factors)] | None = None
    """Shares of the present value of each key, such as 93%..107%. Of a distribution, its first
    value is changed; keys without a value stay so.
    """
    values: list[Any] | None = None
    """Values that it may have, in order, the present one among them."""
    forms: list[str] | None = None
    """Distributions around the present first value, which stands for {}: such as exponential({});
    the present one is among them.
    """
    settings: list[dict[str, Any]] | None = None
    """Settings that it may have, in order, each of dotted paths and values; an empty one is the
    present."""
    names: list[str] | None = None
    """Short names of the listed values, for tables."""
    also: dict[str, Any] = {}
    """Values at dotted paths that are needed wherever the value is another, such as a larger
    buffer."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ways = [way for way in WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            raise refuse(f"{len(ways)} of {', '.join(WAYS)} are stated", "state one of them")
        if (self.settings is None) != bool(self.keys):
            what = "keys have no place beside settings" if self.keys else "keys are missing"
            raise refuse(what, "state keys, or settings with paths of their own")
        if any(
            listed is not None and len(listed) < VALUES_MIN
            for listed in (self.values, self.forms, self.settings)
        ):
            raise refuse(
                "the list has fewer than two values",
                "state the present value and at least one other",
            )
        refuse_repeated((text_of(value),) for value in self.values or ())
        if self.names is not None and len(self.names) != len(self.listed):
            raise refuse(
                f"{len(self.names)} names for {len(self.listed)} values",
                "write one name for each value",
            )
        if self.forms is not None and any(PRESENT_VALUE not in form for form in self.forms):
            raise refuse(
                "a form has no {}",
                "write {} where the present value stands, such as exponential({})",
            )
        return self

    @property
    def extent(self) -> Extent | None:
        """The range or the factors; None where values are listed."""
        text = self.range or self.times
        return parse_extent(text) if text is not None else None

    @property
    def listed(self) -> Sequence[Any]:
        """The listed values, forms or settings; none of a range."""
        return next(
            (found for found in (self.values, self.forms, self.settings) if found is not None), []
        )

    @property
    def paths(self) -> list[str]:
        """Every dotted path that the variation sets."""
        own = list(dict.fromkeys(path for setting in self.settings or [] for path in setting))
        return [*self.keys, *own]

    def changes(self, share: float, present: Callable[[str], Any]) -> dict[str, Any]:
        """Values by path at a share (0 to 1) of the range or list; `present` is the value at a
        path."""
        changed: Mapping[str, Any]
        if self.range is not None:
            changed = dict.fromkeys(self.keys, parse_extent(self.range).at(share))
        elif self.times is not None:
            factor = self.factor(share)
            stated = {path: value for path in self.keys if (value := present(path)) is not None}
            if not stated:
                raise QuantityError(
                    "the scenario states none of its keys",
                    "a share needs a present value: use range",
                )
            changed = {path: scaled_value(value, factor) for path, value in stated.items()}
        elif self.forms is not None:
            form = str(self.at(share))
            changed = {
                path: form.replace(PRESENT_VALUE, first_value(present(path))) for path in self.keys
            }
        elif self.values is not None:
            changed = dict.fromkeys(self.keys, self.at(share))
        else:
            changed = self.at(share)
        return {**self.also, **changed} if changed else {}

    def present_share(self, present: Callable[[str], Any]) -> float:
        """Where the present value lies in the range or list; the middle, or the first, where it is
        not stated."""
        if self.listed:
            texts = [self._listed_text(index, present) for index in range(len(self.listed))]
            value = "{}" if self.settings is not None else str(present(self.keys[0]))
            index = texts.index(value) if value in texts else 0
            return (index + 0.5) / len(self.listed)
        extent = self.extent
        assert extent is not None, "it has a range or a list"
        if self.times is not None:
            one = 1.0 if extent.dimension is None else float(SHARE.suffixes["%"] * 100)
            return extent.share_of(one)
        return extent.share_of(extent.number_of(present(self.keys[0])))

    def _listed_text(self, index: int, present: Callable[[str], Any]) -> str:
        if self.forms is not None:
            return self.forms[index].replace(PRESENT_VALUE, first_value(present(self.keys[0])))
        return str(self.listed[index])

    def snapped(self, share: float) -> float:
        """The middle of the listed value at a share; of a range, the share."""
        return (self.position(share) + 0.5) / len(self.listed) if self.listed else share

    def factor(self, share: float) -> float:
        """The factor at a share of the range of factors."""
        extent = self.extent
        assert extent is not None, "only a range of factors has one"
        low, high = float(extent.low), float(extent.high)
        unit = float(SHARE.suffixes["%"] * 100) if extent.dimension is SHARE else 1.0
        return (low + share * (high - low)) / unit

    def at(self, share: float) -> Any:
        """The listed value at a share (0 to 1) of the list."""
        return self.listed[self.position(share)]

    def position(self, share: float) -> int:
        """The position in the list at a share."""
        count = len(self.listed)
        return min(int(share * count + 1e-9), count - 1)


def first_value(value: Any) -> str:
    """The first quantity of a value: `6.7ms` of normal(6.7ms, 0.7ms)."""
    text = str(value)
    return text.partition("(")[2].split(",")[0].rstrip(")").strip() if "(" in text else text.strip()


def scaled_value(value: Any, factor: float) -> Any:
    """A value times a factor; of a distribution, its first quantity."""
    if isinstance(value, int) and not isinstance(value, bool):
        return round(value * factor)
    if isinstance(value, float):
        return float(f"{value * factor:.6g}")
    first = first_value(value)
    number = first.rstrip("µabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/% ")
    try:
        times = float(number) * factor
    except ValueError:
        raise QuantityError(
            f"'{value}' has no number to multiply", "vary it by range or values"
        ) from None
    return str(value).replace(first, f"{times:.6g}{first.removeprefix(number)}", 1)
