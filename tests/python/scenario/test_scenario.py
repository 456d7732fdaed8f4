"""What a scenario works out once follows its parts."""

from lab import load
from tailrace.scenario.network.host import Host
from tailrace.scenario.network.network import Network
from tailrace.scenario.policies.switch import Switch


def test_a_host_without_settings_shares_the_defaults_and_others_have_their_own() -> None:
    scenario = load(hosts__defaults__mtu="9000B", hosts__db__mtu="1500B").scenario
    assert [scenario.host(name).mtu for name in ("client", "db", "bulk")] == [9000, 1500, 9000]
    assert scenario.host("client") is scenario.host("bulk")
    assert scenario.host("db") is scenario.host("db")


def test_the_largest_frame_is_that_of_the_hosts_of_the_network() -> None:
    assert load(hosts__db__mtu="9000B").scenario.frame_bytes == 9014
    every = {f"hosts__{name}__mtu": "1000B" for name in ("client", "db", "bulk")}
    assert load(**every, hosts__defaults__mtu="9000B").scenario.frame_bytes == 1014
    assert load(workloads__orders__vlan=7).scenario.frame_bytes == 1518


def test_a_copy_with_another_part_works_it_out_again() -> None:
    scenario = load(hosts__db__mtu="9000B").scenario
    assert (scenario.frame_bytes, len(scenario.graph.hosts), scenario.switch("leaf").buffer) == (
        9014,
        3,
        4_000_000,
    )
    same = scenario.model_copy(update={"workloads": dict(scenario.workloads)})
    assert same.graph is scenario.graph
    hosts = scenario.model_copy(update={"hosts": {"client": Host.model_validate({"mtu": "4000B"})}})
    assert (hosts.frame_bytes, hosts.host("db").mtu, hosts.host("client").mtu) == (4014, 1500, 4000)
    network = Network.model_validate({"topology": {"kind": "star", "hosts": 2}})
    other = scenario.model_copy(update={"network": network})
    assert (other.graph.hosts, other.frame_bytes) == (["h1", "h2"], 1514)
    switches = scenario.model_copy(
        update={"switches": {"leaf": Switch.model_validate({"buffer": "7B"})}}
    )
    assert switches.switch("leaf").buffer == 7
