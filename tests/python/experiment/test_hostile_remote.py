"""What a hostile worker and a hostile scheduler can do to the command: end the run, and nothing
more.

Each of them has processes of its own on loopback. The pickle that they send leaves a mark with the
number of the process that loads it: that of the command is not among them.
"""

import os
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from dask_processes import START_S, SUPPORT, Cluster, cluster, environment_of
from evil import FOLDER, Evil, evil_bytes, evil_objects, marked
from lab import load
from tailrace.errors import RunRefusedError
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.plans import Plans
from tailrace.experiment.remote import pickles
from tailrace.experiment.remote.envelope import (
    Answer,
    Answers,
    Task,
    UnreadableAnswerError,
    refuse_tables,
)
from tailrace.experiment.remote.executors import opened
from tailrace.experiment.remote.link import import_dask
from tailrace.experiment.remote.pickles import (
    PickleRefusedError,
    RemoteError,
    own_pickles,
    printable,
    refused_pickles,
)
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.schedule import TrialKey

KEY = TrialKey("dpp", 1)
OBJECTS = tuple(evil_objects())


@pytest.fixture(autouse=True)
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the marks; this process has left none at the end."""
    folder = tmp_path / "marks"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    yield folder
    assert os.getpid() not in marked(), "the command has loaded the pickle"


class Kept:
    """Keeps how trials ended."""

    def __init__(self) -> None:
        self.ended: dict[TrialKey, Ran | Failed] = {}

    def tick(self, running: object) -> None:
        """Nothing."""

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """One more."""
        self.ended[key] = ended


def run_on(place: str) -> Kept:
    """Runs one trial there."""
    kept, plans = Kept(), Plans(load().arms)
    with opened(place, Jobs(), print) as executor:
        assert executor is not None
        executor.run_all([KEY], plans.json, kept)
    return kept


# --- an evil worker -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An honest scheduler of others."""
    with cluster(tmp_path_factory.mktemp("dask"), workers=0) as place:
        yield place


@pytest.fixture
def with_worker(
    scheduler: Cluster, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[str]:
    """The place of one evil worker."""
    monkeypatch.setenv("EVIL", request.param)
    process = scheduler.start_worker(preload="evil_worker")
    yield scheduler.address
    process.kill()
    process.wait(START_S)


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("with_worker", "why"),
    [
        ("object", "Data serialized with pickle but only able to deserialize data with"),
        ("error", "a worker cannot run trials: .*exec"),
        pytest.param("garbage", "an unreadable result: MessagePack", marks=pytest.mark.slow),
        pytest.param(
            "names",
            r"an unreadable result: a table of the name '\.\./\.\./",
            marks=pytest.mark.slow,
        ),
    ],
    indirect=["with_worker"],
)
def test_what_an_evil_worker_sends_ends_the_run_in_words(with_worker: str, why: str) -> None:
    with pytest.raises(RunRefusedError, match=why) as refused:
        run_on(with_worker)
    assert str(refused.value).isprintable()


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("with_worker", ["warning"], indirect=True)
def test_a_warning_of_an_evil_worker_is_not_heard(
    with_worker: str, recwarn: pytest.WarningsRecorder
) -> None:
    assert isinstance(run_on(with_worker).ended[KEY], Ran)
    assert len(recwarn) == 0


# --- an evil scheduler ----------------------------------------------------------------------------


