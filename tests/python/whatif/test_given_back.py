"""What the page gives back: an arm, a command and configurations give the same run again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from simulator_module import Page, run_module
from tailrace.experiment.native import make_trial, run_trial
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.of_switch import export_switch
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.loading import load_scenario, parse_assignment
from tailrace.scenario.text.document import read_yaml
from tailrace.whatif.bundle import bundle_of
from tailrace.whatif.configurations import configurations
from tailrace.whatif.content import Bundle
from tailrace.whatif.lowered import Size

EXAMPLES = Path(__file__).parents[3] / "examples"
SCALE = 0.01


def page_of(name: str, *, has_configuration: bool = False) -> tuple[Bundle, Page, dict[str, Any]]:
    loaded = load_scenario(EXAMPLES / f"{name}.yaml")
    sizes = (Size("quick", SCALE), *([Size("configuration", None)] if has_configuration else []))
    bundle = bundle_of(loaded, sizes, list(loaded.arms)[:3])
    data = json.loads(json.dumps(bundle.data()))
    return bundle, Page(data), data


def test_the_command_that_the_page_gives_back_has_the_same_digest(tmp_path: Path) -> None:
    bundle, page, data = page_of("dpp")
    positions = {one.path: one.knob.start for one in bundle.moved} | {
        "policies.dpp.dpp.max_packets": 0,
        "workloads.bulk.enabled": 1,
    }
    given = page.eval(f"core.overrides(data, {json.dumps(positions)})")
    assert sorted(given) == [
        ["policies.dpp.dpp.max_packets", "1"],
        ["workloads.bulk.enabled", "false"],
    ]
    command = page.eval(f"core.asCommand(data, {json.dumps(positions)})")
    assert command.endswith(
        "--set policies.dpp.dpp.max_packets=1 --set workloads.bulk.enabled=false"
    )
    answer = run_module(page.plan("quick", "dpp", positions, data["seeds"][0]))
    assert isinstance(answer, dict)
    # As an arm in the file: the same run again.
    text = (EXAMPLES / "dpp.yaml").read_text(encoding="utf-8")
    lines = page.eval(f"core.asArm(data, {json.dumps(positions)}, 'mine')").splitlines()[1:]
    arm = [*lines, "    switches.leaf.policy: dpp"]
    (tmp_path / "dpp.yaml").write_text(
        text.replace("arms:\n", "\n".join(["arms:", *arm, ""]), 1).split("expect:")[0],
        encoding="utf-8",
    )
    loaded = load_scenario(tmp_path / "dpp.yaml")
    plans = Plans({"mine": scaled(loaded.arms["mine"], SCALE)})
    assert (
        run_trial(make_trial(plans.json(TrialKey("mine", 1)))).outcome.digest
        == answer["outcome"]["digest"]
    )


def test_the_configuration_that_the_page_gives_back_is_that_of_the_exporter() -> None:
    bundle, page, _ = page_of("dpp", has_configuration=True)
    positions = {one.path: one.knob.start for one in bundle.moved} | {
        "policies.dpp.dpp.max_packets": 8
    }
    given = page.eval(f"core.asConfiguration(data, 'dpp', {json.dumps(positions)}, 'NX-OS')")
    loaded = load_scenario(EXAMPLES / "dpp.yaml", {"policies.dpp.dpp.max_packets": 320})
    text, _ = export_switch(export_nxos, loaded.arms["dpp"], "leaf")
    assert given.splitlines()[: len(text.splitlines())] == text.splitlines()
    assert "max-num-pkts 320" in given


CLASSES = """
tailrace: 1
name: classes
network: {topology: {kind: star, switch: leaf, hosts: [sink, voice, video, web]}}
switches:
  leaf:
    buffer: 4MB
    policy: three
    classify:
      - {dscp: [ef], class: 5}
      - {dscp: [af41], class: 4}
policies:
  three:
    queues:
      voice: {share: 10%, limit: 500kB}
      video: {share: 30%, limit: 600kB, aqm: {kind: red, minimum: 100kB, maximum: 400kB, probability: 10%}}
      web: {share: 60%, limit: 500kB}
    priorities: {0: web, 1: web, 2: web, 3: web, 4: video, 5: voice, 6: web, 7: web}
