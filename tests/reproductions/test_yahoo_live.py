"""The measured half of the comparison of virtual switches: its page, and the relay of the
guests."""

import json
import os
import socket
import struct
import threading

import pytest

import live_guests
import live_page
import live_vhost_relay as vhost

CLIENT = """rtt min/avg/max/mdev = 0.100/0.221/0.315/0.019 ms
  Latency Distribution
     50%  980.00us
     99%   68.41ms
  7385 requests in 4.09s, 4.13MB read
Requests/sec:   1806.44
GUEST ENDS switches 7381
"""


def test_the_page_is_what_its_script_writes() -> None:
    live = json.loads(live_page.LIVE.read_text(encoding="utf-8"))
    guests = json.loads(live_page.GUESTS.read_text(encoding="utf-8"))
    assert live_page.PAGE.read_text(encoding="utf-8") == live_page.page(
        live_page.ordered(live), guests
    )


def test_what_a_guest_prints_is_read() -> None:
    assert live_guests.read(CLIENT) == {
        "requests": 7385,
        "rate_per_s": 1806.44,
        "p50_ms": 0.98,
        "p99_ms": 68.41,
        "round_trip_ms": 0.221,
        "client_switches": 7381,
    }
    with pytest.raises(ValueError, match="did not print"):
        live_guests.read("no route to host")


def test_the_relay_clears_features_and_passes_everything_else_with_its_files() -> None:
    guest, front = socket.socketpair()
    switch, back = socket.socketpair()
    passing = threading.Thread(target=vhost.relay, args=(front, back))
    passing.start()
    with guest, switch, front, back:
        read_end, write_end = os.pipe()
        vhost.Message(13, 1, b"12345678", [write_end]).send(guest)
        passed = vhost.Message.receive(switch)
        assert passed is not None
        assert (passed.request, passed.body, len(passed.files)) == (13, b"12345678", 1)
        os.write(passed.files[0], b"x")
        assert os.read(read_end, 1) == b"x"
        os.close(passed.files[0])
        os.close(read_end)
        vhost.Message(vhost.GET_FEATURES, 5, struct.pack("<Q", 2**40 - 1), []).send(switch)
        told = vhost.Message.receive(guest)
        assert told is not None
        assert struct.unpack("<Q", told.body) == (vhost.KEPT,)
        guest.shutdown(socket.SHUT_RDWR)
        passing.join(10)
        assert not passing.is_alive()
