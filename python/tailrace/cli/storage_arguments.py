"""Options of `tailrace import` for files of storage tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from tailrace.option import Option


@dataclass(frozen=True, kw_only=True)
class StorageOptions:
    """Options that only storage tests have."""

    protocol: Annotated[
        str | None,
        Option(
            "--protocol",
            metavar="PROTOCOL",
            help="How hosts reach their drives; default: local (vdbench, fio).",
        ),
    ] = None
    device: Annotated[
        str | None,
        Option(
            "--device",
            metavar="PRESET",
            help="Preset of every drive; default: by its path (vdbench, fio).",
        ),
    ] = None
    define: Annotated[
        Sequence[str],
        Option(
            "--define",
            metavar="NAME=VALUE",
            help="Value of a variable of the file; repeatable (not switches).",
        ),
    ] = ()
    client: Annotated[
        Sequence[str],
        Option(
            "--client",
            metavar="HOST",
            help="Host that runs the file, or a file with one in each line; repeatable.",
        ),
    ] = ()

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        values = {
            "--protocol": self.protocol,
            "--device": self.device,
            "--define": self.define,
            "--client": self.client,
        }
        return [name for name, value in values.items() if value]
