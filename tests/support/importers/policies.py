"""Random policies, in what both scenarios and vendors can say."""

from typing import Any

from hypothesis import strategies as st

from tailrace.scenario.policies.switch import Policy, Switch

NAMES = ("express", "lan", "storage", "gold", "bulk", "voice", "backup", "q5")
Yaml = dict[str, Any]
Drawn = tuple[Policy, Switch]

sizes = st.integers(1, 5_000_000).map(lambda size: f"{size}B")
rates = st.sampled_from(["1Mbit/s", "500Mbit/s", "1Gbit/s", "2500Mbit/s", "40Gbit/s", "8kbit/s"])
percents = st.integers(0, 100).map(lambda percent: f"{percent}%")


@st.composite
def thresholds(draw: st.DrawFn) -> Yaml:
    """Minimum below maximum."""
    low, high = sorted(
        draw(st.lists(st.integers(0, 9_000_000), min_size=2, max_size=2, unique=True))
    )
    return {"minimum": f"{low}B", "maximum": f"{high}B", "probability": draw(percents)}


@st.composite
def red(draw: st.DrawFn, *, is_plain: bool) -> Yaml:
    """WRED; a plain one has no average and no thresholds of its own for frames that cannot be
    marked."""
    made = {"kind": "red", **draw(thresholds()), "ecn": draw(st.booleans())}
    made["weight_exponent"] = 0 if is_plain else draw(st.integers(0, 15))
    if not is_plain and draw(st.booleans()):
        made["not_capable"] = draw(thresholds())
    return made


def limits(vendor: str) -> st.SearchStrategy[str]:
    """Limits that the vendor has."""
    low, high = (0, 10) if vendor == "nxos" else (-8, 8)
    dynamic = st.integers(low, high).map(lambda factor: f"dynamic({vendor}:{factor})")
    return (
        dynamic
        | sizes
        | (st.integers(1, 5000).map(lambda count: f"{count} frames") if vendor == "nxos" else sizes)
    )


@st.composite
def aqms(draw: st.DrawFn, vendor: str) -> Yaml:
    """Queue management that the vendor has."""
    afd = st.builds(
        lambda size, ecn: {"kind": "afd", "desired": size, "ecn": ecn}, sizes, st.booleans()
    )
    plain: st.SearchStrategy[Yaml] = st.just({"kind": "none"})
    return draw(plain | red(is_plain=vendor == "sonic") | (afd if vendor == "nxos" else plain))


@st.composite
def queues(draw: st.DrawFn, vendor: str, service: Yaml) -> Yaml:
    """One queue."""
    made = {**service, "limit": draw(limits(vendor)), "aqm": draw(aqms(vendor))}
    ends = draw(st.lists(st.sampled_from(["min", "max"]), max_size=2, unique=True))
    if ends:
        made["shape"] = {end: draw(rates) for end in ends}
    if vendor == "sonic":
        made["reserved"] = draw(st.just("0B") | sizes)
    return made


@st.composite
def pausings(draw: st.DrawFn, vendor: str, lossless: list[int]) -> Yaml:
    """`pfc` for some of these priorities, with thresholds that the vendor can state."""
    priorities = sorted(draw(st.lists(st.sampled_from(lossless), min_size=1, unique=True)))
    made: Yaml = {"priorities": priorities, "sends": True}
    for priority in priorities if draw(st.booleans()) or vendor == "sonic" else []:
        xoff = draw(st.integers(2, 3_000_000))
        own = {
            "xoff": f"{xoff}B",
            "headroom": draw(sizes),
            "xon_offset": f"{draw(st.integers(1, xoff - 1))}B",
        }
        if vendor == "sonic":
            own |= {"xoff": draw(limits("sonic")), "reserved": draw(st.just("0B") | sizes)}
        made.setdefault("per_priority", {})[priority] = own
    if draw(st.booleans()):
        made["watchdog"] = {
            end: f"{draw(st.integers(1, 9999))}ms" for end in ("detection", "restoration")
        }
    if vendor == "sonic" and draw(st.booleans()):
        made["lossy"] = draw(limits("sonic"))
    return made