@pytest.fixture
def evil_scheduler(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The place of a hostile scheduler; it ends with the test, and by itself after a minute."""
    command = [sys.executable, str(SUPPORT / "evil_scheduler.py"), request.param]
    with (tmp_path / "scheduler.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=tmp_path,
            env=environment_of(0.0),
        )
    try:
        assert process.stdout is not None
        found = re.search(r"tcp(://127\.0\.0\.1:\d+)", process.stdout.readline())
        assert found is not None, (tmp_path / "scheduler.log").read_text("utf-8")
        yield f"dask{found[1]}"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    "evil_scheduler",
    [
        "in-any-message",
        "in-the-stream",
        *(pytest.param(one, marks=pytest.mark.slow) for one in OBJECTS[1:]),
    ],
    indirect=True,
)
def test_an_evil_scheduler_ends_the_run_in_words(evil_scheduler: str) -> None:
    with pytest.raises(
        RunRefusedError, match=r"a pickled object|no Dask scheduler that can be used"
    ) as refused:
        run_on(evil_scheduler)
    assert str(refused.value).isprintable()


# --- the guard ------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_no_pickle_with_a_name_is_loaded_in_any_thread(protocol: int) -> None:
    raised: list[BaseException] = []

    def load_it() -> None:
        try:
            pickle.loads(pickle.dumps(Evil(), protocol))
        except PickleRefusedError as error:
            raised.append(error)

    with refused_pickles():
        load_it()
        thread = threading.Thread(target=load_it)
        thread.start()
        thread.join()
        assert pickle.loads(pickle.dumps({"plain": [1, (b"bytes", "text")]})) == {
            "plain": [1, (b"bytes", "text")]
        }
    assert [str(error).removeprefix("a pickle names ") for error in raised] in (
        ["builtins.exec"] * 2,
        ["__builtin__.exec"] * 2,
    )


@pytest.mark.parametrize("kind", OBJECTS)
def test_no_form_in_which_dask_packs_an_object_is_unpacked(kind: str) -> None:
    import dask
    from distributed.protocol import dumps, loads

    import_dask("dask://127.0.0.1:1")
    assert dask.config.get("distributed.scheduler.allowed-imports") == []
    frames = dumps({"op": "x", "object": evil_objects()[kind]})
    with refused_pickles():
        for deserializers in (None, ("msgpack", "error")):
            with pytest.raises((PickleRefusedError, TypeError, RuntimeError)):
                loads(list(frames), deserializers=deserializers)


def test_pickles_are_loaded_again_after_the_block_and_own_ones_inside() -> None:
    own = pickle.dumps(Path)
    with refused_pickles():
        with own_pickles():
            assert pickle.loads(own) is Path
        with pytest.raises(PickleRefusedError):
            pickle.loads(own)
    assert pickle.loads(own) is Path


def test_a_task_that_outlives_a_block_of_own_pickles_keeps_no_permission() -> None:
    import contextvars

    with refused_pickles():
        with own_pickles():
            inherited = contextvars.copy_context()
        with pytest.raises(PickleRefusedError):
            inherited.run(pickle.loads, pickle.dumps(Path))


def test_an_error_elsewhere_is_read_and_not_loaded() -> None:
    from distributed.core import error_message
    from distributed.scheduler import KilledWorker

    killed = RemoteError.read(pickle.dumps(KilledWorker("key", "worker", 3)))
    assert (killed.deaths, "KilledWorker" in str(killed)) == (4, True)
    missing = error_message(ModuleNotFoundError("No module named 'tailrace'"))["exception"].data
    assert str(RemoteError.read(missing)).startswith(
        "ModuleNotFoundError: No module named 'tailrace'"
    )
    assert RemoteError.read(missing).deaths is None
    assert "exec" in str(RemoteError.read(evil_bytes()))
    assert "unreadable" in str(RemoteError.read(b"\xff no pickle"))
    assert "bytes" in str(RemoteError.read(bytes(pickles.ERROR_BYTES_MAX + 1)))


def test_a_text_of_others_is_one_line_that_a_terminal_does_not_obey() -> None:
    assert printable("red \x1b[31m\n and\tmore\u202e") == "red \\u001b[31m and more\\u202e"
    assert len(printable("x" * 10_000)) < 10_000


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"a/b": {}}, "a table of the name 'a/b'"),
        ({"a": {"x": ("u64", b"1234567")}}, "has a column that is none"),
        ({"a": {"x": ("object", b"")}}, "has a column that is none"),
        ({"a": {"x": ("u64", bytes(8)), "y": ("u32", bytes(8))}}, "columns of different lengths"),
    ],
)
def test_tables_that_cannot_be_stored_are_refused(
    tables: dict[str, dict[str, tuple[str, bytes]]], why: str
) -> None:
    with pytest.raises(UnreadableAnswerError, match=why):
        refuse_tables(tables)


@pytest.mark.parametrize(
    "outcome",
    ['{"x": "\\u001b[2J"}', '{"x": "a\\nb"}', '{"x": "\x1b"}', "{}", "[" * 100_000, "nothing"],
)
def test_an_outcome_that_is_none_or_that_a_terminal_would_obey_is_refused(outcome: str) -> None:
    with pytest.raises(UnreadableAnswerError) as refused:
        _ = Answer(1, "hash", outcome, 0.1).ended
    assert str(refused.value).isprintable()


def test_answers_are_those_of_the_trials_that_were_sent() -> None:
    task = Task.of(7, "plan")
    sound = Answer(7, task.plan_hash, "", 0.1)
    assert list(Answers("worker", (sound,)).by_task((task,))) == [0]
    for wrong in (
        (replace(sound, number=8),),
        (sound, sound),
        (replace(sound, plan_hash="other"),),
    ):
        with pytest.raises(UnreadableAnswerError, match="a trial that was not asked for"):
            Answers("worker", wrong).by_task((task,))
    for time_s in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UnreadableAnswerError, match="time"):
            Answers.read(Answers("worker", (replace(sound, wall_s=time_s),)).packed())


@pytest.mark.parametrize(
    "packed", [b"", b"\xc1", b"\x93\x01", Evil(), "text", None, {"worker": "x"}]
)
def test_what_is_no_answer_is_refused(packed: object) -> None:
    with pytest.raises(UnreadableAnswerError):
        Answers.read(packed)
