"""The parts of an answer's time, of a real database over a real link."""

from pathlib import Path

import pytest

from tailrace.live.machine import answers
from tailrace.live.measure import ingress
from tailrace.live.registry import usual_service

pytestmark = pytest.mark.slow  # it compares times of a few answers
SMALL, LARGE = 18_000, 8_000_000
COUNTS = {SMALL: 20, LARGE: 5}


def test_a_large_answer_is_built_before_its_first_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LOOPBACK_COUNTS", COUNTS)
    monkeypatch.setattr(answers, "LINK_COUNTS", COUNTS)
    times = answers.measure(tmp_path, "9000B")
    # 8 MB take 12 ms to be formed and the frames of both wait for the same switch: no neighbour turns the order around.
    assert times.before_ms[LARGE] > 2 * times.before_ms[SMALL]
    assert times.loopback_ms[LARGE] > times.loopback_ms[SMALL]
    assert set(times.after_ms) == {SMALL, LARGE}
    seen = ingress.answers(tmp_path / "answers" / ingress.FILE, usual_service("transactions").port)
    found = [answer for answer in seen if answer.size_bytes >= SMALL]
    assert len(found) == sum(COUNTS.values()), "those over loopback do not enter the switch"
    [user] = {answer.connection[:2] for answer in found}
    assert user == (0, 1)
    # A link of 1 Gbit/s carries 8 MB in 64 ms and never sooner.
    assert all(answer.sending_ms > 63 for answer in found if answer.size_bytes >= LARGE)
