"""The vendor of a configuration is recognised before it is read."""

import json
from pathlib import Path

import pytest

from importers.corpus_cases import cases
from importers.eos_files import FILES
from tailrace.cli.vendors import import_file
from tailrace.errors import RunRefusedError
from tailrace.importers.vendor import NXOS, also_valid, other_vendor, recognised

OTHERS = {
    "Cisco IOS or IOS-XE": "policy-map WAN\n class VOICE\n  priority percent "
    "30\n class class-default\n  "
    "fair-queue\n"
    "interface GigabitEthernet0/2\n service-policy output WAN\n",
    "Cisco IOS XR": "!! IOS XR Configuration 7.3.2\ninterface TenGigE0/0/0/1\n mtu 9114\n",
    "Juniper Junos": "set system host-name leaf\nset class-of-service "
    "forwarding-classes class store "
    "queue-num 3\n",
    "NVIDIA Cumulus Linux": "nv set qos roce mode lossless\nnv set interface swp1 link mtu 9216\n",
    "Dell OS10": "trust dot1p-map T\n qos-group 4 dot1p 4\ninterface ethernet1/1/7\n ets mode on\n",
    "Dell FTOS (OS9)": "! Version 9.14(2.1)\ndcb-map STORE\n priority-group "
    "0 bandwidth 60 pfc off\n",
    "Huawei VRP": "sysname leaf\n#\ninterface 25GE1/0/1\n dcb pfc enable\n qos drr 0 to 5\n undo "
    "portswitch\n",
    "HPE Comware": "version 7.1.070, Release 6710\n sysname leaf\ninterface "
    "Ten-GigabitEthernet1/0/1\n",
    "HPE ProCurve": '; J9145A Configuration Editor; Created\nhostname "leaf"\n untagged 1-24\n',
    "Aruba AOS-CX": "!Version ArubaOS-CX GL.10.08\nqos schedule-profile STORE\n",
    "Cisco NX-OS of a Nexus 7000": "policy-map type queuing O\n  class type queuing "
    "1p7q4t-out-q2\n",
}


@pytest.mark.parametrize("vendor", sorted(OTHERS))
@pytest.mark.parametrize("importer", ["nxos", "eos", "sonic"])
def test_another_vendor_is_named_with_the_line_that_tells(
    vendor: str, importer: str, tmp_path: Path
) -> None:
    file = tmp_path / "leaf.cfg"
    file.write_text(f"\n{OTHERS[vendor]}", encoding="utf-8")
    with pytest.raises(RunRefusedError) as refusal:
        import_file(importer, file, None, None, is_strict=False, is_json=False)
    told = str(refusal.value)
    assert f": this is {vendor} ('" in told
    number = int(told.removeprefix(f"{file}:").partition(":")[0])
    assert 2 <= number <= 1 + OTHERS[vendor].count("\n")
    assert "not supported; NX-OS" in told
    assert told.endswith("SONiC and EOS are")


@pytest.mark.parametrize(
    ("importer", "text", "right"),
    [
        ("nxos", FILES["maps"], "eos"),
        ("eos", "feature vpc\npolicy-map type queuing out\n", "nxos"),
        ("sonic", FILES["session"], "eos"),
        ("nxos", '{"PORT": {}}', "sonic"),
        ("eos", '[{"PORT": {}}]', "sonic"),
    ],
)
def test_a_supported_vendor_is_named_with_its_command(
    importer: str, text: str, right: str, tmp_path: Path
) -> None:
    file = tmp_path / "leaf.cfg"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RunRefusedError, match=rf"\(hint: tailrace import {right} "):
        import_file(importer, file, None, None, is_strict=False, is_json=False)


@pytest.mark.parametrize("case", cases("nxos"), ids=str)
def test_no_configuration_of_the_corpus_is_taken_for_another_vendor(case: object) -> None:
    text = case.path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert other_vendor(text, "nxos") is None


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_configuration_of_eos_is_taken_for_another_vendor(name: str) -> None:
    assert other_vendor(FILES[name], "eos") is None


@pytest.mark.parametrize("importer", ["nxos", "eos"])
def test_a_text_without_a_sign_of_the_vendor_and_without_queues_is_refused(
    importer: str, tmp_path: Path
) -> None:
    file = tmp_path / "leaf.cfg"
    file.write_text("hostname a\nip route 192.0.2.0 255.255.255.0 192.0.2.9\n", encoding="utf-8")
    with pytest.raises(RunRefusedError, match="no queueing configuration found"):
        import_file(importer, file, None, None, is_strict=False, is_json=False)
    own = {"nxos": "feature vpc\n", "eos": "transceiver qsfp default-mode 4x10G\n"}[importer]
    file.write_text(f"hostname a\n{own}", encoding="utf-8")
    assert import_file(importer, file, None, None, is_strict=False, is_json=False) == 0


def test_signs_of_equal_weight_leave_the_vendor_that_was_named() -> None:
    text = "qos trust dscp\nfeature vpc\n"
    assert other_vendor(text, "nxos") is None
    assert other_vendor(text, "eos") is None
    assert other_vendor(text, "sonic") is not None


