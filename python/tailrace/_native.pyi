"""One trial, run by the simulator: the plan goes in as JSON, the outcome comes out as JSON and columns of numbers."""

from typing import final

__all__ = [
    "CaptureError",
    "NotDivided",
    "PcapngFile",
    "PlanError",
    "Trial",
    "TrialFailed",
    "distributions",
    "drop_causes",
    "dropped_by",
    "limits",
    "profile_capture",
    "version",
]

class CaptureError(ValueError):
    """A file that is no capture, or options that cannot be used; the message names the fault."""

class NotDivided(ValueError):
    """A plan that cannot be run on several cores; its values are what is wrong, a hint, and the name of a workload
    or the two ends of a link that it is about, or None for either."""

class PlanError(ValueError):
    """A plan that cannot be run; the message names the place and the fault."""

class TrialFailed(RuntimeError):
    """A broken invariant inside the simulator; the message names it and its place. The trial has no result."""

@final
class Trial:
    """One trial of one arm; `progress` and `cancel` are for other threads while `run` works without the interpreter lock."""

    def __new__(cls, plan_json: str, cores: int = 1, is_automatic: bool = False) -> Trial:
        """Read the plan; raises PlanError. `run` has so many cores, or up to so many where several are faster."""

    def parts(self, cores: int) -> int:
        """Parts into which the network is divided for so many cores, at most so many; raises NotDivided."""

    def cores(self) -> int:
        """Cores that `run` had; one before it has ended."""

    def run(self) -> tuple[list[str], list[tuple[str, int, int]], dict[str, dict[str, tuple[str, bytes]]]]:
        """Run: the outcome as JSON in pieces; which of them have the rows of a list, without its brackets (name, first,
        one after the last); and tables as name -> column -> (`u32`, `u64` or `f64`; little-endian bytes).

        Raises TrialFailed when the simulator found itself wrong.
        """

    def explain(self) -> tuple[list[str], list[tuple[str, int, int]], dict[str, dict[str, tuple[str, bytes]]]]:
        """Run as `run` does, and split the latency of everything that workloads complete by cause: the tables are
        `causes`, `causes_queues`, `causes_behind` and `causes_losses` (docs/models/causes.md).
        """

    def unexplained(self) -> list[tuple[str, str]]:
        """Workloads whose latencies `explain` does not split: name and reason."""

    def trace(
        self, windows_ps: list[tuple[int, int]], transactions: list[tuple[int, int, int]]
    ) -> dict[str, dict[str, tuple[str, bytes]]]:
        """Run as `explain` does up to the end of the last of these windows (from, to): the tables of causes of what was
        complete by then, and the timeline of the windows and of the connections of these transactions (workload, place
        in the order of completion, user), as tables `timeline_*` (docs/models/trace.md).
        """

    def spanning_trees(self) -> str:
        """The spanning trees of the plan as they stand in its outcome: a list as JSON, empty without any."""

    def progress(self) -> float:
        """Part of the run that is done, 0 to 1."""

    def cancel(self) -> None:
        """Ask `run` to return soon, with `"cancelled": true` in the outcome."""

def distributions() -> list[str]:
    """Names of the distributions of a plan."""

def drop_causes() -> list[str]:
    """Names of the causes of drops, in the order of results."""

def dropped_by() -> list[str]:
    """Names of what drops frames, in the order of explanations."""

def limits() -> dict[str, int]:
    """Limits and constants that scenarios share with plans, by name; the unit ends the name."""

def profile_capture(path: str, options_json: str) -> tuple[str, dict[str, dict[str, tuple[str, bytes]]]]:
    """Profile the capture in a file: the profile as JSON, and the tables `connections`, `exchanges`, `datagram_flows` and
    `addresses` as name -> column -> (`u32` or `u64`; little-endian bytes).

    Raises CaptureError when the file is no capture or an option is wrong. A capture that ends early or is damaged has a
    profile of what was readable, which says where it ended.
    """

@final
class PcapngFile:
    """A pcapng file (draft-ietf-opsawg-pcapng) of one section with Ethernet interfaces. Comments are cut at 65 535 bytes."""

    def __new__(cls, application: str, comment: str) -> PcapngFile: ...
    def interface(self, name: str, description: str, speed_bps: int, snap_bytes: int) -> int:
        """Add an interface, of whose frames at most `snap_bytes` are kept; gives its number."""

    def packet(self, interface: int, at_ns: int, captured: bytes, wire_bytes: int, comment: str) -> None:
        """Add a packet, at nanoseconds since 1970, of which only the first bytes are kept."""

    def content(self) -> bytes:
        """The whole file."""

def version() -> str:
    """Version of the simulator, the same as the package's."""
