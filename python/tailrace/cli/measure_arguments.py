"""Arguments of `tailrace measure`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tailrace.cli.options import ResultJson
from tailrace.experiment.run_options import FabricKind
from tailrace.option import OfArm, Option, OutDirectory, Set

if TYPE_CHECKING:
    from tailrace.tools.path.path import Asked


@dataclass(frozen=True, kw_only=True)
class SwitchArguments:
    """The arguments of `tailrace measure switch`, as written."""

    scenario: Annotated[
        Sequence[Path],
        Option(
            help="Scenario files whose network is measured; default: two hosts at one switch.",
            metavar="SCENARIO...",
        ),
    ] = ()
    fabric: Annotated[
        FabricKind | None,
        Option("--fabric", help="Measure a switch of this machine (as root), not a simulated one."),
    ] = None
    sizes: Annotated[
        str | None,
        Option(
            "--sizes", metavar="BYTES", help="Sizes of frames with the check sequence: 64,512,1518."
        ),
    ] = None
    tests: Annotated[
        str | None,
        Option(
            "--tests",
            metavar="TESTS",
            help="Of throughput,latency,loss,back-to-back,mlrsearch; default: all.",
        ),
    ] = None
    duration: Annotated[
        str | None,
        Option(
            "--duration", metavar="TIME", help="Length of a trial; default: 2s, simulated 50ms."
        ),
    ] = None
    full: Annotated[
        bool,
        Option(
            "--full", help="Lengths and repetitions of RFC 2544: 60 s, 20 times 120 s, 50 bursts."
        ),
    ] = False
    rate: Annotated[
        str | None,
        Option(
            "--rate",
            metavar="RATE",
            help="Without a scenario, rate of the lines; default: 10Gbit/s.",
        ),
    ] = None
    source: Annotated[
        str | None,
        Option(
            "--source", metavar="HOST", help="Host of the scenario that sends; default: the first."
        ),
    ] = None
    destination: Annotated[
        str | None,
        Option("--destination", metavar="HOST", help="Host that receives; default: the next."),
    ] = None
    arm: OfArm = None
    assignments: Set = None
    out: OutDirectory = None
    json_: ResultJson = False


@dataclass(frozen=True, kw_only=True)
class PathArguments:
    """The arguments of `tailrace measure path`, as written."""

    ends: Annotated[
        list[str],
        Option(
            help="Two hosts of a fabric that is up; a scenario and two of its hosts; or an "
            "address or a name.",
            metavar="A B | SCENARIO A B | ADDRESS",
        ),
    ]
    expect: Annotated[
        str | None,
        Option(
            "--expect",
            metavar="MTU",
            help="MTU that the path should carry, e.g. 9000B; default: that of "
            "the end with the larger one.",
        ),
    ] = None
    is_live: Annotated[
        bool, Option("--live", help="With a scenario: probe emulated hosts (as root).")
    ] = False
    is_exact: Annotated[
        bool, Option("--exact", help="With a scenario: probe real kernels in virtual time.")
    ] = False
    fabric: Annotated[
        str | None,
        Option(
            "--fabric",
            metavar="NAME",
            help="Fabric that is up; with SCENARIO and --live its kind: "
            "tap, bridge, ovs or ovs-dpdk.",
        ),
    ] = None
    netns: Annotated[
        str | None,
        Option(
            "--netns",
            metavar="NAME",
            help="With an address: probe from this network namespace (as root).",
        ),
    ] = None
    arm: OfArm = None
    assignments: Set = None
    tries: Annotated[
        int,
        Option("--tries", min=1, max=1000, help="Probes of each size, 100 a second at most."),
    ] = 10
    limit_s: Annotated[
        float,
        Option("--limit", min=1, max=3600, help="Seconds for the search in each direction."),
    ] = 60.0

    def asked(self, expected_mtu: int) -> "Asked":
        """The question to a path."""
        from tailrace.tools.path.path import Asked

        return Asked(expected_mtu, self.tries, self.limit_s)


@dataclass(frozen=True, kw_only=True)
class DriveArguments:
    """The arguments of `tailrace measure drive`, as written."""

    path: Annotated[Path, Option(help="A block device.", metavar="DEV")]
    spec: Annotated[
        str | None,
        Option(
            "--spec", metavar="NAME|FILE", help="Specification to compare with: `measure specs`."
        ),
    ] = None
    duration: Annotated[str, Option("--duration", metavar="TIME", help="Length of each run.")] = (
        "10s"
    )
    repeats: Annotated[int, Option("--repeats", metavar="N", help="Runs of each kind.")] = 3
    depth: Annotated[
        int | None,
        Option(
            "--depth", metavar="N", help="Requests under way in each job; default: the sheet's."
        ),
    ] = None
    jobs: Annotated[
        int,
        Option("--jobs", metavar="N", help="Threads that ask, each on a core of its own."),
    ] = 1
    destroy: Annotated[
        str | None,
        Option(
            "--destroy-data",
            metavar="NAME",
            help="Also write; NAME is the drive's, and its data are lost.",
        ),
    ] = None
    precondition: Annotated[
        bool,
        Option("--precondition", help="Write the whole drive once before; needs --destroy-data."),
    ] = False
    out: OutDirectory = None
    json_: ResultJson = False
