"""`tailrace show` and its options."""

from enum import StrEnum
from typing import Annotated

import typer

from tailrace.cli.options import ResultJson
from tailrace.cli.trial_arguments import InterfacesArguments


class Shown(StrEnum):
    """Tables that `show` can print."""

    QUEUES = "queues"
    INTERFACES = "interfaces"


def show(
    what: Annotated[
        Shown,
        typer.Argument(
            help="queues: counters in the layout of 'show queuing interface'; interfaces: those "
            "of 'netstat -i'."
        ),
    ],
    *,
    arguments: InterfacesArguments,
    json_: ResultJson = False,
) -> None:
    """Show the counters of one trial, or of a fabric that is up, under the names used by switch
    vendors and netstat."""
    from tailrace.cli.interfaces import show_interfaces
    from tailrace.cli.showing import refuse_queues, show_queues

    if what is Shown.INTERFACES:
        show_interfaces(arguments, json_=json_)
        return
    run = refuse_queues(
        arguments.run, arguments.fabric, arguments.interval, arguments.count, arguments.since
    )
    show_queues(run, arguments.arm, arguments.trial, arguments.interface, json_=json_)
