"""`tailrace measure split`."""

from pathlib import Path

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit, emit_json
from tailrace.errors import RunRefusedError
from tailrace.scenario.text.units import SIZE, QuantityError, parse
from tailrace.tools.drive.drive import drive_of
from tailrace.tools.drive.identity import identity_of
from tailrace.tools.drive.prove import prove
from tailrace.tools.drive.report import Inspected
from tailrace.tools.drive.split import split

REQUEST_BYTES_MAX = 64 << 20
"""Of a request that is read into memory."""


def disk_inspect(path: Path, size: str, *, is_proof: bool, json_: bool) -> int:
    """Inspects, prints, and returns the exit code: 1 if the kernel's counters contradict the
    prediction."""
    try:
        size_bytes = parse(size, SIZE)
    except QuantityError as error:
        raise RunRefusedError(f"--bs: {error}") from None
    drive = drive_of(path)
    block = drive.limits.logical_block_bytes
    if size_bytes % block or not block <= size_bytes <= REQUEST_BYTES_MAX:
        what = f"{size} is not a multiple of the drive's block of {block} bytes, up to 64 MiB"
        raise RunRefusedError(f"--bs: {what} (hint: write 4KiB or 1MiB)")
    one_piece, apart = (
        split(size_bytes, drive.limits, is_contiguous=each) for each in (True, False)
    )
    whole = Path("/dev") / drive.name
    identity = identity_of(whole, is_nvme=drive.is_nvme)
    found = Inspected(
        drive,
        size_bytes,
        one_piece,
        apart,
        prove(drive, size_bytes) if is_proof else None,
        identity,
    )
    if json_:
        emit_json(found.data())
    else:
        emit(found.text())
    return DONE if found.is_as_predicted else EXPECTATION_FAILED
