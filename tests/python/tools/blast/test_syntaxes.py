"""Files of frames: the three syntaxes say the same, and what cannot be read is refused with its
line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.errors import TailraceError
from tailrace.programs.internet_sum import internet_sum
from tailrace.tools.blast.frames import read_frames, syntax_of

FRAME = bytes.fromhex("020000000002 020000000001 0800") + bytes(range(32, 78))
PLAIN = """# a frame
02:00:00:00:00:02 0200.0000.0001   # to, from
0x0800
"""
PLAIN += FRAME[14:].hex(" ") + "\n"


def dump(frame: bytes, *, start: str = "{:04x}  ", gap: str = "   ") -> str:
    """As Wireshark prints it, with the text beside the bytes."""
    lines = []
    for at in range(0, len(frame), 16):
        part = frame[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(start.format(at) + part.hex(" ").ljust(47) + gap + text)
    return "\n".join(lines) + "\n"


def trafgen(frame: bytes) -> str:
    return "/* a frame */\n{\n  " + ", ".join(f"0x{byte:02x}" for byte in frame) + "\n}\n"


def read(tmp_path: Path, text: str, syntax: str | None = None) -> list[bytes]:
    path = tmp_path / "frames"
    path.write_text(text, encoding="utf-8")
    return read_frames(path, syntax)


def refused(tmp_path: Path, text: str, syntax: str | None = None) -> str:
    with pytest.raises(TailraceError) as caught:
        read(tmp_path, text, syntax)
    return str(caught.value).replace(str(tmp_path), "")


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("plain", PLAIN),
        ("trafgen", trafgen(FRAME)),
        ("hexdump", dump(FRAME)),
        ("hexdump", dump(FRAME, start="{:08x}  ", gap="  |") + f"{len(FRAME):08x}\n"),
        ("hexdump", dump(FRAME, start="{:04x}   ", gap="   ")),
    ],
)
def test_each_syntax_is_known_by_its_beginning_and_gives_the_frame(
    tmp_path: Path, syntax: str, text: str
) -> None:
    assert syntax_of(text) == syntax
    assert read(tmp_path, text) == [FRAME]
    assert read(tmp_path, text, syntax) == [FRAME]


@given(frames=st.lists(st.binary(min_size=14, max_size=300), min_size=1, max_size=4))
def test_frames_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, frames: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("frames")
    assert read(folder, "\n\n".join(frame.hex(":") for frame in frames), "plain") == frames
    assert read(folder, "".join(map(trafgen, frames))) == frames
    assert read(folder, "\n".join(map(dump, frames))) == frames


def test_bytes_are_repeated_and_frames_filled_up(tmp_path: Path) -> None:
    text = "ff*6 00*6 0800 pad=60\n# still the first\nabcd*2\n\n\nff*6 00*6 0806 00"
    assert read(tmp_path, text) == [
        b"\xff" * 6 + bytes(6) + b"\x08\0" + bytes(46) + b"\xab\xcd" * 2,
        b"\xff" * 6 + bytes(6) + b"\x08\x06\0",
    ]


def test_a_character_of_trafgen_is_its_code(tmp_path: Path) -> None:
    assert read(tmp_path, r"{ fill('B', 18), 'a', '\n', '\'', '\x41', const16('C') }") == [
        b"B" * 18 + b"a\n'A\0C"
    ]
    assert ":1: ''ab' }' cannot be read" in refused(tmp_path, "{ 'ab' }", "trafgen")


def test_functions_of_trafgen(tmp_path: Path) -> None:
    header = (
        "0x45, 0, c16(46), c16(0), c16(0x4000), 64, 17, csumip(14, 33), 10, 0, 0, 1, 10, 0, 0, 2"
    )
    text = (
        f'{{ fill(0xff, 6), c32(0x02000000), const16(1), c16(0x0800), {header}, "a\\x41", '
        f"b101, rnd(24) }} // end"
    )
    [frame] = read(tmp_path, text)
    assert len(frame) == 14 + 20 + 2 + 1 + 24
    assert (frame[:14], frame[34:37]) == (
        bytes.fromhex("ffffffffffff 020000000001 0800"),
        b"aA\x05",
    )
    assert internet_sum(frame[14:34]) == 0
    assert read(tmp_path, text) == [frame], "what is drawn is the same each time"


def test_numbers_of_trafgen_are_computed_from_left_to_right(tmp_path: Path) -> None:
    # As trafgen 0.6.8 writes them with --out: it has no precedence of operators.
    text = (
        "{ fill(0, 2 + 5 * 2), c16(2 + 3 * 4), c16(10-2-3), c16(1 | 2 << 3 & 9), c16((5 << 12) "
        "| 2), c16(7 ^ 2 + 1) }"
    )
    assert [frame[14:] for frame in read(tmp_path, text)] == [
        bytes.fromhex("0014 0005 0008 5002 0006")
    ]
    text = "{ fill(0, 14), seqinc(250, 8), seqdec(9, 4, 2), seqdec(1, 3) }"
    assert [frame[14:] for frame in read(tmp_path, text)] == [
        bytes.fromhex("fafbfcfdfeff0001 09070503 0100ff")
    ]


def test_names_and_conditions_of_the_preprocessor(tmp_path: Path) -> None:
    text = """/* as for --cpp */
