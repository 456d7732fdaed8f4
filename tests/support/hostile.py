"""Values that another language than the one they stand in would divide, evaluate or take for an
option."""

HOSTILE = (
    "{}\n",
    "-{}",
    "{};touch x",
    "$(touch {})",
    "`touch x`{}",
    "'{}",
    '"{}',
    "{} {}",
    "{}%s",
    "[exec touch {}]",
    "{}]]",
    "{}';DROP TABLE x;--",
    "{}\\",
    "{}\0",
    "\u202e{}",
    "../{}",
    "{}${{HOME}}",
    "{}\r\nserver {{}}",
)
"""Forms of a value: a sound one stands in the place of `{}`."""


def hostile(sound: str) -> list[str]:
    """The hostile forms of a sound value."""
    return [form.format(*[sound] * form.count("{}")) for form in HOSTILE]
