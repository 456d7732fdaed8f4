"""The duration in a message of `log_min_duration_statement`, in every language of PostgreSQL 15's
messages."""

import re
from dataclasses import dataclass

MESSAGE = re.compile(
    r"^\S{1,40} ?: (\d{1,15}(?:\.\d{1,9})?) (?:ms|мс|ミリ秒|მწმს?)(?:,? +|$)", re.IGNORECASE
)
"""`duration: 0.123 ms  statement: SELECT 1`; `Dauer: 0.123 ms  Anweisung: SELECT 1`."""
PARSING = frozenset(["parse", "parsen", "analyse", "analisi", "разбор", "аналізування", "解析"])
BINDING = frozenset(["bind", "binden", "lien"])
BINDING_SECOND = frozenset(["bind"])
"""After another word: `сообщение Bind`."""
JAPANESE = (("パース", True), ("バインド", True))
"""They stand without a blank before the name."""
LEAST = 0.0005
"""In ms; durations have three decimals."""


@dataclass(frozen=True)
class Duration:
    """One message with a duration."""

    ms: float
    is_step: bool
    """Parsing or binding, which belongs to the execution that follows on its session."""
    text: str
    """The statement, where it is there."""


def duration_of(message: str) -> Duration | None:
    """The duration in a message; None if it is another message."""
    match = MESSAGE.match(message)
    if match is None:
        return None
    rest = message[match.end() :]
    words = rest[:40].replace(":", " ").lower().split()
    is_step = (
        (bool(words) and (words[0] in PARSING or words[0] in BINDING))
        or (len(words) > 1 and words[1] in BINDING_SECOND)
        or any(rest.startswith(word) for word, _ in JAPANESE)
    )
    return Duration(float(match[1]), is_step, rest.partition(":")[2].strip())
