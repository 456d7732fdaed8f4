"""The kernel of exact runs is built once for a source and a configuration, and an interrupted build
goes on."""

import fcntl
import io
import tarfile
from pathlib import Path

import pytest

import exact_deps
import live_deps


def archive(folder: Path, name: str, files: dict[str, str], mtime_s: int = 0) -> Path:
    """A source of these files."""
    path = folder / name
    with tarfile.open(path, "w") as tar:
        for file, text in files.items():
            member = tarfile.TarInfo(f"linux/{file}")
            member.size, member.mtime = len(text), mtime_s
            tar.addfile(member, io.BytesIO(text.encode("ascii")))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small source."""
    return archive(tmp_path, "linux-1.tar", {"Makefile": "VERSION = 6\n"})


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands of a build in an empty cache; sources are unpacked, and every other step leaves
    only its result."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    taken: list[list[str]] = []
    really = exact_deps.run

    def step(words: list[str], folder: Path, log: Path) -> None:
        taken.append(words)
        if words[0] == "tar":
            really(words, folder, log)
        if "olddefconfig" in words:
            (folder / ".config").write_text(
                exact_deps.CONFIG.read_text(encoding="utf-8"), encoding="utf-8"
            )
        if "linux" in words:
            (folder / "linux").write_text("a kernel", encoding="ascii")

    monkeypatch.setattr(exact_deps, "run", step)
    return taken


def test_a_kernel_is_built_once_and_the_engine_finds_the_latest(
    steps: list[list[str]], source: Path, tmp_path: Path
) -> None:
    first = exact_deps.ensure(source)
    built = len(steps)
    assert exact_deps.ensure(source) == first
    assert len(steps) == built
    second = exact_deps.ensure(archive(tmp_path, "linux-2.tar", {"Makefile": "VERSION = 7\n"}))
    assert second != first
    assert (exact_deps.cache() / "linux").resolve() == second
    assert second.read_text(encoding="ascii") == "a kernel"
    assert not list(exact_deps.cache().glob("*.partial"))


def test_another_revision_of_a_package_with_the_same_files_is_the_same_kernel(
    steps: list[list[str]], source: Path, tmp_path: Path
) -> None:
    first = exact_deps.ensure(source)
    steps.clear()
    files = {
        "Makefile": "VERSION = 6\n",
        "Documentation/index.rst": "News.\n",
        "drivers/gpu/drm/card.c": "int x;\n",
    }
    assert exact_deps.ensure(archive(tmp_path, "linux-1b.tar", files, mtime_s=10**9)) == first
    assert [words[0] for words in steps if words[0] in ("tar", "make")] == ["tar"]
    steps.clear()
    assert exact_deps.ensure(tmp_path / "linux-1b.tar") == first
    assert steps == [], "what this archive contains is known"


@pytest.mark.parametrize(
    "file",
    [
        "net/ipv4/tcp.c",
        "arch/x86/um/user-offsets.c",
        "arch/um/Makefile",
        "drivers/gpu/Kconfig",
        "fs/file.c",
    ],
)
def test_a_file_that_a_build_reads_changes_the_kernel(
    steps: list[list[str]], source: Path, tmp_path: Path, file: str
) -> None:
    first = exact_deps.ensure(source)
    more = {"Makefile": "VERSION = 6\n", file: "x\n"}
    assert exact_deps.ensure(archive(tmp_path, "linux-2.tar", more)) != first
    assert ["make", "ARCH=um", "allnoconfig"] in steps


def test_a_build_that_was_interrupted_goes_on(
    steps: list[list[str]], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = exact_deps.run

    def fail_to_build(words: list[str], folder: Path, log: Path) -> None:
        if "linux" in words:
            raise exact_deps.BuildError("no memory")
        step(words, folder, log)

    monkeypatch.setattr(exact_deps, "run", fail_to_build)
    with pytest.raises(exact_deps.BuildError, match="no memory"):
        exact_deps.ensure(source)
    assert not (exact_deps.cache() / "linux").exists()
    steps.clear()
    monkeypatch.setattr(exact_deps, "run", step)
    exact_deps.ensure(source)
    assert [words[0] for words in steps].count("tar") == 0
    assert (exact_deps.cache() / "linux").exists()


def test_an_unpacking_that_was_interrupted_begins_again(
    steps: list[list[str]], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = exact_deps.run

    def fail_to_patch(words: list[str], folder: Path, log: Path) -> None:
        if words[0] == "patch":
            raise exact_deps.BuildError("killed")
        step(words, folder, log)

    monkeypatch.setattr(exact_deps, "run", fail_to_patch)
    with pytest.raises(exact_deps.BuildError, match="killed"):
        exact_deps.ensure(source)
    steps.clear()
    monkeypatch.setattr(exact_deps, "run", step)
    exact_deps.ensure(source)
    assert [words[0] for words in steps].count("tar") == 1
    assert [words[0] for words in steps].count("patch") == len(exact_deps.PATCHES)


def test_a_source_that_cannot_have_an_option_is_refused_by_its_name(
    steps: list[list[str]], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = exact_deps.run

    def lose_an_option(words: list[str], folder: Path, log: Path) -> None:
        step(words, folder, log)
        if "olddefconfig" in words:
            text = (
                (folder / ".config").read_text(encoding="utf-8").replace("CONFIG_VIRTIO_UML=y", "")
            )
            (folder / ".config").write_text(text, encoding="utf-8")

    monkeypatch.setattr(exact_deps, "run", lose_an_option)
    with pytest.raises(exact_deps.BuildError, match="cannot have CONFIG_VIRTIO_UML=y"):
        exact_deps.ensure(source)
    assert ["make", "ARCH=um", "allnoconfig"] in steps


def test_two_builds_do_not_share_a_folder(
    steps: list[list[str]], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = exact_deps.run

    def run_alone(words: list[str], folder: Path, log: Path) -> None:
        step(words, folder, log)
        with (exact_deps.cache() / "lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    monkeypatch.setattr(exact_deps, "run", run_alone)
    exact_deps.ensure(source)
    assert steps


def test_half_a_kernel_is_none(
    steps: list[list[str]], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy_half(_built: Path, kernel: Path) -> None:
        kernel.write_text("a ker", encoding="ascii")
        raise OSError("no space left")

    with monkeypatch.context() as full:
        full.setattr("exact_deps.shutil.copy2", copy_half)
        with pytest.raises(OSError, match="no space left"):
            exact_deps.ensure(source)
    assert exact_deps.ensure(source).read_text(encoding="ascii") == "a kernel"
    assert steps


def test_the_content_of_a_source_changes_with_the_target_of_a_link(tmp_path: Path) -> None:
    found = set()
    for target in ("a", "b"):
        tree = tmp_path / target
        tree.mkdir()
        (tree / "link").symlink_to(target)
        found.add(exact_deps.content_of(tree))
    assert len(found) == 2


def test_the_name_of_a_kernel_changes_with_its_source_its_configuration_and_its_patches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    patch = tmp_path / "more.patch"
    patch.write_text("+a line\n", encoding="ascii")
    plain = exact_deps.key_of("a")
    assert plain not in {exact_deps.key_of("b"), ""}
    monkeypatch.setattr(exact_deps, "PATCHES", [*exact_deps.PATCHES, patch])
    assert exact_deps.key_of("a") != plain
    monkeypatch.undo()
    assert exact_deps.key_of("a") == plain
    monkeypatch.setattr(exact_deps, "CONFIG", patch)
    assert exact_deps.key_of("a") != plain


def test_the_recorded_version_is_installed_where_it_is_offered_and_else_the_newest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []
    offered = [True]

    def install(packages: list[str]) -> str:
        asked.append(packages)
        return (
            "" if offered[0] or not any("=" in name for name in packages) else "E: no such version"
        )

    monkeypatch.setattr(live_deps, "install", install)
    pinned = [f"linux-source-6.1={exact_deps.RECORDED_VERSION}", "flex"]
    assert exact_deps.install(["linux-source-6.1", "flex"]) == ""
    assert asked == [pinned]
    offered[0] = False
    assert exact_deps.install(["linux-source-6.1", "flex"]) == ""
    assert asked[1:] == [pinned, ["linux-source-6.1", "flex"]]
    assert f"{exact_deps.RECORDED_VERSION} is not offered" in capsys.readouterr().out
