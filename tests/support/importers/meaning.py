"""The meaning of an imported section in a few lines, which an index can hold and a reader can
check."""

import re
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, Section
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.wording import limit_words, words_of
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.pause import Pfc
from tailrace.scenario.policies.switch import Policy, Queue

SUFFIX = {"nxos": "cfg", "sonic": "json"}


def import_file(vendor: str, path: Path) -> tuple[Section, Remarks]:
    """The section of one file of the corpus."""
    text = path.read_text(encoding="utf-8")
    return import_nxos(text) if vendor == "nxos" else import_sonic(text)


def meaning(section: Section) -> str:
    """One line for each queue, then pauses, classification, ports and MTU; `unsound` for what no
    scenario can have."""
    if not section.is_sound:
        return "unsound"
    policies, switch = section.models()
    lines: list[str] = []
    for name, policy in policies.items():
        lines += [f"policy {name}", *(f"  {line}" for line in _policy(policy))]
    lines += [f"classify {_rule(rule)}" for rule in switch.classify]
    lines += [f"port {towards}: {name}" for towards, name in switch.ports.items()]
    if section.mtu_bytes is not None:
        lines.append(f"mtu {section.mtu_bytes}")
    lines += [
        f"mtu of class {g}: {mtu}"
        for g, mtu in section.class_mtus.items()
        if mtu != section.mtu_bytes
    ]
    return "\n".join(lines)


def _policy(policy: Policy) -> list[str]:
    shares = policy.shares()
    lines = [_queue(name, queue, shares.get(name), policy) for name, queue in policy.queues.items()]
    if policy.pfc is not None:
        lines += [
            f"lossless {p}{_thresholds(policy.pfc, p)}" for p in sorted(policy.pfc.priorities)
        ]
        if policy.pfc.lossy is not None:
            lines.append(f"lossy groups {limit_words(policy.pfc.lossy)}")
    if policy.pausing is not None and policy.pausing.watchdog is not None:
        lines.append("watchdog")
    if policy.link_pause is not None:
        lines.append("link pause")
    lines += [
        f"{key} {words_of(part)}"
        for key in ("dpp", "etrap", "police")
        if (part := getattr(policy, key))
    ]
    return lines


def _queue(name: str, queue: Queue, share: int | None, policy: Policy) -> str:
    classes = ",".join(str(p) for p in PRIORITIES if policy.queue_of(p) == name)
    service = (
        f"strict {queue.strict}" if queue.strict is not None else f"{(share or 0) / 10**7:.5g}%"
    )
    said = [f"{name} [{classes}] {service}", limit_words(queue.limit)]
    said += [f"reserved {queue.reserved}"] if queue.reserved else []
    said += [
        words_of(part)
        for part in (queue.shape, queue.aqm)
        if part is not None and "none" not in words_of(part)
    ]
    return ", ".join(said)


def _thresholds(pfc: Pfc, priority: int) -> str:
    own = pfc.thresholds(priority)
    assert own.xoff is not None, "complete thresholds"
    stated = [] if own.headroom == "auto" else [f"headroom {own.headroom}"]
    stated += [f"xoff {limit_words(own.xoff)}", f"xon {own.xon_offset} below"]
    stated += [f"reserved {own.reserved}"] if own.reserved else []
    return ": " + ", ".join(stated)


def _rule(rule: Rule) -> str:
    words = words_of(rule).replace("[0, 1, 2, 3, 4, 5, 6, 7]", "any")
    return re.sub(
        r"\[([0-9, ]{40,})\]", lambda found: f"[{len(found[1].split(','))} values]", words
    )


def refusal(vendor: str, path: Path) -> str:
    """Why a file is refused, in the words of the error or of the first contradiction; empty when it
    is not."""
    try:
        section, remarks = import_file(vendor, path)
    except TailraceError as error:
        return str(error)
    if section.is_sound:
        return ""
    return next(remark.words for remark in remarks.ordered() if remark.verdict == "contradiction")
