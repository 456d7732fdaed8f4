"""Reads YAML with limited nesting, and writes comments."""

from bisect import bisect_left
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StreamMark
from ruamel.yaml.scanner import RoundTripScanner, Scanner

from tailrace.files import DEPTH_MAX

FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError)
"""Errors of the library on unexpected input: a number `-_`, a key that is a mapping, an unknown
version of YAML."""
TOO_DEEP = f"it is nested deeper than {DEPTH_MAX} levels"
ENTRIES_MAX = 20_000
"""Lines and commas of a text, which bound its keys and entries: the parser takes 0.15 ms for
each."""
TOO_LONG = f"it has more than {ENTRIES_MAX} lines and commas"


class _PlainScanner(Scanner):
    """Limits the nesting: the parser searches up to a kilobyte for the end of a key, at a cost
    quadratic in the number of brackets."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803  the library's name
        if len(self.flow_context) >= DEPTH_MAX:
            raise MarkedYAMLError(None, None, TOO_DEEP, self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


class _MarkedScanner(_PlainScanner, RoundTripScanner):
    """The same limit for the parser that keeps comments and positions."""


def yaml_comment(text: str) -> str:
    """A comment of one line for any text: a line break would end it, and the following text would
    be keys."""
    return "# " + "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)


def load_yaml(text: str, *, is_marked: bool) -> Any:
    """The content of YAML text: where `is_marked` with the position of every key, and quoted text
    as `ScalarString`; otherwise as plain data.

    Raises `YAMLError` or `ValueError` for invalid YAML, and `YAMLError` for too deep nesting or too
    long text.
    """
    if text.count("\n") + text.count("\r") + text.count(",") > ENTRIES_MAX:
        raise MarkedYAMLError(None, None, TOO_LONG)
    try:
        return _load(text, is_marked=is_marked)
    except MarkedYAMLError as error:
        if (error.problem or "").startswith("maximum depth"):
            raise MarkedYAMLError(None, None, TOO_DEEP, error.problem_mark) from None
        raise
    except RecursionError:
        raise MarkedYAMLError(None, None, TOO_DEEP) from None
    except FAULTS as error:
        mark = StreamMark("", 0, _line_of(text, type(error), is_marked=is_marked), 0)
        raise MarkedYAMLError(None, None, "a value or a key here cannot be read", mark) from None


def _load(text: str, *, is_marked: bool) -> Any:
    reader = YAML(typ="rt" if is_marked else "safe", pure=True)
    reader.max_depth = DEPTH_MAX
    reader.preserve_quotes = is_marked
    reader.Scanner = _MarkedScanner if is_marked else _PlainScanner
    return reader.load(text)


def _line_of(text: str, fault: type[Exception], *, is_marked: bool) -> int:
    """The first line, from 0, at which the text has the fault; the library does not report it."""
    lines = text.splitlines(keepends=True)

    def has_fault(count: int) -> bool:
        try:
            _load("".join(lines[:count]), is_marked=is_marked)
        except fault:
            return True
        except Exception:  # noqa: BLE001  text that is cut off may have any other fault
            return False
        return False

    return max(0, bisect_left(range(len(lines)), True, key=has_fault) - 1)