#define TO 2, 0, 0, \\
  0, 0, 7   /* over
  two lines */
#define SIZE 8 + LESS
#define LESS 4 # of what is left
#ifndef FROM
#define FROM fill(0x22, 6)
#else
{ this is not read, "nor is 'this' }
#endif
#warning "look"
#ifdef LATER
#include <stddef.h>
#endif
{ TO, FROM, c16(SIZE + 2), 0x45,  # a comment, not a directive
#undef LESS
#define LESS 1
  fill('B', SIZE), SELF }
"""
    frame = bytes.fromhex("020000000007 222222222222 000e 45") + b"B" * 9
    assert read(tmp_path, text.replace(", SELF", "")) == [frame]
    assert "/frames:19: there is no function SELF()" in refused(tmp_path, text)
    looping = "/**/\n#define A B\n#define B A\n{ fill(0, 14), A }"
    assert "/frames:4: there is no function A()" in refused(tmp_path, looping)


def test_sums_above_ip_are_those_of_trafgen(tmp_path: Path) -> None:
    """Frames as trafgen 0.6.8 writes them with --out: UDP with a byte more than its length, TCP,
    UDP over IPv6."""
    link = (
        "fill(0xff, 6), 2, 0, 0, 0, 0, 1, c16(0x0800), 0x45, 0, c16({}), c16(2), 0x40, 0, 64, "
        "{}, csumip(14, 33),"
    )
    ends = "198, 18, 1, 66, 198, 18, 1, 1,"
    udp = "c16(9), c16(6666), c16(26), csumudp(14, 34), fill('B', 18), 3"
    tcp = "c16(9), c16(80), c32(1), c32(0), c16((5 << 12) | 2), c16(16), csumtcp(14, 34), c16(0), 7"
    six = "fill(0x33, 12), c16(0x86dd), 0x60, 0, 0, 0, c16(13), 17, 64, fill(1, 16), fill(2, 16), "
    six += "c16(1), c16(2), c16(13), csumudp6(14, 54), 1, 2, 3, 4, 5"
    [first] = read(tmp_path, f"{{ {link.format(46, 17)} {ends} {udp} }}")
    assert (first[24:26].hex(), first[40:42].hex()) == ("ac55", "ffe9")
    [second] = read(tmp_path, f"{{ {link.format(41, 6)} {ends} {tcp} }}")
    assert second[50:52].hex() == "1a10"
    [third] = read(tmp_path, f"{{ {six} }}")
    assert third[60:62].hex() == "deb3"


def test_a_dump_with_long_offsets_is_read_up_to_the_length_of_a_frame(tmp_path: Path) -> None:
    jumbo = bytes(range(256)) * 36
    assert read(tmp_path, dump(jumbo, start="{:08x}  ") + "\n" + dump(FRAME, start="{:08x}  ")) == [
        jumbo,
        FRAME,
    ]
    aggregate = bytes(70_000)
    assert "/frames:1: the frame has 70000 bytes, not 14 to 9238" in refused(
        tmp_path, dump(aggregate)
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "/frames: it has no frame (hint: write bytes"),
        ("# nothing\n\n", "it has no frame"),
        ("ff*6\n0g", "/frames:2: '0g' is not hexadecimal (hint: write bytes of two"),
        ("fff", "'fff' is not hexadecimal"),
        ("ff*6 00*6", "/frames:1: the frame has 12 bytes, not 14 to 9238 (hint: write all bytes"),
        ("ff*99999", "with 'ff*99999' the frame has more than 9238 bytes"),
        ("ff*20 pad=14", "/frames:1: pad=14 is not 20 (what the frame has already) to 9238 bytes"),
        (
            "\n".join(["ff*14\n"] * 513),
            "it has more than 512 frames (hint: --count repeats frames)",
        ),
        ("{ fill(0, 14)", "/frames:1: the packet has no end (hint: close it with })"),
        ("{\n  256,\n}", "/frames:2: 256 is above 255"),
        ("{ fill(1, 2, 3) }", "fill() takes 2 numbers, not 3"),
        ("{\n drnd(4) }", "/frames:2: drnd() changes from frame to frame, which blast does not do"),
        ("{ eth(da=1) }", "eth() makes a header, which is not read"),
        ("{ fil(0, 3) }", "there is no function fil()"),
        ("{ fill(0, x) }", "'x' is not a number"),
        ("{ fill(0, 14), csumip(0, 99) }", "csumip() ends at byte 99 of 16"),
        ("cpu(0): { 1 }", "/frames:1: cpu() gives a packet to one processor (hint: remove it"),
        ("{ dinc(0, 255, 1) }", "seqinc(..) for bytes that count up"),
        ("{ c16(1 - 2) }", "/frames:1: -1 is not 0 to"),
        ("{ c16(1 / 0) }", "'/ 0' has no value of 64 bits"),
        ("{ c16((1) }", "'}' is not a number"),
        ("{ c16(1 +) }", "')' is not a number"),
        ("{ seqinc(1) }", "seqinc() takes 2 numbers, not 1"),
        (
            "{ fill(0, 40),\n csumudp(30, 34) }",
            "/frames:2: csumudp(30, 34) has no IP header before its own",
        ),
        ("{ fill(0, 60), csumtcp6(14, 34) }", "csumtcp6(14, 34) has no IP header before its own"),
        (
            "/**/\n#include <a>\n{ fill(0, 14) }",
            "/frames:2: #include is not read (hint: write the text itself",
        ),
        ("/**/\n#if 1\n{ fill(0, 14) }", "/frames:2: #if is not read"),
        ("/**/\n#define\n", "/frames:2: #define has no name"),
        ("/**/\n#define F(a) a\n", "/frames:2: #define F(..) has arguments"),
        (
            "/**/\n#ifdef A\n{ fill(0, 14) }",
            "/frames:2: the condition has no end (hint: close it with #endif)",
        ),
        ("/**/\n#endif\n", "/frames:2: #endif has no #ifdef before it"),
        (
            "/**/\n#define A 0,0,0,0\n"
            + "".join(
                f"#define {b} {a},{a},{a},{a},{a},{a},{a},{a}\n"
                for a, b in zip("ABCDEF", "BCDEFG", strict=True)
            )
            + "{ G }",
            "G stands for more than 36952 words",
        ),
        ("{ 1; 2 }", "/frames:1: '; 2 }' cannot be read"),
        ("{ c16 7 }", "c16 has no arguments"),
        (
            "0000  ff ff\n0010  00",
            "/frames:2: the line is at offset 0x10, and 0x2 bytes stand before it",
        ),
        ("0000  ff ff\n9 of 10", "/frames:2: '9 of 10' is no line of a hex dump"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, part: str) -> None:
    assert part in refused(tmp_path, text)


def test_files_and_syntaxes_that_do_not_exist(tmp_path: Path) -> None:
    assert "did you mean 'hexdump'?" in refused(tmp_path, PLAIN, "hexdumps")
    with pytest.raises(TailraceError, match="none: the file cannot be read: No such file"):
        read_frames(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(TailraceError, match="not valid UTF-8"):
        read_frames(tmp_path / "bytes")


@given(text=st.text(max_size=200) | st.text(alphabet='{}(),0x1f#/*" \nfilc6rnd:-', max_size=200))
def test_whatever_stands_in_a_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "frames"
    path.write_text(text, encoding="utf-8", errors="replace")
    for syntax in (None, "plain", "trafgen", "hexdump"):
        try:
            assert all(14 <= len(frame) <= 9_238 for frame in read_frames(path, syntax))
        except TailraceError as error:
            assert str(error)  # noqa: PT017  either is right: a frame, or a refusal in words
