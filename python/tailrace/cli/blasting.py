"""`tailrace blast`."""

from pathlib import Path

from tailrace.cli.blast_arguments import BlastArguments
from tailrace.cli.codes import DONE
from tailrace.cli.console import emit_json, emit_table
from tailrace.errors import RunRefusedError, closest
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.tools.blast import report
from tailrace.tools.blast.frames import read_frames
from tailrace.tools.blast.sending import HOST_INTERFACE, Sending, SendingInterface, available, send
from tailrace.tools.blast.sizes import parse_sizes, resized

NAMESPACES = Path("/run/netns")
DEFAULT_LENGTH = "10s"
LENGTH_PS_MAX = 3600 * 10**12
DELAY_PS_MAX = 10 * 10**12


def blast_frames(wanted: BlastArguments, *, json_: bool) -> int:
    """Sends, prints, and returns the exit code."""
    interface = _sending_interface(wanted)
    sending = _sending(wanted)
    frames = read_frames(wanted.file, wanted.syntax)
    sizes = parse_sizes(wanted.sizes) if wanted.sizes else []
    rounds = [[resized(frame, size) for frame in frames] for size in sizes] or [frames]
    found = report.as_data(list(send(interface, sending, rounds)))
    if json_:
        emit_json(found)
    else:
        emit_table(lambda: report.as_text(found))
    return DONE


def _sending_interface(wanted: BlastArguments) -> SendingInterface:
    """The interface that sends; one of the machine must be named and confirmed."""
    if wanted.host is not None:
        for option, value in (("--netns", wanted.netns), ("--yes", wanted.is_yes or None)):
            if value is not None:
                raise RunRefusedError(
                    f"--host and {option} exclude each other (hint: omit {option})"
                )
        return SendingInterface(wanted.interface or HOST_INTERFACE, wanted.host, wanted.fabric)
    if wanted.fabric is not None:
        raise RunRefusedError(
            "--fabric without --host (hint: name the host that sends with --host)"
        )
    if wanted.interface is None:
        raise RunRefusedError(
            "no interface is named (hint: --host HOST of a fabric, or "
            "--netns NAME --interface NAME)"
        )
    if wanted.netns is None and not wanted.is_yes:
        raise RunRefusedError(
            f"{wanted.interface} is an interface of this machine: frames could leave it "
            "(hint: add --yes if that is meant, or choose --netns NAME or --host HOST)"
        )
    names = available(NAMESPACES)
    if wanted.netns is not None and wanted.netns not in names:
        hint = (
            closest(wanted.netns, names, "namespaces")
            if names
            else f"`ip netns add {wanted.netns}` makes one"
        )
        raise RunRefusedError(f"there is no namespace '{wanted.netns}' (hint: {hint})")
    return SendingInterface(
        wanted.interface, namespace=wanted.netns, is_machine_allowed=wanted.is_yes
    )


def _sending(wanted: BlastArguments) -> Sending:
    if wanted.delay is not None and wanted.rate is not None:
        raise RunRefusedError("--delay and --rate exclude each other (hint: choose one)")
    delay_ps = _time("--delay", wanted.delay or "0s", 0, DELAY_PS_MAX)
    length_ps = _time("--for", wanted.length or DEFAULT_LENGTH, 1000, LENGTH_PS_MAX)
    return Sending(
        wanted.threads, delay_ps, wanted.rate, wanted.count, length_ps, is_queued=wanted.is_queued
    )


def _time(option: str, text: str, least: int, most: int) -> int:
    try:
        value = parse(text, TIME)
    except QuantityError as error:
        raise RunRefusedError(f"{option}: {error.what} (hint: {error.hint})") from None
    if not least <= value <= most:
        raise RunRefusedError(
            f"{option}: {text} is not between {least // 1000} ns and {most // 10**12} s"
        )
    return value
