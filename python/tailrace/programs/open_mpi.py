"""Open MPI: how the ranks of a job are started on hosts, and why they ended.

`mpirun` runs on the host of rank 0. It asks an agent, which is usually ssh, to start its daemon
`orted` on each other host. The agent here writes the words of that command into a file, and the lab
starts it on the host: with the priority, the cores and the end of every other program of the host.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.programs.command import Command
from tailrace.programs.mpi import MpiWork
from tailrace.programs.needed import Needed

MPIRUN = Needed("mpirun", "openmpi-bin", "--version", "workloads of kind mpi")
ORTED = Needed(
    "orted", "openmpi-bin", "--version", "workloads of kind mpi", title="Open MPI's daemon"
)
PYTHON = "/usr/bin/python3"
"""The interpreter that has Debian's mpi4py."""
DEVICE = "eth0"
"""Interface of every host of a lab."""
NETWORK_DEVICE = "vlan{}"
"""Interface of one network of a host, in a lab with VLANs (`crates/lab/src/kernel/networks.rs`)."""
AGENT = "agent"
WORDS = ".words"
"""Suffix of the files that the agent writes."""
AGENT_TEXT = """#!/bin/sh
# In place of ssh: hands the command for a host over to the lab, which starts it.
host=$1
shift
printf '%s ' "$@" > "$0-$host.part" && mv "$0-$host.part" "$0-$host.words"
"""
HEADER_BYTES = 56
"""Of the largest message that is sent at once, besides its bytes (docs/models/mpi.md)."""
ALGORITHMS: Mapping[str, Mapping[str, int]] = {
    "allreduce": {"recursive-doubling": 3, "ring": 4, "rabenseifner": 6},
    "alltoall": {"linear": 1, "pairwise": 2, "bruck": 3},
    "bcast": {
        "linear": 1,
        "chain": 3,
        "binary": 5,
        "binomial": 6,
        "knomial": 7,
        "scatter-ring": 9,
    },
    "barrier": {"linear": 1, "recursive-doubling": 3, "bruck": 4},
}
"""Numbers of `coll_tuned_PATTERN_algorithm` (`ompi_info --param coll tuned --level 9` of 4.1.4). A
chain without segments is Open MPI's pipeline, 3; its `chain`, 2, has four branches.
"""
REASONS = (
    re.compile(
        r"noticed that process rank (?P<rank>\d+) with .* exited on (?P<how>signal \d+[^.]*)\."
    ),
    re.compile(r"exited on (?P<how>signal \d+[^.]*)\."),
)
ERROR = re.compile(
    r"error|not found|unable|could not|cannot|abort|lost communication", re.IGNORECASE
)
LINES_MAX = 3


@dataclass(frozen=True)
class Launch:
    """Where a job is started."""

    work: MpiWork
    folder: Path
    """Of its files; absolute."""
    scratch: str
    """Folder in memory that is gone with the lab."""
    addresses: Mapping[str, str]
    """Of its hosts, in its network."""
    ports: tuple[int, int]
    """First port on which ranks listen, and the number of ports."""
    has_vlans: bool = False
    """Whether hosts of the lab have several networks, each with an interface of its own."""

    @property
    def agent(self) -> Path:
        """The program that replaces ssh."""
        return self.folder / AGENT

    @property
    def device(self) -> str:
        """The interface of its network in every host. Addresses would not do: Open MPI 4.1.4 takes
        lo for part of 10.77.0.1/32.
        """
        return NETWORK_DEVICE.format(self.work.vlan) if self.has_vlans else DEVICE

    def hostfile(self) -> str:
        """A line for each rank. Names, not addresses: the first host knows itself by its name."""
        return "".join(f"{host}\n" for host in self.work.ranks)

    def command(self, job: Path, number: int = 0) -> Command:
        """Starts the ranks; `number` distinguishes several launches of a workload."""
        argv = [
            MPIRUN.program,
            "--hostfile",
            str(self.folder / "hosts"),
            "--map-by",
            "seq",
            "--bind-to",
            "none",
        ]
        argv += ["--oversubscribe", "-np", str(len(self.work.ranks))]
        for key, value in self.parameters().items():
            argv += ["--mca", key, value]
        argv += [PYTHON, "-I", str(Path(__file__).with_name("mpi_rank.py").absolute()), str(job)]
        name = f"mpi-{self.work.name}" + (f"-{number}" if number else "")
        return self._command(name, self.work.ranks[0], argv)

    def parameters(self) -> dict[str, str]:
        """Open MPI's own."""
        device = self.device
        first, count = self.ports
        found = {
            "plm_rsh_agent": str(self.agent),
            "plm_rsh_no_tree_spawn": "1",
            "orte_leave_session_attached": "1",
            "orte_tmpdir_base": self.scratch,
            "pml": "ob1",
            "btl": "tcp,vader,self",
            "btl_vader_backing_directory": self.scratch,
            "btl_tcp_if_include": device,
            "btl_tcp_port_min_v4": str(first),
            "btl_tcp_port_range_v4": str(count),
            "btl_tcp_eager_limit": str(int(self.work.raw["eager_limit_bytes"]) + HEADER_BYTES),
            "oob_tcp_if_include": device,
            "mpi_yield_when_idle": "1",
        }
        asked = self.work.raw.get("algorithm")
        if asked:
            pattern = self.work.pattern
            found["coll_tuned_use_dynamic_rules"] = "1"
            found[f"coll_tuned_{pattern}_algorithm"] = str(ALGORITHMS[pattern][asked])
        return found

    def daemon(self, host: str, words: str, number: int = 0) -> Command:
        """The daemon of a host, from the output of the agent."""
        argv = [word for word in shlex.split(words) if word != "--daemonize"]
        name = f"mpi-{self.work.name}-{host}" + (f"-{number}" if number else "")
        return self._command(name, host, argv)

    def _command(self, name: str, host: str, argv: Sequence[str]) -> Command:
        env = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "TMPDIR": self.scratch,
            "SHELL": "/bin/bash",
        }
        work = self.work
        return Command(
            name,
            argv,
            host=host,
            env=env,
            cwd=str(self.folder),
            priority=work.priority,
            dscp=work.dscp,
        )

    def asked(self) -> list[tuple[str, str]]:
        """Hosts on which a daemon is to be started, with the words of its command. Each is returned
        once."""
        found = []
        for host in self.addresses:
            path = self.folder / f"{AGENT}-{host}{WORDS}"
            if path.is_file():
                found.append((host, path.read_text(encoding="utf-8")))
                path.unlink()
        return found


def complaint(work: MpiWork, errors: str) -> str:
    """The reason for which a job failed, from Open MPI's output: the rank that was ended, or the
    first lines with an error."""
    name = f"mpi-{work.name}"
    for pattern in REASONS:
        found = pattern.search(" ".join(errors.split()))
        if found:
            rank = found.groupdict().get("rank")
            if rank is None:
                return f"{name}: a rank was ended by {found['how']}"
            return (
                f"{name}: rank {rank} on host '{work.ranks[int(rank)]}' was ended by {found['how']}"
            )
    lines = [line.strip() for line in errors.splitlines() if line.strip(" -")]
    chosen = [line for line in lines if ERROR.search(line)] or lines
    return f"{name}: Open MPI failed: {' | '.join(chosen[:LINES_MAX]) or 'it wrote no reason'}"
