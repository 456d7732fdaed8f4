"""Every kind of nonsense is refused with the key, the reason and a hint."""

from pathlib import Path

import pytest

from lab import load, problems, sound
from tailrace.errors import ScenarioError
from tailrace.scenario.loading import load_scenario

ORDERS = "workloads__orders__"
QUEUES = "policies__dpp__queues__"
FLOWS = {"kind": "flows", "sizes": "web-search", "load": "50%"}
DATAGRAMS = {
    "kind": "datagrams",
    "source": "db",
    "destination": "client",
    "sizes": "100B",
    "interarrival": "1us",
}
GRAPH = {"hosts": ["client", "db", "bulk"], "switches": ["leaf", "far"]}
LINKS = [
    {"between": ["client", "leaf"]},
    {"between": ["db", "leaf"]},
    {"between": ["bulk", "leaf"]},
]


def test_the_sound_scenario_is_sound() -> None:
    assert problems(sound()) == []


@pytest.mark.parametrize(
    ("path", "value", "key", "what"),
    [
        # keys and kinds
        ("nme", "x", "nme", "unknown key"),
        (ORDERS + "userz", 3, "workloads.orders.userz", "did you mean 'users'?"),
        (ORDERS + "kind", "oltpp", "workloads.orders.kind", "there is no kind 'oltpp'"),
        (ORDERS + "kind", ..., "workloads.orders", "`kind` is missing"),
        (ORDERS + "users", ..., "workloads.orders.users", "it is missing"),
        (ORDERS + "users", "4", "workloads.orders.users", "not a whole number"),
        (ORDERS + "users", 0, "workloads.orders.users", "write at least 1"),
        (ORDERS + "users", True, "workloads.orders.users", "not a whole number"),
        (ORDERS + "priority", 8, "workloads.orders.priority", "write at most 7"),
        (ORDERS + "gap", 7, "workloads.orders.gap", "7 has no unit"),
        (ORDERS + "gap_from", "middle", "workloads.orders.gap_from", "not one of the choices"),
        (ORDERS + "round_trips", [], "workloads.orders.round_trips", "at least 1"),
        (
            ORDERS + "round_trips",
            [{"response": "1kB"}, {"response": "50MB", "write": "1B"}],
            "workloads.orders.round_trips.1.write",
            "1 B cuts a response of 50 MB into 50000000 pieces, more than 262144 (hint: write "
            "at least 191B)",
        ),
        (
            ORDERS + "round_trips",
            [{"response": "1kB", "repeat": 1000}] * 11,
            "workloads.orders.round_trips",
            "a transaction of 11000 statements has more than 10000",
        ),
        (ORDERS + "round_trips", "18kB", "workloads.orders.round_trips", "expected a list"),
        ("workloads", {}, "workloads", "the scenario has no workloads"),
        ("workloads", [1], "workloads", "a mapping of keys"),
        ("tailrace", 2, "tailrace", "not one of the choices"),
        ("name", "a b", "name", "not a name"),
        ("experiment__duration", ..., "experiment.duration", "it is missing"),
        ("hosts__client__tcp__ecn", "perhaps", "hosts.client.tcp.ecn", "neither true nor false"),
        (
            "hosts__client__tcp__congestion_control",
            "vegas",
            "hosts.client.tcp.congestion_control",
            "one of",
        ),
        # network
        (
            "network__topology__hosts",
            ["client", "db", "bulk", "db"],
            "network",
            "two nodes have the name 'db'",
        ),
        ("network__topology__switch", "db", "network", "two nodes have the name 'db'"),
        ("network__link__rate", "0Gbit/s", "network.link.rate", "`rate` must be greater than zero"),
        (
            "network__links",
            [{"between": ["client", "lef"]}],
            "network.links.0.between.1",
            "there is no node 'lef'",
        ),
        ("network__links", [{"between": ["leaf", "leaf"]}], "network.links.0.between", "to itself"),
        (
            "network__links",
            [{"between": ["leaf", "db"], "rate": "0bit/s"}],
            "network.links.0.rate",
            "zero",
        ),
        (
            "network__links",
            [{"between": ["leaf", "db"], "loss": "101%"}],
            "network.links.0.loss",
            "a link loses at most every frame",
        ),
        (
            "network__links",
            [{"between": ["client", "db"], "loss": "1%"}],
            "network.links.0.loss",
            "no switch that counts",
        ),
        (
            "network__links",
            [{"between": ["leaf", "db"], "loss_of": "later-fragments"}],
            "network.links.0.loss_of",
            "`loss_of` needs `loss`",
        ),
        ("network__links", [{"between": ["leaf"]}], "network.links.0.between", "at least 2"),
        ("network__hosts", ["alone"], "network.hosts", "host 'alone' has no link"),
        ("network__switches", ["alone"], "network.switches", "switch 'alone' has no link"),
        (
            "network__links",
            [{"between": ["client", "db"]}],
            "network.links",
            "host 'client' has 2 links",
        ),
        ("network__topology__hosts", 0, "network.topology.hosts", "0 is not a number of hosts"),
        ("network__topology__hosts", ["a b"], "network.topology.hosts", "not a name"),
        (
            "network__topology",
            {"kind": "fat-tree", "k": 3},
            "network.topology.k",
            "not an even number",
        ),
        ("network__topology", {"kind": "fat-tree", "k": 100}, "network.topology", "262500 nodes"),
        ("network__topology", ..., "network", "no hosts"),
        (
            "network__topology",
            {"kind": "leaf-spine", "leaves": 2, "spines": 0, "hosts_per_leaf": 2},
            "network.topology.spines",
            "at least one of spines",
        ),
        (
            "network__topology",
            {
                "kind": "dumbbell",
                "left": ["client"],
                "right": ["db", "bulk"],
                "bottleneck_rate": "0bit/s",
            },
            "network.topology.bottleneck_rate",
            "rate` must be greater than zero",
        ),
        # hosts
        ("hosts__clint", {}, "hosts.clint", "did you mean 'client'?"),
        (
            "hosts__db__ip",
            {"reassembly_timeout": "1500ms"},
            "hosts.db.ip.reassembly_timeout",
            "1 to 3600 whole seconds",
        ),
        (
            "hosts__db__ip",
            {"reassembly_memory": "65535B"},
            "hosts.db.ip.reassembly_memory",
            "write at least 65536B",
        ),
        (
            "hosts__db__ip",
            {"reassembly_distance": 65537},
            "hosts.db.ip.reassembly_distance",
            "65536",
        ),
        ("hosts__client__mtu", "28B", "hosts.client.mtu", "no room for headers"),
        ("hosts__defaults__mtu", "9217B", "hosts.defaults.mtu", "larger than switches support"),
        (
            "hosts__client__nic__queue",
            "1000B",
            "hosts.client.nic.queue",
            "`queue` is smaller than one frame",
        ),
        (
            "hosts__client__nic__rx_ring",
            "0 frames",
            "hosts.client.nic.rx_ring",
            "must be greater than zero",
        ),
        (
            "hosts__client__tcp__receive_buffer",
            "1kB",
            "hosts.client.tcp.receive_buffer",
            "smaller than one packet",
        ),
        (
            "hosts__client__tcp__send_buffer",
            {"initial": "2MB", "maximum": "1MB"},
            "hosts.client.tcp.send_buffer",
            "the maximum is below",
        ),
        (
            "hosts__client__tcp__window_cap",
            "1kB",
            "hosts.client.tcp.window_cap",
            "less than one segment of 1448 bytes",
        ),
        ("hosts__client__nic__tso", "1kB", "hosts.client.nic.tso", "less than one segment"),
        ("hosts__client__tcp__rto_min", "0s", "hosts.client.tcp", "rto_min"),
        (
            "hosts__client__tcp",
            {"congestion_control": "new-reno", "slow_start_exit": "hystart"},
            "hosts.client.tcp.slow_start_exit",
            "hystart requires cubic, but congestion_control is new-reno",
        ),
        (
            "hosts__client__tcp",
            {"congestion_control": "bbr", "slow_start_exit": "hystart-plus-plus"},
            "hosts.client.tcp.slow_start_exit",
            "bbr has no slow start that could end early",
        ),
        (
            "hosts__client__tcp",
            {"congestion_control": "bbr", "growth": "acknowledgements"},
            "hosts.client.tcp.growth",
            "does not grow by acknowledgements",
        ),
        # switches and policies
        ("switches__leef", {}, "switches.leef", "did you mean 'leaf'?"),
        ("switches__leaf__policy", "ddp", "switches.leaf.policy", "did you mean 'dpp'?"),
        ("switches__leaf__buffer", "0B", "switches.leaf.buffer", "must be greater than zero"),
        (
            "switches__leaf__buffer",
            "400kB",
            "switches.leaf.policy",
            "may hold 500 kB, but the switch has a buffer",
        ),
        (QUEUES + "express__limit", "4GB", "switches.leaf.policy", "may hold 4 GB"),
        ("switches__leaf__ports", {"far": "dpp"}, "switches.leaf.ports.far", "no link joins"),
        (
            "switches__leaf__port_mtu",
            {"far": "1500B"},
            "switches.leaf.port_mtu.far",
            "no link joins",
        ),
        (
            "switches__leaf__mtu",
            "575B",
            "switches.leaf.mtu",
            "575B is out of range (hint: write at least 576B)",
        ),
        (
            "switches__leaf__mtu",
            "9217B",
            "switches.leaf.mtu",
            "9217B is out of range (hint: write at most 9216B)",
        ),
        (
            "switches__leaf__ports",
            {"db": "none"},
            "switches.leaf.ports.db",
            "there is no policy 'none'",
        ),
        (QUEUES + "normal", {"share": "101%"}, "policies.dpp.queues", "add up to 101 %"),
        (
            QUEUES + "normal",
            {"share": "5%", "strict": 2},
            "policies.dpp.queues.normal",
            "either strict or",
        ),
        (QUEUES + "bulk", {"share": "100%"}, "policies.dpp.queues.normal", "left without a share"),
        (
            QUEUES + "normal",
            {"limit": "0B"},
            "policies.dpp.queues.normal.limit",
            "must be greater than zero",
        ),
        (
            QUEUES + "normal",
            {"limit": "dynamic(x)"},
            "policies.dpp.queues.normal.limit",
            "not a factor",
        ),
        (
            QUEUES + "normal",
            {"limit": "dynamic(999)"},
            "policies.dpp.queues.normal.limit",
            "outside",
        ),
        (QUEUES + "normal", {"strict": 9}, "policies.dpp.queues.normal.strict", "write at most 8"),
        (
            QUEUES + "normal",
            {"aqm": {"kind": "red", "minimum": "2MB", "maximum": "1MB"}},
            "policies.dpp.queues.normal.aqm",
            "the minimum is above the maximum",
        ),
        (
            "policies__dpp__priorities",
            {3: "gold"},
            "policies.dpp.priorities.3",
            "there is no queue 'gold'",
        ),
        (
            "policies__dpp__priorities",
            {9: "normal"},
            "policies.dpp.priorities.9",
            "write at most 7",
        ),
        (
            QUEUES + "voice",
            {"strict": 2},
            "policies.dpp.queues.voice",
            "no frame can enter queue 'voice'",
        ),
        (
            "policies__dpp__priorities",
            dict.fromkeys(range(8), "express"),
            "policies.dpp.queues.normal",
            "no frame can enter",
        ),
        (
            "policies__dpp__dpp__express",
            "fast",
            "policies.dpp.dpp.express",
            "there is no queue 'fast'",
        ),
        (QUEUES + "express", {}, "policies.dpp.dpp.express", "is not strict"),
        (
            "policies__dpp__dpp__table_entries",
            1000,
            "policies.dpp.dpp.table_entries",
            "not a power of two",
        ),
        # workloads
        (ORDERS + "server", "dbb", "workloads.orders.server", "did you mean 'db'?"),
        (ORDERS + "server", "leaf", "workloads.orders.server", "is a switch, not a host"),
        (ORDERS + "server", "client", "workloads.orders", "both ends are host 'client'"),
        (ORDERS + "transactions", 0, "workloads.orders.transactions", "must be greater than zero"),
        (
            ORDERS + "warmup_transactions",
            100,
            "workloads.orders.warmup_transactions",
            "belong to the warm-up",
        ),
        (
            ORDERS + "round_trips",
            [{"response": "1kB", "server_time": "1h"}],
            "workloads.orders.round_trips.0.server_time",
            "is not shorter than the trial",
        ),
        (
            ORDERS + "round_trips",
            [{"response": "0B"}],
            "workloads.orders.round_trips.0.response",
            "`response` must be greater than zero",
        ),
        (
            ORDERS + "round_trips",
            [{"response": "1kB", "consume_rate": "0bit/s"}],
            "workloads.orders.round_trips.0.consume_rate",
            "rate` must be greater than zero",
        ),
        ("workloads__backup__size", "0B", "workloads.backup.size", "must be greater than zero"),
        ("workloads__backup__start", "6s", "workloads.backup.start", "after the end"),
        (
            "workloads__backup__pin_forward",
            ["client"],
            "workloads.backup.pin_forward",
            "no link joins",
        ),
        (
            "workloads__web",
            {**FLOWS, "interarrival": "1ms"},
            "workloads.web",
            "either load or interarrival",
        ),
        (
            "workloads__web",
            {**FLOWS, "sizes": "0B"},
            "workloads.web.sizes",
            "must be greater than zero",
        ),
        ("workloads__web", {**FLOWS, "load": "0%"}, "workloads.web.load", "is out of range"),
        (
            "workloads__web",
            {**FLOWS, "sources": ["db"], "destinations": ["db"]},
            "workloads.web",
            "has no destination but itself",
        ),
        (
            "workloads__web",
            {"kind": "flows", "sizes": "1MB", "interarrival": "0s"},
            "workloads.web.interarrival",
            "must be greater than zero",
        ),
        (
            "workloads__web",
            {**FLOWS, "sources": ["dbx"]},
            "workloads.web.sources.0",
            "did you mean 'db'?",
        ),
        (
            "workloads__web",
            {**FLOWS, "sources": []},
            "workloads.web.sources",
            "the list of hosts is empty",
        ),
        (
            "workloads__dns",
            {**DATAGRAMS, "sizes": "65508B"},
            "workloads.dns.sizes",
            "at most 65507 bytes",
        ),
        (
            "workloads__dns",
            {**DATAGRAMS, "interarrival": "0s"},
            "workloads.dns.interarrival",
            "must be greater than zero",
        ),
    ],
)
def test_nonsense_is_refused(path: str, value: object, key: str, what: str) -> None:
    found = problems(sound(**{path: value}))
    assert any(problem.startswith(key) and what in problem for problem in found), found


