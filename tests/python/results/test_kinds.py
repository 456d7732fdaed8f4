"""What kinds of workloads add to results: each is found by its key, its metrics and its table."""

import pytest

import whole
from parts import part
from summaries import summary_of
from tailrace.results.compare.trial_value import FIGURES
from tailrace.results.format.numbers import number
from tailrace.results.kinds.blocks import summarise_blocks
from tailrace.results.kinds.contribution import Contribution
from tailrace.results.kinds.mpi import summarise_mpi
from tailrace.results.kinds.registry import CONTRIBUTIONS, kinds_text, tables_of_kinds
from tailrace.results.kinds.storage import summarise_storage
from tailrace.results.summary.kinds import BlockFigures
from tailrace.results.summary.workload import WorkloadSummary


@pytest.mark.parametrize("one", CONTRIBUTIONS)
def test_metrics_of_kinds_are_known(one: Contribution) -> None:
    assert one.figures.keys() <= FIGURES.keys()


def test_workloads_of_other_kinds_have_none_of_them() -> None:
    trial = whole.trial(workloads=[{"name": "shop", "kind": "oltp"}])
    for summarise in (summarise_blocks, summarise_storage, summarise_mpi):
        assert summarise([trial], ["shop"]) is None
    assert tables_of_kinds(summary_of({"base": {"shop": part(WorkloadSummary)}}, ["shop"])) == []


def test_terminal_and_report_have_the_same_cells() -> None:
    own = part(
        WorkloadSummary, block_figures=part(BlockFigures, blocks_per_s=2000.0, lost_blocks=3.0)
    )
    summary = summary_of({"base": {"rac": own}}, ["rac"])
    [table] = tables_of_kinds(summary)
    head, row = kinds_text(summary).splitlines()
    assert head.startswith("blocks  arm")
    [(told, cells)] = table.rows
    assert " ".join(row.split()) == " ".join([told.name, told.arm, *cells])
    assert (head.split()[2], cells[0], cells[4]) == ("per", number(2000.0), number(3.0))
