"""`make whatif`: the record of the module, and the compiler that a machine gets. Its behaviour:
tests/python/whatif."""

import json
from pathlib import Path

import pytest

import build_whatif
import whatif_toolchain
from whatif_toolchain import Apt, ToolchainError


def test_the_record_is_of_the_module_and_the_module_of_this_version() -> None:
    record = json.loads(build_whatif.RECORD.read_text(encoding="utf-8"))
    assert set(record) == {"version", "compiler", "bytes"}
    assert record["bytes"] == build_whatif.MODULE.stat().st_size, (
        "the record is of another module: make whatif"
    )
    assert record["version"] == build_whatif.version(), (
        "a release has a module of its own: make whatif"
    )


def program(folder: Path, name: str, script: str) -> None:
    """A stand-in for a program."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize("has_target", [True, False])
def test_the_machine_s_own_compiler_is_taken_when_it_has_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_target: bool
) -> None:
    program(tmp_path, "cargo", "exit 0")
    program(tmp_path, "rustc", f"echo {tmp_path}")
    if has_target:
        (tmp_path / "libstd-0.rlib").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = whatif_toolchain.own()
    assert (found is not None) is has_target
    if found is not None:
        assert (found.cargo, list(found.options), found.folder) == ("cargo", [], None)


def test_a_machine_with_neither_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        ToolchainError, match=r"no apt-get .*hint: rustup target add wasm32-unknown-unknown"
    ):
        whatif_toolchain.toolchain()


APT = """
case "$*" in
  *"install --simulate"*{REFUSED}*) echo "E: Version was not found" >&2; exit 100 ;;
  *"install --simulate"*)
    echo "Inst libgit2-1.5 (1.5.1 Debian:12 [amd64])"
    echo "Inst rustc-web [1.85.0] (1.98.0+dfsg1-1 Debian-Security:12 [amd64])" ;;
esac
"""


@pytest.mark.parametrize("refused", ["=", "rustc-web"], ids=["the release", "all"])
def test_the_latest_release_is_taken_when_the_known_one_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    program(
        tmp_path,
        "apt-get",
        APT.replace("{REFUSED}", f"rustc-web{refused}" if refused == "=" else refused),
    )
    program(tmp_path, "dpkg-deb", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    apt = Apt(tmp_path / "apt")
    if refused == "=":
        assert apt.needed(["rustc-web"]) == ["libgit2-1.5=1.5.1", "rustc-web=1.98.0+dfsg1-1"]
    else:
        with pytest.raises(
            ToolchainError, match="apt-get has no rustc-web: E: Version was not found"
        ):
            apt.needed(["rustc-web"])


def test_a_compiler_that_is_too_old_is_refused() -> None:
    whatif_toolchain.refuse_old("1.96.0")
    whatif_toolchain.refuse_old("1.100.0")
    with pytest.raises(ToolchainError, match=r"rustc-web is 1\.85\.0; the simulator needs 1\."):
        whatif_toolchain.refuse_old("1.85.0")


def test_a_stable_compiler_may_build_its_standard_library(tmp_path: Path) -> None:
    compiler = whatif_toolchain.unpacked(tmp_path, linker="wasm-ld")
    assert "-Zbuild-std=std,panic_abort" in compiler.options
    assert compiler.environment["RUSTC_BOOTSTRAP"] == "1"


def test_no_path_of_the_machine_is_in_the_module(tmp_path: Path) -> None:
    (tmp_path / "usr/lib/llvm-22/bin").mkdir(parents=True)
    (tmp_path / "usr/lib/llvm-22/bin/wasm-ld").touch()
    compiler = whatif_toolchain.unpacked(tmp_path)
    maps = build_whatif.maps(compiler)
    assert maps[-1] == f"{tmp_path}=/rust", "the last one that fits is taken"
    assert f"{build_whatif.ROOT}=/tailrace" in maps
    assert maps[0] == f"{Path.home()}=/home"