def test_a_large_wrong_value_is_not_printed_whole() -> None:
    [problem] = problems(sound(network__topology=list(range(1000))))
    assert len(problem) < 200


def test_a_rule_finds_one_problem_and_not_a_crowd() -> None:
    assert len(problems(sound(workloads__orders__server="dbb"))) == 1
    assert len(problems(sound(policies__dpp__queues__express__limit="4GB"))) == 1


def test_unjoined_parts_of_a_graph_are_told_apart() -> None:
    links = [*LINKS[:1], {"between": ["db", "far"]}, {"between": ["bulk", "far"]}]
    found = problems(sound(network={**GRAPH, "links": links}))
    assert any("no path leads from 'client' to 'db'" in problem for problem in found)
    flows = {**FLOWS, "sources": ["db"], "destinations": "all"}
    found = problems(sound(network={**GRAPH, "links": links}, workloads={"web": flows}))
    assert found == [
        "workloads.web: no path leads from 'db' to 'client' (hint: join their switches in "
        "network.links)"
    ]


def test_joined_hosts_of_a_graph_are_sound() -> None:
    network = {
        "hosts": ["a", "b"],
        "switches": ["leaf"],
        "links": [{"between": ["a", "leaf"]}, {"between": ["b", "leaf"]}],
    }
    workloads = {"x": {"kind": "stream", "source": "a", "destination": "b"}}
    sound_graph = sound(network=network, workloads=workloads)
    assert problems(sound_graph) == []


