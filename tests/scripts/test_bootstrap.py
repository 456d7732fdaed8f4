"""The set-up of a bare machine: pins, the choice of a wheel, versions."""

import io
import platform
import shutil
import zipfile
from pathlib import Path

import pytest

import bootstrap

PINS = """
# a comment
uv==1.2.3 \\
    --hash=sha256:{} \\
    --hash=sha256:{}
""".format("a" * 64, "b" * 64)


def test_the_pins_are_read_as_pip_reads_them() -> None:
    assert bootstrap.read_pins(PINS) == ("1.2.3", {"a" * 64, "b" * 64})


def test_the_committed_pins_name_wheels_for_both_processors_of_linux() -> None:
    _, hashes = bootstrap.read_pins(bootstrap.PINS.read_text())
    assert len(hashes) >= 3


def test_a_file_without_a_pin_is_refused() -> None:
    with pytest.raises(bootstrap.SetUpError, match="pins no version"):
        bootstrap.read_pins("pip==1\n")


@pytest.fixture
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def link(platform_tag: str, digest: str, version: str = "1.2.3") -> str:
    """An address as an index writes it."""
    return f"../../files/uv-{version}-py3-none-{platform_tag}.whl#sha256={digest * 64}"


@pytest.mark.usefixtures("on_linux")
def test_the_wheel_fits_the_system_and_the_processor() -> None:
    addresses = [
        link("macosx_10_12_x86_64", "a"),
        link("manylinux_2_17_aarch64", "a"),
        link("musllinux_1_1_x86_64", "a"),
        link("manylinux_2_17_x86_64", "b"),
    ]
    assert bootstrap.choose_wheel(addresses, "1.2.3", {"a" * 64, "b" * 64}) == addresses[-1]


@pytest.mark.usefixtures("on_linux")
def test_a_wheel_whose_hash_is_not_pinned_is_never_chosen() -> None:
    with pytest.raises(bootstrap.SetUpError, match="no pinned wheel"):
        bootstrap.choose_wheel([link("manylinux_2_17_x86_64", "c")], "1.2.3", {"a" * 64})


@pytest.mark.usefixtures("on_linux")
def test_content_that_does_not_have_the_pinned_hash_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = f'<a href="{link("manylinux_2_17_x86_64", "a")}">uv</a>'
    answers = {
        "https://index/uv/": page.encode(),
        "https://index/files/uv-1.2.3-py3-none-manylinux_2_17_x86_64.whl": b"other",
    }
    monkeypatch.setattr(bootstrap, "fetch", lambda url: answers[url.partition("#")[0]])
    with pytest.raises(bootstrap.SetUpError, match="does not have a pinned hash"):
        bootstrap.download_wheel("https://index", "1.2.3", {"a" * 64})


def test_the_program_is_taken_out_of_the_wheel() -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("uv/__init__.py", "")
        archive.writestr("uv-1.2.3.data/scripts/uv", "the program")
    assert bootstrap.program_in_wheel(wheel.getvalue()) == b"the program"


def test_versions_compare_as_numbers() -> None:
    assert bootstrap.version_numbers("1.100") > bootstrap.version_numbers("1.88")


def test_an_old_cargo_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "output_of", lambda _: "cargo 1.63.0 (Debian 12)")
    with pytest.raises(bootstrap.SetUpError, match=r"this is 1\.63; run `rustup update stable`"):
        bootstrap.check_cargo()


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "cc" else f"/bin/{name}")
    with pytest.raises(bootstrap.SetUpError, match="`cc` is not on the PATH; install gcc"):
        bootstrap.check_programs()


def test_the_configured_index_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror/simple/")
    assert bootstrap.index_url() == "https://mirror/simple"


def test_a_uv_that_is_there_already_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    version, _ = bootstrap.read_pins(bootstrap.PINS.read_text())
    program = tmp_path / "bin" / "uv"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho uv {version}\n")
    program.chmod(0o755)
    monkeypatch.setattr(bootstrap, "TOOLS", tmp_path)
    assert bootstrap.find_uv() == program
