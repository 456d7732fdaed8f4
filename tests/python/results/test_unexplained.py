"""Verdicts that are those of counters are labelled, and it is told how to get the critical path."""

import pytest
from msgspec.structs import replace

import whole
from summaries import summary_of
from tailrace.results.summary.summary import Summary
from tailrace.results.text.limiting_text import limiting_sentence, limiting_text
from tailrace.results.text.unexplained import unexplained_sentence
from tailrace.results.workload import summarise_workload


def counted(
    kind: str = "oltp", *, is_real: bool = True, transactions: int = 4, names: int = 1
) -> Summary:
    """An arm with workloads of which connections are known."""
    found = {}
    for name in [f"orders{number}" for number in range(names)]:
        own = {
            "name": name,
            "kind": kind,
            "transactions": transactions,
            "limits": {"open_ps": 1000},
        }
        trial = whole.trial(workloads=[own], exact={} if is_real else None)
        summary = summarise_workload(name, [trial], scale=1.0)
        assert summary is not None
        found[name] = summary
    return summary_of({"fifo": found}, list(found))


def sentence(of: Summary, engine: str, fabric: str | None = None) -> str | None:
    """As a run of this engine says it."""
    return unexplained_sentence(replace(of, run=replace(of.run, engine=engine, fabric=fabric)))


@pytest.mark.parametrize(
    ("engine", "fabric", "why"),
    [
        (
            "exact",
            None,
            "real kernels tell no critical path (hint: run the same scenario without --exact: ",
        ),
        (
            "live",
            "tap",
            "no trial was explained by a log of the fabric (hint: run it "
            "with --log-ingress; or run the",
        ),
        (
            "live",
            "ovs",
            "the fabric 'ovs' keeps no log of frames (hint: omit --fabric; or run the same "
            "scenario without --live: ",
        ),
    ],
)
def test_a_verdict_of_the_kernel_says_so_and_how_to_get_the_critical_path(
    engine: str, fabric: str | None, why: str
) -> None:
    said = sentence(counted(), engine, fabric)
    assert said is not None
    assert said.startswith(
        "What limits orders0 is told by the kernel's counters, which do not see the queues"
    )
    assert why in said


def test_a_simulated_run_that_was_not_explained_names_the_command() -> None:
    said = sentence(counted(is_real=False, names=5), "simulated")
    assert said is not None
    assert said.startswith(
        "What limits orders0, orders1, orders2 and 2 more is told by TCP's counters"
    )
    assert said.endswith(
        "no trial was explained (hint: `tailrace explain RUN` finds the critical path)."
    )


@pytest.mark.parametrize(("kind", "transactions"), [("stream", 4), ("oltp", 0)])
def test_streams_and_what_has_completed_nothing_miss_nothing(kind: str, transactions: int) -> None:
    assert sentence(counted(kind, transactions=transactions), "exact") is None


def test_the_table_and_the_sentence_have_the_label() -> None:
    of = counted()
    assert limiting_text(of).endswith("application (of connections, by the kernel's counters)")
    said = limiting_sentence("fifo", "orders0", of.arms["fifo"].workloads["orders0"])
    assert said is not None
    assert "application for 100 % of the time, by the kernel's counters" in said
    plain = counted("stream", is_real=False)
    assert limiting_text(plain).endswith("application"), "of a modelled stream it is what is meant"