def test_all_problems_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(
        """\
tailrace: 1
name: many
network:
  topology: {kind: star, hosts: [client, db]}
hosts:
  client: {mtu: 9000}
  server: {}
policies:
  odd:
    {queues: {a: {share: 70%}, b: {share: 40%}}, priorities: {1: b}}
workloads:
  orders: {kind: oltp, client: client, server: db, users: none, round_trips: [{response: 1kB}]}
  backup: {kind: stream, source: db, destination: nobody}
experiment: {}
""",
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError) as refused:
        load_scenario(path)
    told = str(refused.value).replace(f"{tmp_path}/", "").splitlines()
    assert [line.split(" ")[:2] for line in told] == [
        ["many.yaml:6:", "hosts.client.mtu:"],
        ["many.yaml:7:", "hosts.server:"],
        ["many.yaml:10:", "policies.odd.queues:"],
        ["many.yaml:12:", "workloads.orders.users:"],
        ["many.yaml:13:", "workloads.backup.destination:"],
        ["many.yaml:14:", "experiment.duration:"],
    ]


def test_a_problem_of_an_arm_stands_on_the_line_of_the_arm(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(
        """\
tailrace: 1
name: arm
network: {topology: {kind: star, hosts: 2}}
workloads: {x: {kind: stream, source: h1, destination: h2}}
arms:
  base: {}
  jumbo:
    hosts.defaults.mtu: 90000B
experiment: {duration: 1s}
""",
        encoding="utf-8",
    )
    with pytest.raises(
        ScenarioError, match=r"arm\.yaml:8: hosts\.defaults\.mtu: an MTU of 90000 bytes"
    ):
        load_scenario(path)


def test_the_command_line_wins_over_the_file_and_arms_over_both() -> None:
    loaded = load_scenario(sound(), {"switches.leaf.policy": "fifo", "workloads.orders.users": 7})
    assert loaded.arms["dpp"].switch("leaf").policy == "fifo"
    assert loaded.arms["dpp"].workloads["orders"].users == 7  # type: ignore[attr-defined]  # it is an OLTP workload
    assert (
        load_scenario(
            sound(arms={"a": {"switches.leaf.policy": "dpp"}}), {"switches.leaf.policy": "fifo"}
        )
        .arms["a"]
        .switch("leaf")
        .policy
        == "dpp"
    )


def test_own_settings_stand_on_the_defaults_key_by_key() -> None:
    loaded = load(
        hosts={
            "defaults": {"mtu": "9000B", "tcp": {"ecn": True, "initial_window": 20}},
            "db": {"tcp": {"initial_window": 5}},
        }
    )
    db = loaded.scenario.host("db")
    assert (db.mtu, db.tcp.ecn, db.tcp.initial_window) == (9000, True, 5)
    assert loaded.scenario.host("client").tcp.initial_window == 20
