"""Digests of exact runs: every machine that builds a kernel of the same key must find the recorded
ones.

A kernel of another key, such as the next one of Debian, is compared with the recorded kernels too.
When it gives other digests, `make test` compares two runs of this machine and warns, so that it
does not fail because Debian has released a kernel; `make test-all` fails until the digests are
recorded.
"""

import warnings
from pathlib import Path

import pytest

import counts
import exact_digests
from tailrace.exact import program

HOW = (
    "`.venv/bin/python scripts/exact_digests.py --record` records its "
    "digests, when the reason is known"
)


@pytest.mark.filterwarnings("default:the kernel")
@pytest.mark.parametrize("name", ["small", pytest.param("jumbo", marks=pytest.mark.slow)])
def test_a_kernel_gives_the_recorded_digest(tmp_path: Path, name: str) -> None:
    kernel = program.required_kernel()
    known, key = exact_digests.recorded(), program.kernel_key(kernel)
    expected = {key: known[key]} if key in known else known
    found = exact_digests.digest(name, tmp_path / "run")
    if found in {golden["digests"][name] for golden in expected.values()}:
        return
    what = (
        f"the kernel {key} ({program.kernel_release(kernel)}) gives {name}.yaml the digest "
        f"{found}; recorded: {known}"
    )
    assert key not in known, what
    assert not counts.WHOLE, f"{what}. {HOW}"
    assert exact_digests.digest(name, tmp_path / "again") == found, (
        "the same kernel gives two digests"
    )
    warnings.warn(f"{what}. {HOW}", stacklevel=1)
