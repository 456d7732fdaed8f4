"""EOS: defaults without a public source are told where they are used, and thresholds in units of
the ASIC."""

import pytest

from tailrace.importers.eos.defaults import UNVERIFIED
from tailrace.importers.eos.importer import import_eos
from tailrace.importers.remarks import Remarks
from tailrace.scenario.policies.aqm.red import Red

PORT = "interface Ethernet1\n"
ALONE = "qos map traffic-class 0 1 2 3 4 5 6 7 to tx-queue 0\n"
"""One queue, so that neither the order of queues nor their shares matter."""
RED = "   tx-queue 0\n      random-detect ecn minimum-threshold {} maximum-threshold {} "
PAUSES = "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
TIMEOUT, RECOVERY = (
    f"priority-flow-control pause watchdog default {word} 0.2\n"
    for word in ("timeout", "recovery-time")
)
GUARANTEED = "   tx-queue 0\n      bandwidth guaranteed 1000 kbps\n"
EACH_SHARES = "".join(
    f"   tx-queue {n}\n      no priority\n      bandwidth percent {{}}\n" for n in range(8)
)
HEADER = "! device: leaf1 ({}, EOS-4.28.3M)\n!\n"
USES: dict[str, tuple[str, ...]] = {
    PORT: ("order",),
    ALONE + PORT: (),
    PORT + EACH_SHARES.format(*[12] * 8): (),
    PORT + EACH_SHARES.format(*[20] * 8): ("scaled",),
    PORT + "   tx-queue 7\n      no priority\n": ("below", "equal"),
    ALONE + PORT + RED.format("1 bytes", "2 bytes") + "max-mark-probability 5 weight 0\n": (),
    ALONE + PORT + RED.format("1 bytes", "2 bytes") + "weight 0\n": ("red",),
    ALONE + PORT + RED.format("1 kbytes", "2 kbytes") + "max-mark-probability 5 weight 0\n": (
        "decimal",
    ),
    ALONE + PORT + PAUSES: ("watchdog",),
    ALONE + TIMEOUT + PORT + PAUSES + GUARANTEED: ("recovery",),
    ALONE + TIMEOUT + RECOVERY + PORT + PAUSES + GUARANTEED: (),
    ALONE + TIMEOUT + RECOVERY + PORT + PAUSES: ("guaranteed",),
    ALONE + PORT + "   mtu 9000\ninterface Ethernet2\n   no switchport\n": ("mtu",),
    ALONE + PORT + "   mtu 9000\n": (),
    HEADER.format("DCS-7060CX-32S-F")
    + ALONE
    + PORT
    + RED.format("10 segments", "20 segments")
    + "max-mark-probability 5 weight 0\n": ("segment",),
}


def unverified(remarks: Remarks) -> set[str]:
    """Keys of the defaults that were told."""
    words = {told: key for key, told in UNVERIFIED.items()}
    mark = "default of EOS without a public source: "
    return {
        words[one.words.removeprefix(mark)] for one in remarks.found if one.words.startswith(mark)
    }


@pytest.mark.parametrize("text", USES)
def test_a_default_without_a_source_is_told_where_it_is_used(text: str) -> None:
    section, remarks = import_eos(text)
    assert section.is_sound, remarks.found
    assert unverified(remarks) == set(USES[text])


def test_every_default_without_a_source_has_a_case() -> None:
    assert {key for used in USES.values() for key in used} == set(UNVERIFIED)


SEGMENTS = (
    PORT + RED.format("2000 segments", "10000 segments") + "max-mark-probability 20 weight 0\n"
)


@pytest.mark.parametrize(
    ("model", "size_bytes"),
    [
        ("DCS-7050QX-32S", 208),
        ("DCS-7050CX3-32S", 256),
        ("DCS-7060CX-32S-F", 208),
        ("DCS-7260CX3-64E", 208),
        ("DCS-7060DX5-64S", 254),
        ("DCS-7060X6-64PE", 254),
    ],
)
def test_segments_are_cells_of_the_model_in_the_header(model: str, size_bytes: int) -> None:
    section, remarks = import_eos(HEADER.format(model) + SEGMENTS)
    policies, switch = section.models()
    red = policies[switch.policy].queues["q0"].aqm
    assert isinstance(red, Red)
    assert (red.minimum, red.maximum) == (2000 * size_bytes, 10_000 * size_bytes)
    assert any(f"cells of {size_bytes} bytes" in one.words for one in remarks.found)
    assert remarks.is_complete


@pytest.mark.parametrize("header", ["", HEADER.format("DCS-7280QR-C36"), HEADER.format("vEOS")])
def test_segments_of_an_unknown_asic_are_told_with_their_line(header: str) -> None:
    section, remarks = import_eos(header + SEGMENTS)
    assert "aqm" not in section.policies["eos"]["queues"]["q0"]
    (told,) = (one for one in remarks.found if one.verdict == "not-modelled")
    assert told.line == 3 + header.count("\n")
    assert "whose size is unknown" in told.words


def test_times_are_told_as_sizes_for_each_rate() -> None:
    text = PORT + RED.format("3 milliseconds", "9 milliseconds") + "max-mark-probability 90\n"
    section, remarks = import_eos(HEADER.format("DCS-7060CX-32S") + text)
    assert "aqm" not in section.policies["eos"]["queues"]["q0"]
    (told,) = (one for one in remarks.found if one.verdict == "not-modelled")
    assert told.line == 5
    assert "375kB and 1125kB for each Gbit/s" in told.words
    _, remarks = import_eos(PORT + RED.format("1 microseconds", "9 kbytes"))
    assert any("125B and 9 kbytes for each" in one.words for one in remarks.found)


@pytest.mark.parametrize(
    ("amount", "reserved"),
    [("cells 10", "2080B"), ("cells 0", None), ("bytes 2000", "2kB"), ("2000", "2kB")],
)
def test_reserved_cells_have_the_size_of_the_model(amount: str, reserved: str | None) -> None:
    profile = "platform trident mmu queue profile P"
    text = f"{profile}\n   egress unicast queue 0 reserved {amount}\n{profile} apply\n{PORT}"
    section, remarks = import_eos(HEADER.format("DCS-7260CX3-64") + text)
    assert section.policies["eos"]["queues"]["q0"].get("reserved") == reserved
    assert remarks.is_complete
    _, remarks = import_eos(text)
    assert remarks.is_complete is (amount != "cells 10")


def test_thresholds_of_other_colours_are_told() -> None:
    line = (
        "      random-detect drop drop-precedence 1 minimum-threshold 2 kbytes "
        "maximum-threshold 9 kbytes"
    )
    _, remarks = import_eos(f"{PORT}   tx-queue 0\n{line} drop-probability 50 weight 10\n")
    assert [one.words for one in remarks.found if one.verdict == "not-modelled"] == [
        "thresholds of yellow and red frames: the model has no colours"
    ]