workloads:
  voice: {kind: datagrams, source: voice, destination: sink, sizes: 100B, interarrival: exponential(300ns), dscp: ef}
  video: {kind: datagrams, source: video, destination: sink, sizes: 1400B, interarrival: exponential(2us), dscp: af41}
  web: {kind: datagrams, source: web, destination: sink, sizes: 600B, interarrival: exponential(1us)}
experiment: {duration: 5ms}
"""  # noqa: E501
EDITS: dict[str, int | str] = {
    "policies.three.queues.voice.limit": "123456B",
    "policies.three.queues.video.aqm.minimum": "77kB",
    "policies.three.queues.video.aqm.maximum": "200001B",
    "policies.three.queues.voice.share": "25%",
    "policies.three.queues.video.share": "35%",
    "policies.three.queues.web.share": "40%",
    "policies.three.priorities.4": 0,
    "policies.three.priorities.5": 1,
    "switches.leaf.classify.0.class": 4,
    "switches.leaf.classify.1.class": 5,
}
"""Weights, thresholds, limits, the queues of two classes changed for each other, and the classes of
two rules."""


@pytest.fixture(scope="module")
def classes(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Page, dict[str, Any], dict[str, int | str]]:
    path = tmp_path_factory.mktemp("classes") / "classes.yaml"
    path.write_text(CLASSES, encoding="utf-8")
    loaded = load_scenario(path)
    sizes = (Size("quick", SCALE), Size("configuration", None))
    data = json.loads(json.dumps(bundle_of(loaded, sizes, list(loaded.arms)).data()))
    return path, Page(data), data, {knob["path"]: knob["start"] for knob in data["knobs"]} | EDITS


def digest_in_page(page: Page, data: dict[str, Any], positions: dict[str, int | str]) -> str:
    assert page.eval(f"values.refusals(data, {json.dumps(positions)})") == []
    answer = run_module(page.plan("quick", data["arms"][0], positions, data["seeds"][0]))
    assert isinstance(answer, dict), answer
    return str(answer["outcome"]["digest"])


def digest_of(scenario: Any) -> str:
    plans = Plans({"one": scaled(scenario, SCALE)})
    return str(run_trial(make_trial(plans.json(TrialKey("one", 1)))).outcome.digest)


def test_edits_of_the_drawing_are_in_the_command(classes: Any) -> None:
    path, page, data, positions = classes
    digest = digest_in_page(page, data, positions)
    words = shlex.split(page.eval(f"core.asCommand(data, {json.dumps(positions)})"))
    assert words[:2] == ["tailrace", "run"]
    given = dict(parse_assignment(word) for word in words[4::2])
    assert set(words[3::2]) == {"--set"}
    assert digest_of(load_scenario(path, given).arms[data["arms"][0]]) == digest
    start = {knob["path"]: knob["start"] for knob in data["knobs"]}
    assert digest_in_page(page, data, start) != digest, "the edits change something"


def test_edits_of_the_drawing_are_in_the_arm(classes: Any, tmp_path: Path) -> None:
    path, page, data, positions = classes
    lines = page.eval(f"core.asArm(data, {json.dumps(positions)}, 'mine')")
    (tmp_path / "arm.yaml").write_text(
        path.read_text(encoding="utf-8") + lines + "\n", encoding="utf-8"
    )
    found = digest_of(load_scenario(tmp_path / "arm.yaml").arms["mine"])
    assert found == digest_in_page(page, data, positions)


@pytest.mark.parametrize("vendor", ["NX-OS", "SONiC"])
def test_edits_of_the_drawing_are_in_configurations(classes: Any, vendor: str) -> None:
    path, page, data, positions = classes
    text = page.eval(
        f"core.asConfiguration(data, {json.dumps(data['arms'][0])}, "
        f"{json.dumps(positions)}, '{vendor}')"
    )
    assert "is not in these lines" not in text
    kept = (
        "\n".join(
            line for line in text.splitlines() if vendor == "NX-OS" or not line.startswith("!")
        )
        + "\n"
    )
    section = import_nxos(kept)[0] if vendor == "NX-OS" else import_sonic(kept)[0]
    document = read_yaml(path.read_text(encoding="utf-8"), "classes.yaml")[0]
    buffer = document["switches"]["leaf"]["buffer"]
    imported = section.data()["switches"][section.switch_name] | {"buffer": buffer}
    loaded = load_scenario(
        {**document, "policies": section.policies, "switches": {"leaf": imported}}
    )
    assert digest_of(loaded.arms[data["arms"][0]]) == digest_in_page(page, data, positions)


def test_switches_of_one_policy_with_other_rules_or_ports_are_all_written() -> None:
    """Two leaves with the policy of a third, and a spine that is as the other."""
    document = read_yaml(CLASSES, "classes.yaml")[0]
    hosts = {
        "topology": {
            "kind": "leaf-spine",
            "leaves": 3,
            "spines": 2,
            "hosts": ["sink", "voice", "video", "web"],
        }
    }
    policies = {**document["policies"], "plain": {"queues": {"all": {"share": "100%"}}}}
    leaf = document["switches"]["leaf"]
    switches = {
        "defaults": {"policy": "three"},
        "leaf1": {"classify": leaf["classify"]},
        "leaf2": {"ports": {"spine1": "plain"}},
        "leaf3": {"buffer": "5MB"},
    }
    loaded = load_scenario(
        {**document, "network": hosts, "policies": policies, "switches": switches}
    )
    found = configurations(loaded.arms["base"], {})
    assert list(found["NX-OS"]) == list(found["SONiC"]) == ["leaf1", "leaf2", "leaf3"]


def test_what_a_configuration_cannot_have_from_the_page_is_named(classes: Any) -> None:
    _, page, data, positions = classes
    odd = positions | {
        "policies.three.queues.voice.share": "25.5%",
        "policies.three.queues.web.share": "39.5%",
    }
    text = page.eval(
        f"core.asConfiguration(data, {json.dumps(data['arms'][0])}, {json.dumps(odd)}, 'NX-OS')"
    )
    assert (
        "! policies.three.queues.voice.share: 25.5% is not in these lines; tailrace export nxos"
        in text
    )


def test_shares_keep_their_sum(classes: Any) -> None:
    _, page, data, _ = classes
    start = {knob["path"]: knob["start"] for knob in data["knobs"]}
    knob = "data.knobs.find((one) => one.path === 'policies.three.queues.voice.share')"
    for text, others in (
        ("70%", ("10%", "20%")),
        ("20%", ("26.7%", "53.3%")),
        ("0.1%", ("33.3%", "66.6%")),
        ("99.8%", ("0.1%", "0.1%")),
    ):
        found = page.eval(f"values.balanced(data, {knob}, '{text}', {json.dumps(start)})")
        assert (
            found["policies.three.queues.video.share"],
            found["policies.three.queues.web.share"],
        ) == others
        assert page.eval(f"values.refusals(data, {json.dumps(found)})") == []


def test_a_queue_without_a_class_is_refused(classes: Any) -> None:
    _, page, data, _ = classes
    start = {knob["path"]: knob["start"] for knob in data["knobs"]}
    [refused] = page.eval(
        f"values.refusals(data, {json.dumps(start | {'policies.three.priorities.4': 2})})"
    )
    assert refused["words"] == "no frame can enter queue 'video' of three: no class goes there"


@pytest.mark.parametrize(
    ("path", "typed", "found"),
    [
        ("policies.three.queues.voice.limit", "0.26 MB", {"at": "0.26MB"}),
        ("policies.three.queues.voice.limit", "300", {"at": "300kB"}),
        ("policies.three.queues.voice.limit", "0.5MB", {"at": 4}),
        (
            "policies.three.queues.voice.limit",
            "5MB",
            "5MB is out of range: 31.25kB to 4000kB (queue 'voice' of policy",
        ),
        ("policies.three.queues.voice.limit", "1.5B", "1.5B is out of range"),
        (
            "policies.three.queues.voice.limit",
            "40000.5B",
            "40000.5B is finer than what a plan stores",
        ),
        (
            "policies.three.queues.voice.limit",
            "4 furlongs",
            "'furlongs' is not a unit of this value: B, kB, MB",
        ),
        (
            "policies.three.queues.voice.limit",
            "many",
            "many is not a number: write one such as 31.25kB",
        ),
        ("policies.three.queues.voice.share", "12.34%", "12.34% is finer than what a plan stores"),
        ("policies.three.priorities.4", "gold", "only positions: voice, video, web"),
    ],
)
def test_numbers_are_typed(classes: Any, path: str, typed: str, found: Any) -> None:
    _, page, _, _ = classes
    knob = f"data.knobs.find((one) => one.path === '{path}')"
    answer = page.eval(f"values.typed(data, {knob}, {json.dumps(typed)})")
    if isinstance(found, str):
        assert answer["words"].startswith(found)
    else:
        assert answer == found
