"""An interface, observed for a time and profiled while it is: nothing but the profile is kept."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.live.lab.fabric import FabricError, program
from tailrace.profile.capture import Profile, ProfileOptions, profile_stream

END_LIMIT_S = 30.0
"""For the program to end after its output has."""


@dataclass(frozen=True)
class Observation:
    """The observed interface, and the duration (up to an hour)."""

    interface: str
    length_ns: int
    namespace: str | None = None
    """Name below /run/netns; None: the caller's."""
    is_machine_allowed: bool = False
    """The interface was named as one of this machine."""

    def order(self) -> dict[str, Any]:
        """The input of the program."""
        return {
            "namespace": f"/run/netns/{self.namespace}" if self.namespace else None,
            "interface": self.interface,
            "is_machine_allowed": self.is_machine_allowed,
            "length_ns": self.length_ns,
        }


def profile_interface(wanted: Observation, options: ProfileOptions) -> Profile:
    """Observes and profiles; raises `FabricError` where the interface cannot be observed.

    `observed` of the result has the frames handed on and those that the kernel dropped.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [str(program()), "observe"], stdin=pipe, stdout=pipe, stderr=pipe
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(json.dumps(wanted.order()).encode())
        running.stdin.close()
        try:
            profile: Profile | RunRefusedError = profile_stream(
                running.stdout.fileno(), wanted.interface, options
            )
        except RunRefusedError as error:
            profile = error  # the program says why there was no capture
        lines = running.stderr.read().decode(errors="replace").strip().splitlines()
        status = running.wait(END_LIMIT_S)
    last = lines[-1] if lines else f"status {status}"
    if status:
        raise FabricError(last.removeprefix("tailrace-fabric: "))
    if isinstance(profile, RunRefusedError):
        raise profile
    return Profile({**profile.data, "observed": json.loads(last)}, profile.tables)
