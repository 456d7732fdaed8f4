"""Reading YAML: plain data with the line of every key."""

from pathlib import Path

import pytest

from tailrace.errors import ScenarioError
from tailrace.scenario.text.document import parse_document, read_document

TEXT = """\
tailrace: 1
workloads:
  orders: {users: 3, round_trips: [{response: 1kB},
    {response: 2kB}]}
# a comment
experiment:
  duration: 5s
"""


def refusal(path: Path) -> str:
    with pytest.raises(ScenarioError) as refused:
        read_document(path)
    return str(refused.value)


def test_every_key_has_its_line() -> None:
    document = parse_document(TEXT, "a.yaml")
    assert document.line(("workloads", "orders")) == 3
    assert document.line(("workloads", "orders", "round_trips", 1, "response")) == 4
    assert document.line(("experiment", "duration")) == 7


def test_a_missing_key_is_placed_at_the_nearest_key_around_it() -> None:
    document = parse_document(TEXT, "a.yaml")
    assert document.line(("workloads", "orders", "gap")) == 3
    assert document.line(("network",)) == 1


def test_an_override_stands_on_its_own_line_and_leaves_the_original_alone() -> None:
    document = parse_document(TEXT, "a.yaml")
    edit = document.edited()
    edit.set(("workloads", "orders", "users"), 5, ("a.yaml", 9))
    changed = edit.document()
    assert changed.data["workloads"]["orders"]["users"] == 5
    assert changed.line(("workloads", "orders", "users")) == 9
    assert document.data["workloads"]["orders"]["users"] == 3


