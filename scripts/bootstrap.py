"""Make `.venv` from `uv.lock` with nothing but Python 3.11, cargo and a C compiler.

Debian's `python3` has neither pip nor ensurepip, so this file uses the standard library alone. It
puts a pinned `uv` into `.bootstrap/` (from the PATH, through pip, or straight from the package
index, checked by hash) and lets it install exactly what the lock file names.
"""

from __future__ import annotations

import hashlib
import html.parser
import importlib.util
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".bootstrap"
PINS = ROOT / "scripts" / "uv-wheels.txt"
DEFAULT_INDEX = "https://pypi.org/simple"
DOWNLOAD_TIMEOUT_S = 120
DOWNLOAD_TRIES = 3


class SetUpError(Exception):
    """What is missing and what to do about it, in one line."""


def main() -> int:
    """Check the tools of this machine, then make or refresh the virtual environment."""
    try:
        check_python()
        check_programs()
        check_cargo()
        uv = find_uv()
        install_locked(uv)
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


def check_python() -> None:
    """Refuse an interpreter that is older than the package needs."""
    if sys.version_info < (3, 11):  # noqa: UP036  this file also runs on the interpreters that it refuses
        raise SetUpError(
            f"Python 3.11 or newer is needed and this is {platform.python_version()}; "
            "install python3.11 and run `make PYTHON=python3.11 ...`"
        )


def check_programs() -> None:
    """The linker comes with the C compiler; without it cargo fails late and obscurely."""
    for program, advice in (
        ("cargo", "install Rust with rustup"),
        ("cc", "install gcc, on Debian `apt install gcc`"),
    ):
        if shutil.which(program) is None:
            raise SetUpError(f"`{program}` is not on the PATH; {advice}")


def check_cargo() -> None:
    """Compare cargo with `rust-version` of Cargo.toml before it prints a page about each crate."""
    stated = re.search(
        r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE
    )
    assert stated is not None, "Cargo.toml states the oldest Rust that builds it"
    needed = stated[1]
    answer = output_of(["cargo", "--version"])
    found = re.match(r"cargo (\d+\.\d+)", answer)
    if found is None:
        raise SetUpError(
            f"`cargo --version` answered {answer.strip()!r}; cargo {needed} or newer is needed"
        )
    if version_numbers(found[1]) < version_numbers(needed):
        raise SetUpError(
            f"cargo {needed} or newer is needed and this is {found[1]}; run `rustup update stable`"
        )


def version_numbers(version: str) -> tuple[int, ...]:
    """`1.88` as (1, 88), so that it compares as a version and not as text."""
    return tuple(int(part) for part in version.split("."))


def output_of(command: list[str]) -> str:
    """What a short command prints; the error names the command."""
    try:
        return subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=60
        ).stdout
    except subprocess.CalledProcessError as error:
        raise SetUpError(
            f"`{' '.join(command)}` failed: {' '.join(error.stderr.split())}"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetUpError(f"`{' '.join(command)}` failed: {error}") from error


def user_cache(name: str) -> Path:
    """A folder of the user's cache, for what takes minutes to make and is the same in every
    clone."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    return base / "tailrace" / name


def find_uv() -> Path:
    """The pinned uv: one that is there already, else installed by pip, else downloaded."""
    version, hashes = read_pins(PINS.read_text())
    kept = TOOLS / "bin" / "uv"
    if kept.exists() and uv_version(kept) == version:
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.unlink(missing_ok=True)
    on_path = shutil.which("uv")
    if on_path is not None and uv_version(Path(on_path)) == version:
        kept.symlink_to(on_path)
    elif not install_uv_with_pip(kept):
        kept.write_bytes(program_in_wheel(download_wheel(index_url(), version, hashes)))
        kept.chmod(0o755)
    return kept


def read_pins(text: str) -> tuple[str, set[str]]:
    """The version and the accepted SHA-256 sums of a pip requirements file with one requirement."""
    version = re.search(r"^uv==([\w.]+)", text, re.MULTILINE)
    if version is None:
        raise SetUpError(f"{PINS.name} pins no version of uv")
    return version[1], set(re.findall(r"--hash=sha256:([0-9a-f]{64})", text))


def uv_version(program: Path) -> str | None:
    """The version that a uv program states, or None if it does not run here."""
    try:
        return output_of([str(program), "--version"]).split()[1]
    except (SetUpError, IndexError):
        return None


def install_uv_with_pip(target: Path) -> bool:
    """Let pip fetch uv: it knows this machine's indexes, proxies and certificates."""
    if importlib.util.find_spec("pip") is None:
        return False
    packages = TOOLS / "pip"
    shutil.rmtree(packages, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--require-hashes",
    ]
    command += [
        "--only-binary=:all:",
        "--root-user-action=ignore",
        "--target",
        str(packages),
        "--requirement",
        str(PINS),
    ]
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        print("set-up: pip could not install uv; downloading it without pip", file=sys.stderr)
        return False
    target.symlink_to(os.path.relpath(packages / "bin" / "uv", target.parent))
    return True


def index_url() -> str:
    """The package index that the environment configures, else the default one."""
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if url := os.environ.get(name):
            return url.rstrip("/")
    if importlib.util.find_spec("pip") is not None:
        asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
        answer = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=60)
        if answer.returncode == 0 and answer.stdout.strip():
            return answer.stdout.strip().rstrip("/")
    return DEFAULT_INDEX


