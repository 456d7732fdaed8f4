"""`policy-map type queuing`: queues, their service, limits and active queue management."""

from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig, PolicyMap
from tailrace.importers.nxos.groups import group_of
from tailrace.importers.nxos.parse import ConfigCommand, Node
from tailrace.importers.nxos.shares import BANDWIDTH, Bandwidth
from tailrace.importers.section import rate, size
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI

LIMIT_DEFAULT = "dynamic(nxos:9)"
"""`queue-limit dynamic` is 9 unless stated [K]."""
PROBABILITY_DEFAULT_PERCENT = 100
"""A `random-detect` without `drop-probability` drops everything at the maximum [K]."""
STRICT_OF_EIGHT, STRICT_OF_FOUR = 7, 3
"""Strict queue of the predefined policies of switches with eight and with four queues [K]."""
LEVEL_MAX = 8
WEIGHT_MAX = 15

Yaml = dict[str, Any]


def queues_of(config: NxosConfig, policy: PolicyMap) -> dict[int, Yaml]:
    """A queue for each qos-group of the policy, in the policy's order."""
    queues: dict[int, Yaml] = {}
    for entry in policy.classes:
        group = group_of(config, entry)
        if group is None:
            for action in entry.actions:
                words = f"the command belongs to class '{entry.name}', which is not imported"
                config.remarks.add(action.line, action.text, "not-modelled", words)
            continue
        if group in queues:
            command, words = (
                entry.command,
                f"another class of this policy is also qos-group {group}",
            )
            config.remarks.add(command.line, command.text, "contradiction", words)
            continue
        queues[group] = _Queue(config, f"queue {group}").read(entry.actions)
        config.remarks.add(entry.command.line, entry.command.text, "understood", f"queue {group}")
    return queues


def default_queues(strict: int = STRICT_OF_EIGHT) -> dict[int, Yaml]:
    """The switch's default queuing policy [K]: its last queue is strict, the default queue gets all
    other frames."""
    return {strict: {"strict": 1, "limit": LIMIT_DEFAULT}, 0: {"limit": LIMIT_DEFAULT}}


