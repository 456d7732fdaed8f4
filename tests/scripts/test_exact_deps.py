"""The kernel of exact runs is built once for a source and a configuration, and an interrupted build goes on."""

from pathlib import Path

import pytest

import exact_deps


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands of a build in an empty cache; each does what its result is looked for."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    taken: list[list[str]] = []

    def step(words: list[str], folder: Path, _log: Path) -> None:
        taken.append(words)
        if "olddefconfig" in words:
            (folder / ".config").write_text(exact_deps.CONFIG.read_text(encoding="utf-8"), encoding="utf-8")
        if "linux" in words:
            (folder / "linux").write_text("a kernel", encoding="ascii")

    monkeypatch.setattr(exact_deps, "run", step)
    return taken


def test_a_kernel_is_built_once_and_the_engine_finds_the_latest(steps: list[list[str]], tmp_path: Path) -> None:
    first = exact_deps.ensure(Path("linux.tar.xz"), "6.1-1")
    built = len(steps)
    assert exact_deps.ensure(Path("linux.tar.xz"), "6.1-1") == first
    assert len(steps) == built
    second = exact_deps.ensure(Path("linux.tar.xz"), "6.1-2")
    assert second != first
    assert (tmp_path / "tailrace" / "exact" / "linux").resolve() == second
    assert second.read_text(encoding="ascii") == "a kernel"
    assert not list((tmp_path / "tailrace" / "exact").glob("*.partial"))


def test_a_build_that_was_interrupted_goes_on(steps: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    step = exact_deps.run

    def fail_to_build(words: list[str], folder: Path, log: Path) -> None:
        if "linux" in words:
            raise exact_deps.BuildError("no memory")
        step(words, folder, log)

    monkeypatch.setattr(exact_deps, "run", fail_to_build)
    with pytest.raises(exact_deps.BuildError, match="no memory"):
        exact_deps.ensure(Path("linux.tar.xz"), "6.1-1")
    assert not (exact_deps.cache() / "linux").exists()
    steps.clear()
    monkeypatch.setattr(exact_deps, "run", step)
    exact_deps.ensure(Path("linux.tar.xz"), "6.1-1")
    assert [words[0] for words in steps].count("tar") == 0


def test_a_source_that_cannot_have_an_option_is_refused_by_its_name(
    steps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = exact_deps.run

    def lose_an_option(words: list[str], folder: Path, log: Path) -> None:
        step(words, folder, log)
        if "olddefconfig" in words:
            text = (folder / ".config").read_text(encoding="utf-8").replace("CONFIG_VIRTIO_UML=y", "")
            (folder / ".config").write_text(text, encoding="utf-8")

    monkeypatch.setattr(exact_deps, "run", lose_an_option)
    with pytest.raises(exact_deps.BuildError, match="cannot have CONFIG_VIRTIO_UML=y"):
        exact_deps.ensure(Path("linux.tar.xz"), "6.1-1")
    assert ["make", "ARCH=um", "allnoconfig"] in steps


def test_the_name_of_a_kernel_changes_with_its_source_and_its_patches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    patch = tmp_path / "more.patch"
    patch.write_text("+a line\n", encoding="ascii")
    plain = exact_deps.key_of("6.1-1")
    assert plain not in {exact_deps.key_of("6.1-2"), ""}
    monkeypatch.setattr(exact_deps, "PATCHES", [*exact_deps.PATCHES, patch])
    assert exact_deps.key_of("6.1-1") != plain
