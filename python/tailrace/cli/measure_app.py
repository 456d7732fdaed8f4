"""`tailrace measure`: switches, paths and drives, with the options of each."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.group import Group
from tailrace.cli.options import ResultJson
from tailrace.experiment.run_options import FabricKind
from tailrace.option import OfArm, OutDirectory, Set

measure_app = Commands(
    cls=Group,
    help="Measure a switch, a path or a drive.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@measure_app.command()
def switch(
    scenario: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Scenario files whose network is measured; default: two hosts at one switch.",
            metavar="SCENARIO...",
        ),
    ] = None,
    *,
    fabric: Annotated[
        FabricKind | None,
        typer.Option(
            "--fabric", help="Measure a switch of this machine (as root), not a simulated one."
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", metavar="BYTES", help="Sizes of frames with the check sequence: 64,512,1518."
        ),
    ] = None,
    tests: Annotated[
        str | None,
        typer.Option(
            "--tests",
            metavar="TESTS",
            help="Of throughput,latency,loss,back-to-back,mlrsearch; default: all.",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration", metavar="TIME", help="Length of a trial; default: 2s, simulated 50ms."
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Lengths and repetitions of RFC 2544: 60 s, 20 times 120 s, 50 bursts."
        ),
    ] = False,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="RATE",
            help="Without a scenario, rate of the lines; default: 10Gbit/s.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source", metavar="HOST", help="Host of the scenario that sends; default: the first."
        ),
    ] = None,
    destination: Annotated[
        str | None,
        typer.Option(
            "--destination", metavar="HOST", help="Host that receives; default: the next."
        ),
    ] = None,
    arm: OfArm = None,
    set_: Set = None,
    out: OutDirectory = None,
    json_: ResultJson = False,
) -> None:
    """Throughput, latency, loss and bursts of a switch (RFC 2544, RFC 9004), and MLRsearch."""
    from tailrace.cli.switch import SwitchArguments, measure_switch

    request = SwitchArguments(
        scenario=scenario,
        fabric=fabric,
        sizes=sizes,
        tests=tests,
        duration=duration,
        full=full,
        rate=rate,
        source=source,
        destination=destination,
        arm=arm,
        assignments=set_,
        out=out,
        json_=json_,
    )
    raise typer.Exit(measure_switch(request))


@measure_app.command()
def path(
    ends: Annotated[
        list[str],
        typer.Argument(
            help="Two hosts of a fabric that is up; a scenario and two of its hosts; or an "
            "address or a name.",
            metavar="A B | SCENARIO A B | ADDRESS",
        ),
    ],
    *,
    expect: Annotated[
        str | None,
        typer.Option(
            "--expect",
            metavar="MTU",
            help="MTU that the path should carry, e.g. 9000B; default: that of "
            "the end with the larger one.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="With a scenario: probe emulated hosts (as root).")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="With a scenario: probe real kernels in virtual time.")
    ] = False,
    fabric: Annotated[
        str | None,
        typer.Option(
            "--fabric",
            metavar="NAME",
            help="Fabric that is up; with SCENARIO and --live its kind: "
            "tap, bridge, ovs or ovs-dpdk.",
        ),
    ] = None,
    netns: Annotated[
        str | None,
        typer.Option(
            "--netns",
            metavar="NAME",
            help="With an address: probe from this network namespace (as root).",
        ),
    ] = None,
    arm: OfArm = None,
    set_: Set = None,
    tries: Annotated[
        int,
        typer.Option("--tries", min=1, max=1000, help="Probes of each size, 100 a second at most."),
    ] = 10,
    limit: Annotated[
        float,
        typer.Option("--limit", min=1, max=3600, help="Seconds for the search in each direction."),
    ] = 60.0,
    json_: ResultJson = False,
) -> None:
    """Find the largest packet that a path carries, and where a larger one ends; exit code 1 below
    --expect."""
    from tailrace.cli.path import PathArguments, probe_mtu

    wanted = PathArguments(
        ends=ends,
        expect=expect,
        is_live=live,
        is_exact=exact,
        fabric=fabric,
        netns=netns,
        arm=arm,
        assignments=set_,
        tries=tries,
        limit_s=limit,
    )
    raise typer.Exit(probe_mtu(wanted, json_=json_))


@measure_app.command()
def drive(
    drive_path: Annotated[Path, typer.Argument(help="A block device.", metavar="DEV")],
    *,
    spec: Annotated[
        str | None,
        typer.Option(
            "--spec", metavar="NAME|FILE", help="Specification to compare with: `measure specs`."
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option("--duration", metavar="TIME", help="Length of each run.")
    ] = "10s",
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Runs of each kind.")] = 3,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="N", help="Requests under way in each job; default: the sheet's."
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", metavar="N", help="Threads that ask, each on a core of its own."),
    ] = 1,
    destroy_data: Annotated[
        str | None,
        typer.Option(
            "--destroy-data",
            metavar="NAME",
            help="Also write; NAME is the drive's, and its data are lost.",
        ),
    ] = None,
    precondition: Annotated[
        bool,
        typer.Option(
            "--precondition", help="Write the whole drive once before; needs --destroy-data."
        ),
    ] = False,
    out: OutDirectory = None,
    json_: ResultJson = False,
) -> None:
    """Measure a drive beside its specification, and name what limits it; reads only, unless told
    otherwise."""
    from tailrace.cli.drive import DriveArguments, disk_measure

    request = DriveArguments(
        path=drive_path,
        spec=spec,
        duration=duration,
        repeats=repeats,
        depth=depth,
        jobs=jobs,
        destroy=destroy_data,
        precondition=precondition,
        out=out,
        json_=json_,
    )
    raise typer.Exit(disk_measure(request))


@measure_app.command()
def split(
    drive_path: Annotated[
        Path, typer.Argument(help="A block device, or a file on one.", metavar="DEV|FILE")
    ],
    *,
    bs: Annotated[str, typer.Option("--bs", metavar="SIZE", help="Size of a request.")] = "1MiB",
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Read from it, and compare with what the kernel counts (as root)."
        ),
    ] = False,
    json_: ResultJson = False,
) -> None:
    """Tell into how many requests one is split, and by which limit; exit code 1 if --prove sees
    something else."""
    from tailrace.cli.split import disk_inspect

    raise typer.Exit(disk_inspect(drive_path, bs, is_proof=prove, json_=json_))


@measure_app.command()
def specs(
    name: Annotated[
        str | None,
        typer.Argument(help="One of them, or a file; default: list all.", metavar="NAME|FILE"),
    ] = None,
    *,
    as_scenario: Annotated[
        bool, typer.Option("--as-scenario", help="Print it as a device of scenarios (YAML).")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of specifications.")
    ] = False,
    json_: ResultJson = False,
) -> None:
    """List the specifications of drives that come with tailrace, with their sources."""
    from tailrace.cli.drive import disk_specs

    raise typer.Exit(disk_specs(name, is_scenario=as_scenario, is_schema=schema, json_=json_))