class _Queue:
    """A queue under construction, while its actions are read."""

    def __init__(self, config: NxosConfig, where: str) -> None:
        self.remarks = config.remarks
        self.where = where
        self.data: Yaml = {}
        self.said: dict[str, ConfigCommand] = {}

    def read(self, actions: list[ConfigCommand]) -> Yaml:
        for action in actions:
            earlier = self.said.get(action.verb)
            if earlier is not None:
                self.remarks.repeated(earlier.line, earlier.text, action.line, action.text)
            self.said[action.verb] = action
            getattr(self, action.verb)(action)
        if "strict" in self.data and BANDWIDTH in self.data:
            action = self.said["bandwidth"]
            words = (
                f"{self.where} has strict priority (line {self.said['priority'].line}); its "
                "share is omitted"
            )
            self.remarks.add(action.line, action.text, "contradiction", words)
            del self.data[BANDWIDTH]
        self.data.setdefault("limit", LIMIT_DEFAULT)
        self.not_capable()
        self.marks()
        return self.data

    def understood(self, action: ConfigCommand, words: str) -> None:
        self.remarks.add(action.line, action.text, "understood", f"{self.where}: {words}")

    def refused(self, action: ConfigCommand, words: str) -> None:
        self.remarks.add(action.line, action.text, "not-modelled", f"{self.where}: {words}")

    def wrong(self, action: ConfigCommand, words: str) -> None:
        self.remarks.add(action.line, action.text, "not-understood", f"{self.where}: {words}")

    def bandwidth(self, action: ConfigCommand) -> None:
        percent = tree.number(action.tree)
        if percent > 100:
            self.wrong(action, "a share must be 0 to 100 percent")
            return
        self.data[BANDWIDTH] = Bandwidth(
            percent, bool(tree.words(action.tree, "REMAINING")), action
        )

    def priority(self, action: ConfigCommand) -> None:
        level = int(tree.word(action.tree, "INT") or 1)
        if not 1 <= level <= LEVEL_MAX:
            self.wrong(action, f"a level must be 1 to {LEVEL_MAX}")
            return
        self.data["strict"] = level
        self.understood(action, f"strict: {level}")

    def shape(self, action: ConfigCommand) -> None:
        text = action.text.lower().split()
        ends = [word for word in text if word in ("min", "max")]
        amounts = tree.parts(action.tree, "amount")
        rates = [tree.amount(amount, tree.RATE_UNITS, "bps") for amount in amounts]
        stated = {end: value for end, value in zip(ends, rates, strict=True) if value}
        if None in rates or not ends:
            self.refused(
                action,
                "a shaper in percent or packets is not supported: write shape: {min, max} as rates",
            )
        elif stated:
            self.data["shape"] = {end: rate(value) for end, value in stated.items()}
            self.understood(action, "shape")
        else:
            self.understood(action, "no shape")

    def queue_limit(self, action: ConfigCommand) -> None:
        if (dynamic := tree.part(action.tree, "dynamic")) is not None:
            factor = tree.number(dynamic)
            if factor not in VENDOR_ALPHAS_MILLI["nxos"]:
                self.wrong(action, "a dynamic limit must be 0 to 10")
                return
            self.data["limit"] = f"dynamic(nxos:{factor})"
        else:
            (amount,) = tree.parts(action.tree, "amount")
            frames, size_bytes = tree.packets(amount), tree.amount(amount, tree.SIZE_UNITS, "bytes")
            if not (frames or size_bytes):
                self.refused(
                    action, "a limit in time or percent is not supported: write limit as a size"
                )
                return
            self.data["limit"] = f"{frames} frames" if frames else size(size_bytes or 0)
        self.understood(action, f"limit: {self.data['limit']}")

    def random_detect(self, action: ConfigCommand) -> None:
        first, *others = [_thresholds(part) for part in tree.parts(action.tree, "thresholds")]
        weight = tree.part(action.tree, "weight")
        exponent = 0 if weight is None else tree.number(weight)
        if first is None or None in others or exponent > WEIGHT_MAX:
            self.refused(
                action,
                "thresholds must be sizes with a unit, in range: write aqm: {kind: red} with sizes",
            )
            return
        red: Yaml = {"kind": "red", **first, "weight_exponent": exponent}
        if tree.words(action.tree, "ECN"):
            red["ecn"] = True
        if others and others[0] is not None:
            red["not_capable"] = others[0]
        self.aqm(action, red)
        if tree.words(action.tree, "OPTIMISED") or tree.words(action.tree, "CAP_AVERAGE"):
            self.refused(
                action,
                "the effect of burst-optimized, mesh-optimized and cap-average on the average "
                "is not published",
            )

    def random_detect_ecn(self, _: ConfigCommand) -> None:
        """Marking instead of dropping; it applies to the thresholds of the queue, on whichever line
        they are."""

    def marks(self) -> None:
        action = self.said.get("random_detect_ecn")
        if action is None:
            return
        if self.data.get("aqm", {}).get("kind") != "red":
            self.refused(
                action,
                "the switch's default thresholds are not published: write aqm: {kind: red, "
                "ecn: true} with sizes",
            )
            return
        self.data["aqm"]["ecn"] = True
        self.understood(action, "aqm: red: ecn")

    def random_detect_auto(self, action: ConfigCommand) -> None:
        self.refused(
            action,
            "thresholds chosen by the ASIC are not published: write aqm: {kind: red} with sizes",
        )

    def pause(self, action: ConfigCommand) -> None:
        if tree.parts(action.tree, "pause_buffer"):
            self.refused(
                action,
                "these are thresholds of an input queue, but the policy is an output policy: apply "
                "it with service-policy type queuing input",
            )
        else:
            self.wrong(action, "a class is made lossless in a policy-map of type network-qos")

    def random_detect_other(self, _: ConfigCommand) -> None:
        """Thresholds of frames without ECN; they belong to the other `random-detect` of the queue,
        on whichever line it is.
        """

    def not_capable(self) -> None:
        action = self.said.get("random_detect_other")
        if action is None:
            return
        (part,) = tree.parts(action.tree, "thresholds")
        thresholds, weight = _thresholds(part), tree.part(action.tree, "weight")
        red = self.data.get("aqm", {})
        if thresholds is None:
            self.wrong(action, "thresholds in packets, or out of range")
        elif red.get("kind") != "red":
            self.refused(
                action,
                "the class has no other random-detect: the treatment of "
                "ECN-capable frames is undefined",
            )
        elif weight is not None and tree.number(weight) != red["weight_exponent"]:
            self.refused(
                action,
                "a queue has only one average: the weight of the other random-detect is used",
            )
            red["not_capable"] = thresholds
        else:
            red["not_capable"] = thresholds
            self.understood(action, "aqm: red: not_capable")

    def afd(self, action: ConfigCommand) -> None:
        (amount,) = tree.parts(action.tree, "amount")
        desired = tree.amount(amount, tree.SIZE_UNITS, "bytes")
        if not desired:
            self.wrong(action, "the desired depth must be a size above zero")
            return
        ecn = {"ecn": True} if tree.words(action.tree, "ECN") else {}
        self.aqm(action, {"kind": "afd", "desired": size(desired), **ecn})

    def aqm(self, action: ConfigCommand, aqm: Yaml) -> None:
        before = self.data.get("aqm")
        if before is not None and before["kind"] != aqm["kind"]:
            words = (
                f"{self.where} already has {before['kind']}; a queue has only one; this later "
                "line takes precedence"
            )
            self.remarks.add(action.line, action.text, "contradiction", words)
        self.data["aqm"] = aqm
        self.understood(action, f"aqm: {aqm['kind']}")


def _thresholds(part: Node) -> Yaml | None:
    minimum, maximum = [
        tree.amount(amount, tree.SIZE_UNITS, "") for amount in tree.parts(part, "amount")
    ]
    percent = int(tree.word(part, "INT") or PROBABILITY_DEFAULT_PERCENT)
    if minimum is None or maximum is None or percent > 100:
        return None
    return {"minimum": size(minimum), "maximum": size(maximum), "probability": f"{percent}%"}