def test_a_path_through_nothing_is_refused() -> None:
    document = parse_document(TEXT, "a.yaml")
    with pytest.raises(KeyError, match=r"workloads\.orders\.round_trips\.7"):
        document.edited().set(
            ("workloads", "orders", "round_trips", 7, "response"), "1kB", ("a.yaml", 9)
        )


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("a: [1, 2", "s.yaml:1", "expected ',' or ']'"),
        ("a: 1\na: 2\n", "s.yaml:2", "duplicate key"),
        ("a:\n\t- 1\n", "s.yaml:2", "YAML"),
        ("- 1\n", "s.yaml:1", "a mapping of keys, not a list"),
        ("", "s.yaml:1", "empty"),
        ("a: 1\nb: \0", "s.yaml:2", "the character U+0000 is not allowed (hint: remove it)"),
        ("a: 1\n\nb: \x1b", "s.yaml:3", "the character U+001B is not allowed (hint: remove it)"),
    ],
)
def test_what_is_no_yaml_mapping_is_refused_with_its_line(
    tmp_path: Path, text: str, place: str, what: str
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    assert place in refusal(path)
    assert what in refusal(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    assert "the file does not exist" in refusal(tmp_path / "none.yaml")
    assert "this is a directory" in refusal(tmp_path)
    assert "not text in UTF-8 (byte 1)" in refusal(tmp_path / "binary.yaml")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert refusal(tmp_path / "loop.yaml").endswith(
        "the file cannot be read: Too many levels of symbolic links"
    )


def test_aliases_of_aliases_do_not_fill_the_memory(tmp_path: Path) -> None:
    rows = ["a0: &a0 [" + ", ".join("x" * 9) + "]"]
    rows += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 10)]
    path = tmp_path / "s.yaml"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert "more than 200000 values" in refusal(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: " + "[" * 1500 + "]" * 1500, "nested deeper than 64 levels"),
        ("a: " + "9" * 5000, "Exceeds the limit"),
        ("a: 2026-02-31", "day is out of range"),
        (
            "a:\n  b: !!python/object:os.system ls",
            "s.yaml:2: a.b: YAML: tags such as 'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("a: 1\na: 2", "keys in a section are unique"),
        ("a: 1\n---\nb: 2", "a file holds one scenario"),
    ],
)
def test_odd_yaml_is_refused_in_a_sentence(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    assert what in refusal(path)


def test_a_date_is_a_text() -> None:
    assert parse_document("name: 2026-11-20\n", "a.yaml").data == {"name": "2026-11-20"}


def test_anchors_and_merges_are_plain_data() -> None:
    document = parse_document("base: &b {mtu: 9000B}\nhosts:\n  a: {<<: *b}\n", "a.yaml")
    assert document.data["hosts"] == {"a": {"mtu": "9000B"}}


def test_a_change_takes_the_place_of_what_was_changed_below_it_before() -> None:
    edit = parse_document(TEXT, "a.yaml").edited()
    edit.set(("workloads", "orders", "users"), 5, ("a.yaml", 8))
    edit.set(("workloads", "orders"), {"users": 6}, ("a.yaml", 9))
    edit.set(("workloads", "orders", "gap"), "1ms", ("a.yaml", 10))
    changed = edit.document()
    assert changed.data["workloads"]["orders"] == {"users": 6, "gap": "1ms"}
    places = [("users",), ("gap",), ("round_trips", 1)]
    assert [changed.line(("workloads", "orders", *place)) for place in places] == [9, 10, 9]


def test_entries_of_a_list_are_taken_out_by_the_places_that_they_had() -> None:
    document = parse_document("list: [a, b, c, d]\n", "a.yaml")
    assert document.without([("list", 1), ("list", 2), ("other", 1)]).data == {"list": ["a", "d"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a:\n  b: {x: 1}\n  c: 1\n  b: {x: 2}\n",
            "s.yaml:4: YAML: duplicate key 'b', first on line 2",
        ),
        ("a: {b: {x: 1}, b: {x: 2}}\n", "YAML: duplicate key 'b' (hint:"),
        ("b: 1\na:\n  b: 1\n'b': 2\n", "s.yaml:4: YAML: duplicate key 'b', first on line 1"),
    ],
)
def test_a_duplicate_key_is_named_with_the_line_of_the_first(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_document(text, "s.yaml")
    assert words in str(caught.value)
    assert "{'" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "name: x\nw: {web: {kind: flows, sizes: lognormal(20kB, 1.2), load: 1%}}\n",
            "s.yaml:2: w.web.sizes: 'lognormal(20kB, 1.2)' needs quotes: "
            "between braces or brackets, a comma ends a value"
            ' (hint: write sizes: "lognormal(20kB, 1.2)")',
        ),
        ("a: {delay: log(1us..4us, 3), b: 1}\n", 'write delay: "log(1us..4us, 3)"'),
        ("a: [web-search, uniform(1kB,2kB)]\n", "a.1: 'uniform(1kB, 2kB)' needs quotes"),
        ("a: [uniform(1, 2)]\n", 'write "uniform(1, 2)"'),
        ("a: {sizes: lognormal (20kB, 1.2), b: 1}\n", 'write sizes: "lognormal (20kB, 1.2)"'),
    ],
)
def test_a_text_that_a_comma_between_braces_has_cut_needs_quotes(
    tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_document(tmp_path / "s.yaml")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        'a: {sizes: "lognormal(20kB, 1.2)", load: 1%}\n',
        "a:\n  - uniform(1\n  - 2)\n",
        "a: {b: exponential(20kB), c: 1, d)}\n",
        "a: {b: see(, c: 1, d): }\n",
        'a: ["at(200 us", "or 400)"]\n',
        "a: ['at(200 us', or 400)]\n",
        'a: [at(200 us, "or 400)"]\n',
        'a: {b: at(200 us, "or 400)": }\n',
    ],
)
def test_what_no_comma_has_cut_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    assert "a" in read_document(tmp_path / "s.yaml").data


def test_quoted_text_is_text_like_any_other() -> None:
    data = parse_document("'a': {\"b\": ['c', d]}\n", "s.yaml").data
    assert data == {"a": {"b": ["c", "d"]}}
    [(key, inner)] = data.items()
    assert {type(text) for text in (key, *inner, *inner["b"])} == {str}
