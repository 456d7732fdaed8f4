"""No two modules use each other, directly or through others: each can be read after those that it
uses."""

from pathlib import Path

import pytest

from circles import circles, python_uses, rust_uses

ROOT = Path(__file__).resolve().parents[2]
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir() if path.is_dir())


@pytest.mark.parametrize("crate", CRATES)
def test_no_modules_of_a_crate_use_each_other(crate: str) -> None:
    assert circles(rust_uses(ROOT / "crates" / crate / "src")) == []


def test_no_modules_of_the_package_import_each_other() -> None:
    assert circles(python_uses(ROOT / "python" / "tailrace")) == []


def test_paths_of_the_sources_are_followed() -> None:
    uses = rust_uses(ROOT / "crates" / "sim" / "src")
    assert len(uses) > 20
    assert ("crate", "agenda") in uses["crate", "links"]
    imported = python_uses(ROOT / "python" / "tailrace")
    assert ("tailrace", "errors") in imported["tailrace", "api"]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param(
            {"a.rs": "use crate::b::{self, B};", "b.rs": "fn f() { crate::a::f() }"},
            [["crate.a", "crate.b"]],
            id="two files",
        ),
        pytest.param(
            {
                "a/mod.rs": "",
                "a/x.rs": "use crate::{b::y::Y, c};",
                "b/mod.rs": "mod y;",
                "b/y.rs": "use crate::a::A;",
            },
            [["crate.a", "crate.b"]],
            id="two folders",
        ),
        pytest.param(
            {
                "lib.rs": "pub use a::*;\npub use b::B as Bee;",
                "a.rs": "use crate::Bee;\npub struct A;",
            }
            | {"b.rs": "use crate::A;\npub struct B;"},
            [["crate.a", "crate.b"]],
            id="through names that the crate exports",
        ),
        pytest.param(
            {
                "p/mod.rs": "",
                "p/a.rs": "use super::b::B;",
                "p/b.rs": "use super::c::C;",
                "p/c.rs": "use super::a::A;",
            },
            [["crate.p.a", "crate.p.b", "crate.p.c"]],
            id="three of one folder",
        ),
        pytest.param(
            {
                "p/mod.rs": "use a::A; fn f() { crate::p::a::f() }",
                "p/a.rs": "use super::P; use crate::p::Q;",
            },
            [],
            id="a parent and its child",
        ),
        pytest.param(
            {
                "a.rs": "use crate::b::B;",
                "b.rs": "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
            },
            [],
            id="comments and tests",
        ),
    ],
)
def test_circles_of_rust_are_found(
    tmp_path: Path, files: dict[str, str], found: list[list[str]]
) -> None:
    assert circles(rust_uses(write(tmp_path, files))) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param(
            {"a.py": "from p import b", "b.py": "import p.a"},
            [["p.a", "p.b"]],
            id="two files",
        ),
        pytest.param(
            {
                "a/x.py": "from p.b.y import Y",
                "b/y.py": "",
                "b/z.py": "if TYPE_CHECKING:\n    from p.a.x import X",
            },
            [["p.a", "p.b"]],
            id="two folders, for types alone",
        ),
        pytest.param(
            {"a.py": "def f():\n    from p.b import B", "b.py": "from p.a import f"},
            [["p.a", "p.b"]],
            id="within a function",
        ),
        pytest.param(
            {"__init__.py": "from p.a import A", "a.py": "from p import VERSION"},
            [],
            id="a package",
        ),
    ],
)
def test_circles_of_python_are_found(
    tmp_path: Path, files: dict[str, str], found: list[list[str]]
) -> None:
    assert circles(python_uses(write(tmp_path / "p", files))) == found
