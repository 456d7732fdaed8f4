"""The commands that probe paths, with their options."""

from typing import Annotated

import typer

from tailrace.cli.group import Group

probe_app = typer.Typer(
    cls=Group,
    help="Probe a path of a fabric, of a scenario, or of this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@probe_app.callback()
def _root() -> None:
    """Keeps `probe mtu` a command of its own."""


@probe_app.command()
def mtu(
    ends: Annotated[
        list[str],
        typer.Argument(
            help="Two hosts of a fabric that is up; a scenario and two of its hosts; or an address or a name.",
            metavar="A B | SCENARIO A B | ADDRESS",
        ),
    ],
    *,
    expect: Annotated[
        str | None,
        typer.Option(
            "--expect",
            metavar="MTU",
            help="MTU that the path should carry, e.g. 9000B; default: that of the end with the larger one.",
        ),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="With a scenario: probe emulated hosts (as root).")] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="With a scenario: probe real kernels in virtual time.")
    ] = False,
    fabric: Annotated[
        str | None,
        typer.Option(
            "--fabric",
            metavar="NAME",
            help="Fabric that is up; with SCENARIO and --live its kind: tap, bridge, ovs or ovs-dpdk.",
        ),
    ] = None,
    netns: Annotated[
        str | None,
        typer.Option("--netns", metavar="NAME", help="With an address: probe from this network namespace (as root)."),
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Arm; default: the baseline.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value by its dotted path; repeatable."),
    ] = None,
    tries: Annotated[
        int, typer.Option("--tries", min=1, max=1000, help="Probes of each size, 100 a second at most.")
    ] = 10,
    limit: Annotated[
        float, typer.Option("--limit", min=1, max=3600, help="Seconds for the search in each direction.")
    ] = 60.0,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """Find the largest packet that a path carries, and where a larger one ends; exit code 1 below --expect."""
    from tailrace.cli.probe import Wanted, probe_mtu

    wanted = Wanted(ends, expect, live, exact, fabric, netns, arm, set_, tries, limit)
    raise typer.Exit(probe_mtu(wanted, json_=json_))
