"""What a page cannot have is refused in words, before a file is written."""

from pathlib import Path

import pytest

from command_line import tailrace

EXAMPLES = Path(__file__).parents[3] / "examples"
BASE = (EXAMPLES / "dpp.yaml").read_text(encoding="utf-8").split("expect:")[0]


@pytest.mark.parametrize(
    ("more", "options", "words"),
    [
        ("whatif: {knobs: {policies.dpp.queues.normal.limit: [300MB]}}", [], "cannot be moved"),
        (
            "whatif: {knobs: {workloads.bulk.connectoins: [1, 2]}}",
            [],
            "cannot be moved: unknown key",
        ),
        ("whatif: {knobs: {switches.leaf.buffer: [16MB]}}", [], "it changes nothing in any arm"),
        ("whatif: {knobs: {switches.leaf.buffer: nine}}", [], "'nine' is not a list of values"),
        ("whatif: {knob: {}}", [], "unknown key"),
        ("whatif: {scale: 3}", [], "whatif.scale"),
        ("whatif: {arms: [nothing]}", [], "there is no arm 'nothing'"),
        (
            "sweep: {axes: {switches.leaf.buffer: [13MB, 16MB]}}",
            [],
            "a page has no room for a sweep",
        ),
        ("", ["--scale", "0"], "--scale: 0 is not a share"),
        ("", ["--arm", "fofi"], "there is no arm 'fofi'"),
        ("", ["--set", "workloads.bulk.connections=none"], "connections"),
    ],
)
def test_in_words(tmp_path: Path, more: str, options: list[str], words: str) -> None:
    (tmp_path / "dpp.yaml").write_text(f"{BASE}\n{more}\n", encoding="utf-8")
    page = tmp_path / "page.html"
    done = tailrace("whatif", str(tmp_path / "dpp.yaml"), "-o", str(page), *options)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not page.exists()


def test_too_many_positions_are_refused(tmp_path: Path) -> None:
    knobs = "whatif: {knobs: {switches.leaf.buffer: 'linear(13MB..60MB, 40)'}}"
    (tmp_path / "dpp.yaml").write_text(f"{BASE}\n{knobs}\n", encoding="utf-8")
    done = tailrace("whatif", str(tmp_path / "dpp.yaml"), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert "positions; the limit is 33" in done.stderr


def test_a_network_that_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    text = BASE.replace(
        "hosts: [client, small, large, bulk]",
        f"hosts: [client, small, large, bulk, {', '.join(f'h{n}' for n in range(900))}]",
    )
    (tmp_path / "dpp.yaml").write_text(text, encoding="utf-8")
    done = tailrace("whatif", str(tmp_path / "dpp.yaml"), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert "bytes; the limit is 300000" in done.stderr
