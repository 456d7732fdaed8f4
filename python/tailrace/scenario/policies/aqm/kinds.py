"""The list of queue-management mechanisms."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from tailrace.scenario.policies.aqm.afd import Afd
from tailrace.scenario.policies.aqm.base import QueueManagement, Writer
from tailrace.scenario.policies.aqm.codel import Codel
from tailrace.scenario.policies.aqm.none import NoAqm
from tailrace.scenario.policies.aqm.red import Red
from tailrace.scenario.policies.aqm.step import Step
from tailrace.scenario.text.quantities import kind_name

MECHANISMS: tuple[type[QueueManagement], ...] = (NoAqm, Step, Red, Afd, Codel)

if TYPE_CHECKING:
    Aqm = QueueManagement
else:
    Aqm = Annotated[reduce(or_, MECHANISMS), Field(discriminator="kind")]

BY_KIND = {kind_name(one): one for one in MECHANISMS}
DROP_CAUSES = tuple(one.drop_cause for one in MECHANISMS if one.drop_cause is not None)
"""Causes of drops by these mechanisms."""
REMEDIES = tuple(one.remedy for one in MECHANISMS if one.remedy is not None)
"""Mechanisms that help against lock-out."""


def lower_aqm(aqm: QueueManagement) -> str | dict[str, Any]:
    """A mechanism in a plan."""
    parameters = aqm.lowered()
    return {aqm.kind: dict(parameters)} if parameters else aqm.kind


def describe_aqm(aqm: str | dict[str, Any], write: Writer) -> str:
    """The effect of a mechanism in a plan, as part of a sentence; empty for none."""
    [(kind, raw)] = aqm.items() if isinstance(aqm, dict) else [(aqm, {})]
    return BY_KIND[kind].described(raw, write)
