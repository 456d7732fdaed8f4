"""JSON of small and of large documents."""

import json
from typing import Any

import pytest

from tailrace.json_text import INDENTED_MAX, LINE_MAX, json_text, read_json_text


def test_a_small_document_is_indented() -> None:
    assert json_text({"a": [1, {"b": "µ"}]}) == '{\n "a": [\n  1,\n  {\n   "b": "µ"\n  }\n ]\n}'


def test_a_large_document_has_a_line_for_each_entry_of_a_long_list() -> None:
    hosts = [{"name": f"h{number}", "sizes": [1, 2], 7: None} for number in range(5_000)]
    content: dict[str, Any] = {
        "name": 'a "name"',
        "hosts": hosts,
        "few": [1, 2],
        "by_name": {"x" * LINE_MAX: 1.5},
    }
    text = json_text(content)
    assert len(text) > INDENTED_MAX
    assert json.loads(text) == json.loads(json.dumps(content))
    assert text.splitlines()[2:5] == [
        ' "hosts": [',
        '  {"name": "h0", "sizes": [1, 2], "7": null},',
        '  {"name": "h1", "sizes": [1, 2], "7": null},',
    ]
    assert ' "few": [1, 2],' in text.splitlines()


def test_what_is_nested_in_long_lists_is_not_encoded_for_each_level_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arms = {f"a@{number}": {f"key{at}": [0.25] * 20 for at in range(70)} for number in range(500)}
    encoded: list[int] = []
    dumps = json.dumps

    def counted(content: object, **options: Any) -> str:
        text = dumps(content, **options)
        encoded.append(len(text))
        return text

    monkeypatch.setattr("tailrace.json_text.json.dumps", counted)
    text = json_text({"arms": arms})
    assert json.loads(text) == {"arms": arms}
    # Once as an entry of its line; the length of an arm is known without.
    assert sum(encoded) < 1.1 * len(text)


def test_a_value_of_just_one_line_is_written_on_one() -> None:
    longest = [[0, 0]] * (LINE_MAX // len("[0, 0], "))
    assert len(json.dumps(longest)) == LINE_MAX
    content = {"rows": [longest, *[[0] * 1000] * 100]}
    assert f"  {json.dumps(longest)}," in json_text(content).splitlines()


def test_a_large_document_is_read_in_parts_and_as_a_whole_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        {"a": number, "b": "\u2028", "long": "x" * (LINE_MAX * (number % 7 == 0))}
        for number in range(200)
    ]
    content = {
        "name": "n",
        "rows": rows,
        "few": [1],
        "deep": {"rows": [["y" * LINE_MAX], []]},
        "none": [],
        "last": rows,
    }
    text = json_text(content)
    read: list[int] = []
    loads = json.loads
    monkeypatch.setattr("tailrace.json_text.READ_AT_ONCE", 20_000)

    def counted(part: str) -> Any:
        read.append(len(part))
        return loads(part)

    monkeypatch.setattr("tailrace.json_text.json.loads", counted)
    assert read_json_text(text) == content
    assert list(read_json_text(text)) == list(content)
    assert max(read) < 50_000
    assert read_json_text(json.dumps(content)) == content, "another layout"
    with pytest.raises(ValueError, match="line 1 column"):
        read_json_text(json.dumps(content)[:-1])
    with pytest.raises(ValueError, match="line"):
        read_json_text(text[: len(text) // 2])
    for at in ("\n ],\n", "\n ]\n}"):
        with pytest.raises(ValueError, match="line"):
            read_json_text(text.replace(at, "," + at, 1))


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        json_text([float("nan")] * INDENTED_MAX)
