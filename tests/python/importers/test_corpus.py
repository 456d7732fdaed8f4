"""Every file of the corpus imports with its meaning or is refused with its reason; export and
import keep it."""

import json
import random
from typing import Any

import pytest

from counts import cases as of_all
from importers.corpus_cases import CORPUS, Case, cases
from importers.meaning import import_file, meaning
from tailrace.cli.vendors import import_file as import_command
from tailrace.errors import RunRefusedError
from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.section import Section, normal
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.sonic.read import UnreadableError

FILES_MIN = 30
ACCEPTED_PERCENT_MIN = 95
MTU_BYTES_DEFAULT = {"nxos": 1500, "sonic": 9100}
MUTATIONS = of_all(8, 3)
"""Mutated copies of each file."""
SCRAPS = (
    "",
    "!",
    "#",
    "\\",
    "0",
    "-1",
    "99999999999999999999",
    "percent",
    "mbytes",
    "|",
    '"',
    "{",
    "é",
    "\x00",
    "any",
)


@pytest.mark.parametrize("vendor", ["nxos", "sonic"])
def test_the_index_names_every_file_and_most_are_accepted(vendor: str) -> None:
    found = cases(vendor)
    configurations = {path for path in (CORPUS / vendor).iterdir() if path.suffix != ".meaning"}
    assert {case.path for case in found} == configurations
    assert {case.meaning_path for case in cases(vendor, is_accepted=True)} == set(
        (CORPUS / vendor).glob("*.meaning")
    )
    assert len(found) >= FILES_MIN
    assert 100 * len(cases(vendor, is_accepted=True)) >= ACCEPTED_PERCENT_MIN * len(found)
    assert all(case.where for case in found)


@pytest.mark.parametrize("case", cases(is_accepted=True), ids=str)
def test_a_file_means_what_was_written_down(case: Case) -> None:
    section, remarks = import_file(case.vendor, case.path)
    assert section.is_sound, remarks.found
    assert not section.refused
    assert meaning(section) + "\n" == case.meaning_path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", cases(is_accepted=False), ids=str)
def test_a_file_is_refused_with_the_reason(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    section, _ = import_file(case.vendor, case.path)
    if not section.refused:
        assert (
            import_command(case.vendor, case.path, None, None, is_strict=False, is_json=False) == 1
        )
        assert case.refused in capsys.readouterr().err
        return
    with pytest.raises(RunRefusedError, match=case.refused):
        import_command(case.vendor, case.path, None, None, is_strict=False, is_json=False)


@pytest.mark.parametrize("case", cases(is_accepted=True), ids=str)
def test_import_export_import_is_the_identity(case: Case) -> None:
    section, _ = import_file(case.vendor, case.path)
    policies, switch = section.models()
    used = {name: policy for name, policy in policies.items() if name in switch.ports.values()}
    mtu_bytes = section.mtu_bytes or MTU_BYTES_DEFAULT[case.vendor]
    write = export_nxos if case.vendor == "nxos" else export_sonic
    text, told = write(section.switch_name, switch, policies[switch.policy], mtu_bytes, used)
    again, _ = import_nxos(text) if case.vendor == "nxos" else import_sonic(text)
    assert [remark.text for remark in told.found] == [], text
    policies_again, switch_again = again.models()
    for name in (switch.policy, *used):
        assert normal(policies_again[name]) == normal(policies[name]), text
    assert (switch_again.policy, switch_again.classify) == (switch.policy, switch.classify)
    assert switch_again.ports == switch.ports
    assert switch_again.buffer == switch.buffer
    assert (switch_again.mtu, switch_again.port_mtu) == (switch.mtu, switch.port_mtu)
    assert (again.mtu_bytes or MTU_BYTES_DEFAULT[case.vendor]) == max(
        mtu_bytes, again.mtu_bytes or 0
    )
    assert again.switch_name == section.switch_name


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_mutated_file_is_read_or_refused_in_words(case: Case) -> None:
    rng = random.Random(str(case))
    text = case.path.read_text(encoding="utf-8")
    for _ in range(MUTATIONS):
        mutated = _mutated_text(text, rng)
        try:
            section, remarks = (
                import_nxos(mutated) if case.vendor == "nxos" else import_sonic(mutated)
            )
        except UnreadableError:
            continue
        section.text("any")
        remarks.text("any")
        remarks.text("any", is_verbose=True)
        _exported(case.vendor, section)


@pytest.mark.parametrize("case", cases("sonic"), ids=str)
def test_a_mutated_database_is_read_or_refused_in_words(case: Case) -> None:
    rng = random.Random(f"tree of {case}")
    for _ in range(MUTATIONS):
        data: Any = json.loads(case.path.read_text(encoding="utf-8"))
        for _ in range(rng.randint(1, 3)):
            _mutate_tree(data, rng)
        section, remarks = import_sonic(json.dumps(data, indent=1))
        section.text("any")
        remarks.text("any")
        _exported("sonic", section)


def _exported(vendor: str, section: Section) -> None:
    """What is sound can be exported."""
    if section.is_sound:
        policies, switch = section.models()
        write = export_nxos if vendor == "nxos" else export_sonic
        write(section.switch_name, switch, policies[switch.policy], others=policies)


def _mutated_text(text: str, rng: random.Random) -> str:
    """Lines and words that are lost, doubled, exchanged or replaced."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(lines))
        words = lines[place].split(" ")
        match rng.randrange(5):
            case 0:
                del lines[place]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[place])
            case 2:
                words[rng.randrange(len(words))] = rng.choice(SCRAPS)
                lines[place] = " ".join(words)
            case 3:
                other = rng.choice(rng.choice(lines).split(" ") or [""])
                words.insert(rng.randrange(len(words) + 1), other)
                lines[place] = " ".join(words)
            case _:
                cut = rng.randrange(len(lines[place]) + 1)
                lines[place] = (
                    lines[place][:cut]
                    + rng.choice(SCRAPS)
                    + lines[place][cut + rng.randint(0, 3) :]
                )
        if not lines:
            return ""
    return "\n".join(lines)


def _mutate_tree(data: Any, rng: random.Random) -> None:
    """One value, row or table is replaced, lost or given another name."""
    place = data
    while isinstance(place, dict) and place:
        key = rng.choice(sorted(place))
        inner = place[key]
        if not isinstance(inner, dict) or not inner or rng.randrange(3) == 0:
            match rng.randrange(4):
                case 0:
                    del place[key]
                case 1:
                    place[rng.choice(SCRAPS) + key] = place.pop(key)
                case 2:
                    place[key] = rng.choice(
                        ["", "0", "-3", "9" * 25, "NULL", None, 3, [], ["1", "2"], {"a": "b"}]
                    )
                case _:
                    place[key] = rng.choice(list(place.values()))
            return
        place = inner
