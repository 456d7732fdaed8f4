"""A capture file, profiled by the native module."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError, reason_of
from tailrace.experiment.native import Columns, values
from tailrace.experiment.waiting import interruptible
from tailrace.files import opened

KEY_BYTES = 16
"""Of the key of anonymous addresses (SipHash)."""
ROWS_MAX = 200_000
"""Rows of each table by default; further rows are counted."""
PS_PER_NS = 1000


@dataclass(frozen=True)
class ProfileOptions:
    """Options of a profile; times count from the first frame of the file."""

    line_bits_per_s: int | None = None
    """Speed of the line; None: the speed that the capture states for its first interface."""
    from_ns: int = 0
    until_ns: int | None = None
    rows_max: int = ROWS_MAX
    key_hex: str | None = None
    """Key of anonymous addresses, 32 hexadecimal digits; None: addresses as they are."""

    def to_json(self) -> str:
        """As the native module reads them."""
        return json.dumps(
            {
                "line_bps": self.line_bits_per_s,
                "from_ns": self.from_ns,
                "until_ns": self.until_ns,
                "rows_max": self.rows_max,
                "key_hex": self.key_hex,
            }
        )


@dataclass(frozen=True)
class Profile:
    """The profile of one capture."""

    data: dict[str, Any]
    """As docs/models/profile.md describes it; keys end with their units."""
    tables: Mapping[str, Columns] = field(default_factory=dict, repr=False)

    def columns(self, table: str) -> dict[str, Sequence[int]]:
        """The numbers of a table by column; addresses are indices.

        Tables: `connections`, `exchanges`, `datagram_flows` and `datagrams`.
        """
        return values(self.tables[table])

    @cached_property
    def addresses(self) -> list[IPv4Address | IPv6Address]:
        """The addresses to which the tables point."""
        halves = self.columns("addresses")
        return [
            _address(high << 64 | low)
            for high, low in zip(halves["high"], halves["low"], strict=True)
        ]


def random_key() -> str:
    """A key for anonymous addresses that no other call has."""
    return secrets.token_hex(KEY_BYTES)


def profile_capture(path: Path, options: ProfileOptions) -> Profile:
    """Profiles a file; raises `RunRefusedError` when it is no capture or an option is wrong.

    A capture that ends early or is damaged has a profile of its readable part: `capture.end` states
    where it ended.
    """
    _check(path)
    return _profiled(path, str(path), path.name, options)


def profile_stream(descriptor: int, name: str, options: ProfileOptions) -> Profile:
    """Profiles the data of an open pipe until its end; raises as `profile_capture` does."""
    return _profiled(Path(f"/proc/self/fd/{descriptor}"), name, name, options)


def _profiled(path: Path, source: str, name: str, options: ProfileOptions) -> Profile:
    from tailrace import _native

    try:
        text, tables = interruptible(lambda: _native.profile_capture(str(path), options.to_json()))
    except _native.CaptureError as error:
        raise RunRefusedError(f"{source}: {error}") from None
    return Profile({"file": name, **json.loads(text)}, tables)


def _check(path: Path) -> None:
    """Refuses a file that is not readable, in the words of the other commands."""
    try:
        if not path.is_fifo():  # a capture may be read while it is written
            with opened(path):
                pass
    except FileNotFoundError as error:
        raise RunRefusedError(f"{path}: {reason_of(error)}") from None
    except (OSError, ValueError) as error:
        raise RunRefusedError(
            f"{path}: {reason_of(error)} (hint: name a pcap or pcapng file)"
        ) from None


def _address(number: int) -> IPv4Address | IPv6Address:
    address = IPv6Address(number)
    return address.ipv4_mapped or address
