"""The counters of interfaces: differences of readings, readings over time, and the table."""

from tailrace.results.ports.interfaces import (
    COUNTERS,
    Row,
    difference,
    format_interfaces,
    rows_of,
    series_of,
)


def row(node: str, first: int, *, name: str = "eth0", errors: int | None = None) -> Row:
    """A host's interface whose counters are `first` and the seven numbers after it, without
    `rx_errors`."""
    counted: dict[str, int | None] = {key: first + at for at, key in enumerate(COUNTERS)}
    counted["rx_errors"] = errors
    return Row(node=node, towards=None, name=name, mtu_bytes=9000, flags="BMRU", **counted)


def test_a_difference_takes_off_what_the_same_interface_had_counted() -> None:
    before = [row("db", 100), row("db", 200, name="eth1")]
    now = [row("db", 107), row("db", 209, name="eth1", errors=3), row("new", 5)]
    first, second = difference(now, before)
    assert (first.interface, first.rx_frames, first.tx_overruns, first.rx_errors) == (
        "db/eth0",
        7,
        7,
        None,
    )
    assert (second.interface, second.rx_frames, second.rx_errors) == ("db/eth1", 9, None)


def test_readings_over_time_have_every_interface_and_no_count_that_the_end_has_not() -> None:
    last = [row("a", 50), row("b", 60, errors=0)]
    table = [
        {"at_ps": at, "interface": interface, **dict.fromkeys(COUNTERS, at + interface)}
        for at in (20, 10)
        for interface in (0, 1)
    ]
    (early, at_10), (late, at_20) = series_of(last, table)
    assert (early, late) == (10, 20)
    assert [(each.node, each.rx_frames, each.rx_errors) for each in at_10] == [
        ("a", 10, None),
        ("b", 11, 11),
    ]
    assert [each.tx_frames for each in at_20] == [20, 21]


def test_the_columns_are_those_of_netstat() -> None:
    # net-tools 1.60, statistics.c: received first; the head is that of other people's machines.
    head, first = format_interfaces([row("db", 1)]).splitlines()
    assert head.split() == (
        [
            "Iface",
            "MTU",
            "Met",
            "RX-OK",
            "RX-ERR",
            "RX-DRP",
            "RX-OVR",
            "TX-OK",
            "TX-ERR",
            "TX-DRP",
            "TX-OVR",
            "Flg",
        ]
    )
    assert first.split() == ["db/eth0", "9000", "0", "1", "-", "3", "4", "5", "6", "7", "8", "BMRU"]
    assert rows_of([]) == []
