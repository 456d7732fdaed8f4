"""Reads YAML with limited nesting."""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.scanner import RoundTripScanner, Scanner

from tailrace.files import DEPTH_MAX

TOO_DEEP = f"it is nested deeper than {DEPTH_MAX} levels"


class _PlainScanner(Scanner):
    """The parser looks ahead by a kilobyte for the end of a key, at a cost quadratic in the number of brackets."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803  the library's name
        if len(self.flow_context) >= DEPTH_MAX:
            raise MarkedYAMLError(None, None, TOO_DEEP, self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


class _MarkedScanner(_PlainScanner, RoundTripScanner):
    """The same limit for the parser that keeps comments and positions."""


def load_yaml(text: str, *, is_marked: bool) -> Any:
    """The content of YAML text: where `is_marked` with the position of every key, and quoted text as `ScalarString`;
    else as plain data.

    Raises `YAMLError` or `ValueError` for invalid YAML, and `YAMLError` where it is nested too deeply.
    """
    reader = YAML(typ="rt" if is_marked else "safe", pure=True)
    reader.max_depth = DEPTH_MAX
    reader.preserve_quotes = is_marked
    reader.Scanner = _MarkedScanner if is_marked else _PlainScanner
    try:
        return reader.load(text)
    except MarkedYAMLError as error:
        if (error.problem or "").startswith("maximum depth"):
            raise MarkedYAMLError(None, None, TOO_DEEP, error.problem_mark) from None
        raise
    except RecursionError:
        raise MarkedYAMLError(None, None, TOO_DEEP) from None
