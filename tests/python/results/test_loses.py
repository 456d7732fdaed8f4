"""A verdict as the end of a sentence about a workload."""

import pytest

from tailrace.results.causes.verdict import loses


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("queue of leaf>db behind backup", "in the queue of leaf>db behind backup"),
        ("receive stage", "in the receive stage"),
        ("block device", "in the block device"),
        ("waiting for a core", "waiting for a core"),
        ("held by the sender's pace", "held by the sender's pace"),
        ("until a retransmission timeout", "until a retransmission timeout"),
        ("work of the server", "to the work of the server"),
        ("serialisation", "to serialisation"),
    ],
)
def test_a_verdict_ends_a_sentence(verdict: str, words: str) -> None:
    assert loses(verdict) == f"loses most of its time {words}"
