"""`tailrace lab`: the commands of live networks and of this machine, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.group import Group
from tailrace.cli.options import Files, OutFile, ResultJson
from tailrace.experiment.run_options import FabricKind
from tailrace.option import OfArm, Set

lab_app = Commands(
    cls=Group,
    help="Keep the network of a scenario up with your own programs on its hosts; live runs on "
    "this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


FabricName = Annotated[
    str | None,
    typer.Option("--fabric", metavar="NAME", help="Fabric; default: the only one that is up."),
]


@lab_app.command()
def up(
    scenario: Files,
    *,
    name: Annotated[
        str | None, typer.Option("--name", help="Name; default: that of the scenario.")
    ] = None,
    arm: OfArm = None,
    metrics: Annotated[
        int | None,
        typer.Option(
            "--metrics",
            metavar="PORT",
            min=1,
            max=65535,
            help="Serve OpenMetrics on this port of 127.0.0.1.",
        ),
    ] = None,
    set_: Set = None,
    fabric: Annotated[
        FabricKind,
        typer.Option("--fabric", help="tap is the built-in switch, the others are for comparison."),
    ] = FabricKind.TAP,
) -> None:
    """Create the hosts and switches of a scenario, without starting programs in them."""
    from tailrace.cli.lab import bring_up

    bring_up(scenario, name, arm, metrics, set_, fabric)


@lab_app.command()
def down(
    name: Annotated[
        str | None, typer.Argument(help="Name; default: the only one that is up.")
    ] = None,
) -> None:
    """Stop a fabric and all programs in it, and print its final counters."""
    from tailrace.cli.lab import take_down

    take_down(name)


@lab_app.command("list")
def list_(*, json_: ResultJson = False) -> None:
    """List the fabrics that are up."""
    from tailrace.cli.lab import print_fabrics

    print_fabrics(json_=json_)


@lab_app.command(
    "exec", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def exec_(
    context: typer.Context,
    host: Annotated[str, typer.Argument(help="Host of a fabric that is up.", metavar="HOST")],
    *,
    fabric: FabricName = None,
) -> None:
    """Run a program on a host of a fabric that is up: tailrace lab exec db1 -- ping web."""
    from tailrace.cli.lab import exec_on_host

    exec_on_host(host, context.args, fabric)


@lab_app.command()
def top(
    *,
    fabric: FabricName = None,
    once: Annotated[bool, typer.Option("--once", help="Print the counters once and exit.")] = False,
    json_: ResultJson = False,
) -> None:
    """Show the counters of a fabric that is up, every second."""
    from tailrace.cli.lab import show_top

    show_top(fabric, once=once, json_=json_)


@lab_app.command()
def capture(
    port: Annotated[str, typer.Argument(help="Port of a switch.", metavar="SWITCH>NODE")],
    file: Annotated[Path, typer.Argument(help="File to write (pcapng, times in nanoseconds).")],
    *,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, max=3600, help="Seconds to capture.")
    ] = 5.0,
    fabric: FabricName = None,
) -> None:
    """Capture the frames at a port of a running fabric to a file for Wireshark."""
    from tailrace.cli.lab import capture_port

    capture_port(port, file, seconds, fabric)


@lab_app.command()
def doctor(
    *,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Measure the frame rate that this machine sustains, and the --live-scale that "
            "it needs now.",
        ),
    ] = False,
    json_: ResultJson = False,
) -> None:
    """Report what this machine has and lacks for live runs; exit code 1 when they cannot start."""
    from tailrace.cli.live import print_doctor

    raise typer.Exit(print_doctor(measure=measure, json_=json_))


@lab_app.command()
def calibrate(
    *,
    out: OutFile = None,
    mtu: Annotated[str, typer.Option("--mtu", help="MTU of the measured hosts.")] = "9000B",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the hosts' links.")] = "1Gbit/s",
    processor: Annotated[
        bool,
        typer.Option(
            "--processor",
            help="Measure what the kernel costs on a core, for hosts with `cpu.cores`.",
        ),
    ] = False,
) -> None:
    """Measure this machine's hosts and write them as parameters of the simulator (a YAML
    fragment)."""
    from tailrace.cli.live import calibrate_hosts, calibrate_processor

    if processor:
        calibrate_processor(out)
    else:
        calibrate_hosts(out, mtu, rate)


@lab_app.command()
def replay(
    run_directory: Annotated[
        Path, typer.Argument(help="Run directory of `run --live --log-ingress`.", metavar="RUN")
    ],
    *,
    json_: ResultJson = False,
) -> None:
    """Replay the frames that entered the switches of a live run; exit code 1 when a digest
    differs."""
    from tailrace.cli.live import replay_run

    raise typer.Exit(replay_run(run_directory, json_=json_))


@lab_app.command()
def clean() -> None:
    """Remove the control groups that killed live runs left on this machine; running labs are
    kept."""
    from tailrace.cli.live import clean_machine

    clean_machine()
