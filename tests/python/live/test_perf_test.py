"""PerfTest and RabbitMQ: sizes, refusals, command lines, and how its report is read."""

from pathlib import Path
from typing import Any

import pytest

from requests_of import refusals, work
from tailrace.outcome.types import Workload
from tailrace.programs import perf_test, rabbitmq
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import MeasuredInterval
from tailrace.programs.needed import version_of
from tailrace.programs.perf_test import Messages, distribution
from tailrace.results.metrics.latency import latency_figure
from tailrace.scenario.workloads.request_presets import ACK_BYTES, DELIVER_BYTES, PUBLISH_BYTES
from whole import part

MS_PS = 10**9
# Of PerfTest 2.22.1, `--producers 2 --confirm 1 --pmessages 500`.
REPORT = """id: web, starting producer #0
id: web, starting producer #0, channel #0
id: web, starting producer #1
id: web, starting producer #1, channel #0
id: web, time 1.000 s, sent: 440 msg/s, returned: 0 msg/s, confirmed: 438 msg/s, nacked: 0 msg/s, min/median/75th/95th/99th confirm latency: 69/3770/5798/10865/22679 µs
id: web, time 2.000 s, sent: 558 msg/s, returned: 0 msg/s, confirmed: 560 msg/s, nacked: 0 msg/s, min/median/75th/95th/99th confirm latency: 54/3782/4187/7997/9008 µs
test stopped (Producer reached message limit [2])
id: web, sending rate avg: 500 msg/s
id: web, receiving rate avg: 0 msg/s
id: web, confirm latency min/median/75th/95th/99th 100/4000/5000/9000/15000 µs
"""  # noqa: E501  as it prints them


def messages(**keys: Any) -> Messages:
    """The users of a workload."""
    return Messages(work(**{"load_generator": "perf-test", "users": 2, "requests": 500} | keys))


def test_messages_of_the_presets_have_the_sizes_of_the_presets() -> None:
    for preset in ("mq-publish", "mq-confirm", "mq-consume"):
        own = messages(preset=preset)
        assert own.sizes == f"{PUBLISH_BYTES} {ACK_BYTES} {DELIVER_BYTES}"
        assert (own.body_bytes, own.consumes) == (1024, preset == "mq-consume")
        assert len(own.queue) == 10


@pytest.mark.parametrize(
    ("whole", "body"),
    [(59, 1), (58, None), (131_122, 131_064), (131_123, None), (131_131, 131_065)],
)
def test_a_message_of_several_frames_has_a_header_in_each(whole: int, body: int | None) -> None:
    assert rabbitmq.body_bytes(whole, rabbitmq.PUBLISH_BYTES) == body


