"""Rows of tables about workloads and groups."""

from operator import itemgetter
from typing import Any

from summaries import summary_of
from tailrace.results.metrics.subject_rows import subject_rows


def test_the_first_row_that_a_workload_has_is_labelled_whichever_arm_it_is_of() -> None:
    own: dict[str, Any] = {"of": True}
    summary = summary_of({"quiet": {"shop": own}, "with": {"shop": own, "backup": own}}, ["shop", "backup"])
    rows = subject_rows(summary, bool)
    assert [(row.name, row.arm, row.arm_index, row.is_first) for row in rows] == [
        ("shop", "quiet", 0, True),
        ("shop", "with", 1, False),
        ("backup", "with", 1, True),
    ]
    assert rows[2].place == {"workload": "backup", "arm": "with", "index": 1, "is_first": True, "at": 1}


def test_a_row_that_has_nothing_to_tell_takes_no_label() -> None:
    arms: dict[str, dict[str, Any]] = {"fifo": {"shop": {"of": None}}, "dpp": {"shop": {"of": 1}}}
    [row] = subject_rows(summary_of(arms, ["shop"]), itemgetter("of"))
    assert (row.arm, row.is_first) == ("dpp", True)


def test_a_group_has_no_place_among_the_workloads() -> None:
    summary = summary_of({"fifo": {"shop": {"of": 1}}}, ["shop"], {"fifo": {"all": {"of": 2}}})
    group, shop = subject_rows(summary, bool)
    assert (group.name, group.at, group.own) == ("all", None, {"of": 2})
    assert "at" not in group.place
    assert shop.at == 0
