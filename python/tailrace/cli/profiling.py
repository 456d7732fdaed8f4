"""`tailrace profile`."""

from functools import partial
from pathlib import Path
from typing import Any

from tailrace.cli.blasting import LENGTH_PS_MAX, NAMESPACES
from tailrace.cli.capture_arguments import ProfileArguments
from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.outputs import refuse_unwritable
from tailrace.errors import RunRefusedError, closest
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.stages import working
from tailrace.profile.capture import (
    KEY_BYTES,
    PS_PER_NS,
    ProfileOptions,
    profile_capture,
    random_key,
)
from tailrace.profile.interface import Observation, profile_interface
from tailrace.profile.of_run import capture_of
from tailrace.profile.page import write_page
from tailrace.profile.text import profile_text
from tailrace.scenario.text.units import RATE, TIME, Dimension, QuantityError, parse
from tailrace.tools.blast.sending import available


def profile_file(request: ProfileArguments, *, out: Path | None = None, json_: bool) -> None:
    """Prints the profile of a capture, a run or an interface, and writes its page to `out`."""
    if out:
        check_page(out)
    options = options_of(request)
    if request.length is None:
        file = _capture(request)
        with working(reporter_for(json_lines=json_), f"reading {file.name}"):
            profile = profile_capture(file, options)
    else:
        profile = profile_interface(_observation(request), options)
    _warn(profile.data)
    _print_result(profile.data, out, json_=json_)


def _capture(request: ProfileArguments) -> Path:
    for option, value in (("--interface", request.interface), ("--netns", request.netns)):
        if value is not None:
            raise RunRefusedError(
                f"{option}: an interface is observed for a time (hint: --for 10s)"
            )
    if request.path is None:
        raise RunRefusedError(
            "nothing is named (hint: a capture file, a run directory, or "
            "--interface NAME --for 10s)"
        )
    return capture_of(request.path)


def _observation(request: ProfileArguments) -> Observation:
    """The interface to observe; `--interface` must name one of the machine."""
    if (request.interface is None) == (request.path is None):
        raise RunRefusedError(
            "--for: name one interface (hint: NAME with --netns, or --interface NAME)"
        )
    length_ps = parsed("--for", request.length, TIME) or 0
    if not 0 < length_ps <= LENGTH_PS_MAX:
        raise RunRefusedError(
            "--for: the time must be greater than zero and at most 3600 s (hint: --for 10s)"
        )
    is_named = request.interface is not None
    name = request.interface or str(request.path)
    names = available(NAMESPACES)
    if request.netns is not None and request.netns not in names:
        hint = (
            closest(request.netns, names, "namespaces") if names else "`ip netns list` shows them"
        )
        raise RunRefusedError(f"there is no namespace '{request.netns}' (hint: {hint})")
    return Observation(name, length_ps // PS_PER_NS, request.netns, is_machine_allowed=is_named)


def _warn(data: dict[str, Any]) -> None:
    """Warns of an incomplete profile, with the reason."""
    end, dropped = data["capture"]["end"], data.get("observed", {}).get("dropped_frames", 0)
    if end["state"] != "complete":
        note(
            f"warning: {data['file']}: the capture is {end['state']} at byte "
            f"{end['offset_bytes']} ({end['what']});"
            " the profile is of what is before"
        )
    if dropped:
        note(
            f"warning: {data['file']}: the kernel dropped {dropped} frames, which are missing "
            "in all figures"
        )


def check_page(out: Path) -> None:
    """Refuses a place where no page can be written, before any work is done."""
    refuse_unwritable("--out", out, "profile.html")
    if out.exists() and out.suffix not in (".html", ".htm"):
        raise RunRefusedError(
            f"--out: {out}: this file exists and is no page (hint: a name that ends with .html)"
        )


def _print_result(data: dict[str, Any], out: Path | None, *, json_: bool) -> None:
    """Prints the result, and writes its page."""
    if out:
        write_page(data, out)
        note(f"page: {out}")
    if json_:
        emit_json(data)
    elif not out:
        emit_table(partial(profile_text, data))


def options_of(request: ProfileArguments) -> ProfileOptions:
    """The options; raises `RunRefusedError` for one that is wrong."""
    if request.key is not None and not request.is_anonymous:
        raise RunRefusedError("--key: only --anonymise has a key (hint: add --anonymise)")
    if request.key is not None and not _is_key(request.key):
        raise RunRefusedError(
            f"--key: write {2 * KEY_BYTES} hexadecimal digits (hint: openssl rand -hex {KEY_BYTES})"
        )
    line = parsed("--line", request.line, RATE)
    if line == 0:
        raise RunRefusedError("--line: the speed must be greater than zero (hint: write 10Gbit/s)")
    from_ps, until_ps = (
        (parsed("--from", request.from_, TIME) or 0),
        parsed("--until", request.until, TIME),
    )
    if until_ps is not None and until_ps // PS_PER_NS <= from_ps // PS_PER_NS:
        start = "zero" if request.from_ is None else f"--from ({request.from_})"
        raise RunRefusedError(f"--until: {request.until} is not after {start}")
    return ProfileOptions(
        line_bits_per_s=line,
        from_ns=from_ps // PS_PER_NS,
        until_ns=None if until_ps is None else until_ps // PS_PER_NS,
        key_hex=(request.key or random_key()) if request.is_anonymous else None,
    )


def _is_key(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == KEY_BYTES and len(text) == 2 * KEY_BYTES
    except ValueError:
        return False


def parsed(option: str, text: str | None, dimension: Dimension) -> int | None:
    """The number of an option; raises `RunRefusedError` for a text that is not one."""
    if text is None:
        return None
    try:
        return parse(text, dimension)
    except QuantityError as error:
        raise RunRefusedError(f"{option}: {error}") from None
