"""JSON of small and of large documents."""

import json
from typing import Any

import pytest

from tailrace.json_text import INDENTED_MAX, LINE_MAX, json_text


def test_a_small_document_is_indented() -> None:
    assert json_text({"a": [1, {"b": "µ"}]}) == '{\n "a": [\n  1,\n  {\n   "b": "µ"\n  }\n ]\n}'


def test_a_large_document_has_a_line_for_each_entry_of_a_long_list() -> None:
    hosts = [{"name": f"h{number}", "sizes": [1, 2], 7: None} for number in range(5_000)]
    content: dict[str, Any] = {"name": 'a "name"', "hosts": hosts, "few": [1, 2], "by_name": {"x" * LINE_MAX: 1.5}}
    text = json_text(content)
    assert len(text) > INDENTED_MAX
    assert json.loads(text) == json.loads(json.dumps(content))
    assert text.splitlines()[2:5] == [
        ' "hosts": [',
        '  {"name": "h0", "sizes": [1, 2], "7": null},',
        '  {"name": "h1", "sizes": [1, 2], "7": null},',
    ]
    assert ' "few": [1, 2],' in text.splitlines()


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        json_text([float("nan")] * INDENTED_MAX)