class Links(html.parser.HTMLParser):
    """The links of one project's page in a simple index (PEP 503)."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of every anchor."""
        address = dict(attrs).get("href")
        if tag == "a" and address:
            self.addresses.append(address)


def download_wheel(index: str, version: str, hashes: set[str]) -> bytes:
    """The pinned wheel for this machine; its hash must be one of the pinned ones."""
    page = f"{index}/uv/"
    links = Links()
    links.feed(fetch(page).decode())
    address = choose_wheel(links.addresses, version, hashes)
    content = fetch(urllib.parse.urljoin(page, address))
    if hashlib.sha256(content).hexdigest() not in hashes:
        raise SetUpError(
            f"the wheel of uv {version} does not have a pinned hash; nothing was installed"
        )
    return content


def choose_wheel(addresses: list[str], version: str, hashes: set[str]) -> str:
    """The first pinned wheel that runs on this system and processor."""
    system = {"Linux": "manylinux", "Darwin": "macosx"}.get(platform.system(), platform.system())
    for address in addresses:
        path, _, fragment = address.partition("#")
        name = path.rsplit("/", 1)[-1]
        pinned = fragment.removeprefix("sha256=") in hashes
        if (
            pinned
            and name.startswith(f"uv-{version}-")
            and system in name
            and platform.machine() in name
        ):
            return address
    raise SetUpError(
        f"the index has no pinned wheel of uv {version} for {platform.system()} "
        f"{platform.machine()}; install uv {version} yourself and put it on the PATH"
    )


def fetch(url: str) -> bytes:
    """Read one address, with a few tries and a time limit."""
    for attempt in range(1, DOWNLOAD_TRIES + 1):
        try:
            with urllib.request.urlopen(url, timeout=DOWNLOAD_TIMEOUT_S) as answer:
                return bytes(answer.read())
        except (urllib.error.URLError, TimeoutError) as error:
            if attempt == DOWNLOAD_TRIES:
                raise SetUpError(f"cannot download uv: {error}") from error
    raise AssertionError("the loop returns or raises")


def program_in_wheel(wheel: bytes) -> bytes:
    """The `uv` program inside a wheel."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".data/scripts/uv"))
        return archive.read(name)


def install_locked(uv: Path, venv: Path = ROOT / ".venv", *choice: str) -> None:
    """Bring an environment to exactly what `uv.lock` names, apart from the package itself, which
    `make build` adds.

    `choice` are uv's options that choose groups, such as `--only-group wheel`.
    """
    index = index_url()
    if index == DEFAULT_INDEX:
        options = ("--locked", "--inexact", "--no-install-project", "--python", sys.executable)
        run_uv(uv, "sync", *options, *choice, venv=venv)
        return
    # The lock file names the default index; a mirror serves the same files, and the hashes say so.
    requirements = TOOLS / f"requirements-{venv.name.lstrip('.')}.txt"
    run_uv(
        uv, "export", "--frozen", "--no-emit-project", *choice, "--output-file", str(requirements)
    )
    run_uv(uv, "venv", "--allow-existing", "--python", sys.executable, str(venv))
    python = str(venv / "bin" / "python")
    run_uv(
        uv,
        "pip",
        "install",
        "--python",
        python,
        "--require-hashes",
        "--default-index",
        index,
        "-r",
        str(requirements),
    )


def run_uv(uv: Path, *arguments: str, venv: Path = ROOT / ".venv") -> None:
    """One uv command in the project's folder; what it says on failure goes to the terminal."""
    command = [str(uv), *arguments, "--quiet"]
    environment = environment_for_uv() | {"UV_PROJECT_ENVIRONMENT": str(venv)}
    if subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode != 0:
        raise SetUpError(
            f"`uv {arguments[0]}` failed (its message is above); the network "
            "or the lock file is at fault"
        )


def environment_for_uv() -> dict[str, str]:
    """What uv may hear from outside: the certificates of this machine, but no other environment or
    interpreter."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")
    }
    return environment | {
        "UV_PROJECT_ENVIRONMENT": str(ROOT / ".venv"),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_SYSTEM_CERTS": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
