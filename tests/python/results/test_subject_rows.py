"""Rows of tables about workloads and groups."""

from parts import part
from summaries import summary_of
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.workload import GroupSummary, WorkloadSummary


def test_the_first_row_that_a_workload_has_is_labelled_whichever_arm_it_is_of() -> None:
    own = part(WorkloadSummary)
    summary = summary_of(
        {"quiet": {"shop": own}, "with": {"shop": own, "backup": own}}, ["shop", "backup"]
    )
    rows = subject_rows(summary, lambda _: True)
    assert [(row.name, row.arm, row.index, row.is_first) for row in rows] == [
        ("shop", "quiet", 0, True),
        ("shop", "with", 1, False),
        ("backup", "with", 1, True),
    ]
    assert rows[2].at == 1


def test_a_row_that_has_nothing_to_tell_takes_no_label() -> None:
    arms = {
        "fifo": {"shop": part(WorkloadSummary)},
        "dpp": {"shop": part(WorkloadSummary, planned=1)},
    }
    [row] = subject_rows(
        summary_of(arms, ["shop"]), lambda own: isinstance(own, WorkloadSummary) and own.planned
    )
    assert (row.arm, row.is_first) == ("dpp", True)


def test_a_group_has_no_place_among_the_workloads() -> None:
    both = part(GroupSummary, members=["shop"])
    summary = summary_of(
        {"fifo": {"shop": part(WorkloadSummary)}}, ["shop"], {"fifo": {"all": both}}
    )
    group, shop = subject_rows(summary, lambda _: True)
    assert (group.name, group.at) == ("all", None)
    assert group.own is both
    assert shop.at == 0