@st.composite
def policies(draw: st.DrawFn, vendor: str) -> Yaml:
    """A policy: one usual queue, and others that each have a class of their own."""
    count = draw(st.integers(1, 6))
    names = draw(st.permutations(NAMES))[:count]
    classes = dict(
        zip(names[1:], sorted(draw(st.permutations(range(1, 8)))[: count - 1]), strict=True)
    )
    strict = draw(st.integers(0, count - 1))
    weighted = [names[0], *names[1 : count - strict]]
    share = 100 // len(weighted)
    services: dict[str, Yaml] = {name: {"share": f"{share}%"} for name in weighted}
    services[names[0]] = {"share": f"{100 - share * (len(weighted) - 1)}%"}
    # SONiC serves the strict queue of the highest number first, so its levels cannot have gaps
    # below its queues.
    services |= {name: {"strict": level} for level, name in enumerate(names[count - strict :], 1)}
    made: Yaml = {
        "queues": {name: draw(queues(vendor, services[name])) for name in names},
        "priorities": {
            p: next((n for n, c in classes.items() if c == p), names[0]) for p in range(8)
        },
    }
    own = [group for name, group in classes.items() if name in weighted]
    if bool(own) and draw(st.booleans()):
        made["pfc"] = draw(pausings(vendor, own))
    elif vendor == "nxos" and draw(st.booleans()):
        made["link_pause"] = {"sends": draw(st.booleans()), "obeys": True}
    if vendor == "nxos" and strict and draw(st.booleans()):
        age = f"{draw(st.integers(1, 99_999))}us"
        made["dpp"] = {
            "max_packets": draw(st.integers(1, 1000)),
            "age": age,
            "express": names[count - strict],
        }
        made["dpp"]["priorities"] = sorted(draw(st.sets(st.integers(0, 7), min_size=1)))
    if any(queue["aqm"]["kind"] == "afd" for queue in made["queues"].values()):
        profile = draw(st.sampled_from(["mesh", "burst", "ultra-burst"]))
        made["etrap"] = {
            "profile": profile,
            "byte_count": draw(sizes),
            "age": f"{draw(st.integers(1, 500))}us",
        }
    return made


mtus = st.integers(576, 9216)
code_points = st.lists(st.integers(0, 63), min_size=1, max_size=8, unique=True)


@st.composite
def nxos_rules(draw: st.DrawFn) -> list[Yaml]:
    """Rules that a class-map can say, and last the one for the rest."""
    ports = st.integers(0, 65_535) | st.just("1024-2047")
    rule = st.fixed_dictionaries(
        {"class": st.integers(0, 7)},
        optional={
            "dscp": code_points,
            "pcp": st.lists(st.integers(0, 7), min_size=1, unique=True),
            "vlan": st.just([7]),
        },
    )
    made: list[Yaml] = [one for one in draw(st.lists(rule, max_size=5)) if len(one) > 1]
    if draw(st.booleans()):
        own = {"protocol": draw(st.sampled_from(["tcp", "udp"])), "destination_port": draw(ports)}
        made.append({"class": draw(st.integers(0, 7)), "source_port": draw(ports)} | own)
    return [*made, {"pcp": list(range(8)), "class": draw(st.integers(0, 7))}] if made else []


@st.composite
def sonic_rules(draw: st.DrawFn) -> list[Yaml]:
    """Each code point has at most one class."""
    classes = draw(st.dictionaries(st.integers(0, 63), st.integers(0, 7)))
    tagged = draw(st.dictionaries(st.integers(0, 7), st.integers(0, 7)))
    rules: list[Yaml] = []
    for key, of in (("dscp", classes), ("pcp", tagged)):
        rules += [
            {key: sorted(v for v in of if of[v] == c), "class": c} for c in sorted(set(of.values()))
        ]
    # What no map names is in class 0.
    rest = (
        [{"pcp": list(range(8)), "class": 0}]
        if rules and len(classes) < 64 and len(tagged) < 8
        else []
    )
    return rules + rest


@st.composite
def switches(draw: st.DrawFn, vendor: str) -> Drawn:
    """A policy and the switch that uses it."""
    policy = draw(policies(vendor))
    rules = draw(nxos_rules() if vendor == "nxos" else sonic_rules())
    # A switch polices a class, a scenario a qos-group: they are the same where one class alone is
    # in the group.
    alone = [rule["class"] for rule in rules].count(rules[-1]["class"]) == 1 if rules else False
    if vendor == "nxos" and alone and draw(st.booleans()):
        policy["police"] = {
            "rate": draw(rates),
            "burst": draw(sizes),
            "priorities": [rules[-1]["class"]],
        }
    switch: Yaml = {
        "policy": draw(st.sampled_from(["leaf", "DCB-1", "nxos"])),
        "classify": rules,
        "buffer": draw(sizes),
    }
    if draw(st.booleans()):
        switch["mtu"] = f"{draw(mtus)}B"
        own = draw(st.dictionaries(st.sampled_from(["db1", "db2"]), mtus))
        switch["port_mtu"] = {
            name: f"{mtu}B" for name, mtu in own.items() if f"{mtu}B" != switch["mtu"]
        }
    return Policy.model_validate(policy), Switch.model_validate(switch)