@pytest.mark.parametrize(
    ("keys", "refusal"),
    [
        (
            {"request": "200B", "response": "4kB"},
            ".response: a confirm, and an acknowledgement of a consumer, have 21",
        ),
        (
            {"request": "60B", "response": "21B"},
            ".request: no message of perf-test has 60 bytes (hint: write at least 70B",
        ),
        (
            {"preset": "mq-consume", "requests": None},
            ": the consumers of perf-test need a number of messages",
        ),
        (
            {"preset": "mq-consume", "requests": 200_000},
            ".requests: 600300 messages of 1024 bytes would be in the queue",
        ),
        ({"preset": "mq-publish", "users": 501}, ".users: perf-test has threads for each user"),
        ({"preset": "mq-publish", "gap": "1ms"}, ".gap: the users of perf-test do not pause"),
        (
            {"preset": "mq-publish", "connection": "new"},
            ".connection: perf-test keeps its connections",
        ),
        (
            {"preset": "mq-publish", "users": None, "arrivals": "1ms"},
            ".arrivals: the users of perf-test wait for each",
        ),
    ],
)
def test_what_it_cannot_do_is_refused_with_its_key(
    keys: dict[str, Any], refusal: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_jar(monkeypatch, tmp_path)
    sizes = {} if "preset" in keys else {"load_generator": "perf-test"}
    found = refusals(is_exact=False, **{"request": None, "response": None} | sizes | keys)
    assert any(one.startswith(refusal) for one in found), found


def with_jar(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A machine with PerfTest, and with Java."""
    for name in ("perf-test-2.9.0.jar", "perf-test-2.22.1.jar", "other-3.0.jar"):
        (folder / name).touch()
    monkeypatch.setenv(perf_test.HOME_VARIABLE, str(folder))


def test_the_newest_jar_is_used_and_its_name_has_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_jar(monkeypatch, tmp_path)
    assert version_of(perf_test.PERF_TEST) == "2.22.1"
    assert messages(preset="mq-publish").command("10.77.0.2").argv[2] == f"{tmp_path}/*"


def test_without_it_a_run_is_refused_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(perf_test.HOME_VARIABLE, str(tmp_path))
    found = refusals(is_exact=False, preset="mq-publish", request=None, response=None)
    assert found[0].startswith(
        ".load_generator: PerfTest is not installed (hint: see docs/how-to/live-services.md"
    )


def test_users_publish_or_consume() -> None:
    publish = " ".join(messages(preset="mq-publish", requests=None).command("10.77.0.2").argv)
    assert (
        "--producers 2 --consumers 0 --confirm 100 --size 1024 --flag persistent --flag mandatory"
        in publish
    )
    assert "--pmessages" not in publish
    confirm = " ".join(messages(preset="mq-confirm").command("10.77.0.2").argv)
    assert "--confirm 1 --size 1024" in confirm
    assert confirm.endswith("--pmessages 500")
    consume = messages(preset="mq-consume")
    assert " ".join(consume.command("10.77.0.2").argv).endswith(
        "--producers 0 --consumers 2 --qos 100 --cmessages 500"
    )
    assert (consume.first_count, consume.last_count) == (1200, 200)


def test_a_finite_run_is_counted_whole_and_by_seconds() -> None:
    own = messages(preset="mq-confirm")
    interval = MeasuredInterval(10**9, 3.0)
    found = own.measured(REPORT, 10**9, 10**9 + 200_000, interval)
    outcome = found.outcome
    assert (outcome.transactions, outcome.goodput_bytes) == (1000, 21_000)
    # 0.2 s until the first user began, and 1000 messages at 500 per second.
    assert outcome.completion_ps == 2_200 * MS_PS
    assert found.begun_ps == 0
    assert [
        (part.start_ps // MS_PS, part.end_ps // MS_PS, part.size_bytes // 21)
        for part in found.moved
    ] == [
        (200, 1200, 438),
        (1200, 2200, 560),
        (2200, 2200, 2),
    ]


def test_above_the_last_point_of_its_distribution_only_bounds_are_known() -> None:
    latency = distribution(REPORT, 1000)
    assert latency is not None
    workload = part(Workload, latency=latency.outcome())
    known = {key: latency_figure(workload, key) for key in ("p50", "p95", "p99", "p99_9", "max")}
    figures = {key: (figure.ms, figure.is_bound) for key, figure in known.items() if figure}
    assert figures == {
        "p50": (4.0, False),
        "p95": (9.0, False),
        "p99": (15.0, False),
        "p99_9": (15.0, True),
        "max": (15.0, True),
    }


def test_the_age_of_consumed_messages_is_no_latency() -> None:
    own = messages(preset="mq-consume")
    said = (
        "id: web, time 1.000 s, received: 900 msg/s, min/median/75th/95th/99th consumer "
        "latency: 1/2/3/4/5 µs\n"
        "test stopped (Consumer reached message limit [2])\nid: web, "
        "receiving rate avg: 900 msg/s\n"
    )
    outcome = own.measured(said, 10**9, 10**9, MeasuredInterval(10**9, 3.0)).outcome
    assert (outcome.transactions, outcome.latency) == (1000, None)


@pytest.mark.parametrize("what", ["returned", "nacked"])
def test_messages_that_the_broker_did_not_take_fail_the_trial(what: str) -> None:
    said = REPORT.replace(f"{what}: 0 msg/s", f"{what}: 3 msg/s", 1)
    with pytest.raises(
        ProgramError, match=f"perf-test-web: the broker has {what} messages: 3 per second"
    ):
        messages(preset="mq-confirm").measured(said, 0, 0, MeasuredInterval(0, 3.0))


def test_the_last_part_of_a_second_counts_by_the_mean_rate_without_what_has_no_confirm() -> None:
    own, ended = (
        messages(preset="mq-confirm", requests=None),
        REPORT.replace("reached message limit [2]", "interrupted"),
    )
    assert not own.is_whole(ended)
    outcome = own.measured(ended, 0, 0, MeasuredInterval(0, 2.5)).outcome
    assert (outcome.transactions, outcome.completion_ps) == (1250 - 2, None)