def test_signs_behind_a_prompt_count_once() -> None:
    found = recognised(
        "leaf# show clock\nleaf(config)# feature vpc\nleaf(config)# feature lacp\n" * 50
    )
    assert (found[NXOS].score, found[NXOS].line) == (2, 2)


def test_the_first_line_of_the_heaviest_sign_is_told() -> None:
    found = recognised("feature vpc\nversion 9.3(5)\nvdc leaf id 1\n")[NXOS]
    assert (found.score, found.line, found.text) == (8, 2, "version 9.3(5)")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"hostname a\ndescription caf\xe9\n", r":2: .*UTF-8"),
        ("hostname a\n".encode("utf-16"), r"UTF-8"),
        (b"interface Ethernet1/1\n" * 200_002, r":200001: 200002 lines, more than 200000"),
        (
            b'{"QUEUE": {"Ethernet4|3": {"scheduler": "s"}},\n "SCHEDULER": {"s": {"ty',
            r"this is SONiC",
        ),
    ],
    ids=["another encoding", "two bytes a character", "too many lines", "cut short"],
)
def test_a_file_that_cannot_be_one_is_refused_with_its_line(
    content: bytes, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "leaf.cfg"
    file.write_bytes(content)
    with pytest.raises(RunRefusedError, match=told):
        import_file("nxos", file, None, None, is_strict=False, is_json=False)


@pytest.mark.parametrize(
    ("importer", "line", "others"),
    [
        ("nxos", "interface Ethernet1", "Arista EOS or Cisco IOS or IOS-XE"),
        ("nxos", "ip access-list standard STORE", "Arista EOS or Cisco IOS or IOS-XE"),
        ("eos", "class-map type queuing STORE", "Cisco NX-OS"),
        ("eos", "vrf context STORE", "Cisco NX-OS"),
    ],
)
def test_a_line_that_a_vendor_does_not_have_excludes_it(
    importer: str, line: str, others: str, tmp_path: Path
) -> None:
    file = tmp_path / "part.cfg"
    file.write_text(f"class-map match-any C\n  match dscp 46\n{line}\n", encoding="utf-8")
    with pytest.raises(RunRefusedError) as refusal:
        import_file(importer, file, None, None, is_strict=False, is_json=False)
    own = {"nxos": "Cisco NX-OS", "eos": "Arista EOS"}[importer]
    assert str(refusal.value).startswith(
        f"{file}:3: this is not {own} ('{line.strip()}'); {others} have that"
    )


AMBIGUOUS = (
    "class-map match-any C\n  match dscp 46\npolicy-map P\n  class C\n    police cir 1 mbps\n"
)


def test_a_fragment_that_is_also_valid_elsewhere_is_read_with_a_remark_before_all_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "part.cfg"
    file.write_text(AMBIGUOUS, encoding="utf-8")
    assert import_file("nxos", file, None, None, is_strict=False, is_json=False) == 0
    first = capsys.readouterr().err.splitlines()[0]
    words = (
        "no line tells that this is Cisco NX-OS: also valid Arista EOS and Cisco IOS or "
        "IOS-XE, read as nxos"
    )
    assert first == f"{file}: assumed: {words}"
    assert import_file("nxos", file, None, None, is_strict=False, is_json=True, name="leaf") == 0
    assert json.loads(capsys.readouterr().out)["remarks"][0]["words"] == words
    file.write_text(
        f"{AMBIGUOUS}system qos\n  service-policy type queuing output P\n", encoding="utf-8"
    )
    import_file("nxos", file, None, None, is_strict=False, is_json=False)
    assert "also valid" not in capsys.readouterr().err


@pytest.mark.parametrize("importer", ["nxos", "eos"])
def test_no_file_of_the_corpora_is_ambiguous(importer: str) -> None:
    texts = (
        FILES.values()
        if importer == "eos"
        else [case.path.read_text(encoding="utf-8") for case in cases("nxos")]
    )
    told = [also_valid(text, importer) for text in texts]
    assert sum(map(bool, told)) <= len(told) // 20


@pytest.mark.parametrize(
    "part", ["ip access-list A\n  10 permit tcp any any\n", "speed 10000\n", "hostname leaf\n"]
)
def test_statements_that_all_vendors_have_are_no_queueing(part: str, tmp_path: Path) -> None:
    file = tmp_path / "part.cfg"
    file.write_text(f"interface Ethernet1/1\n  no shutdown\n  {part}", encoding="utf-8")
    with pytest.raises(
        RunRefusedError, match="no line is about queues, and none tells that this is NX-OS"
    ):
        import_file("nxos", file, None, None, is_strict=False, is_json=False)


def test_a_feature_of_a_section_is_none_of_nxos() -> None:
    assert NXOS not in recognised("hardware tcam\n   profile P\n      feature mpls\n")
    assert recognised("leaf(config)# feature mpls\n")[NXOS].score == 2


@pytest.mark.parametrize(
    ("kind", "vendor"),
    [("cisco-nx", NXOS), ("arista", "Arista EOS"), ("cisco", "Cisco IOS or IOS-XE")],
)
def test_archives_tell_the_vendor(kind: str, vendor: str) -> None:
    assert list(recognised(f"!RANCID-CONTENT-TYPE: {kind}\n!\n")) == [vendor]
