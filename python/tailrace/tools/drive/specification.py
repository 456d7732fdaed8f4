"""What a manufacturer states of a drive: values with their conditions and sources, in YAML
files."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from tailrace.errors import Problem, RunRefusedError, ScenarioError, closest
from tailrace.scenario.text.document import Document, read_document
from tailrace.scenario.text.quantities import Count, DataRate, Part, Size, refuse
from tailrace.scenario.wording import problem_of

FOLDER = Path(__file__).parent / "specs"
SUFFIX = ".yaml"
MB = 10**6


class Source(Part):
    """Where values come from."""

    document: Annotated[str, Field(min_length=1)]
    """Title and revision."""
    page: str | None = None
    """Page or section."""
    url: Annotated[str, Field(pattern=r"^https?://")]
    """Where it was read."""
    read: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """Date of that."""


class Value(Part):
    """One value, as the sheet states it: `up to` what is printed."""

    operation: Literal["read", "write"]
    """What requests do."""
    access: Literal["sequential", "random"]
    """Where they go."""
    rate: DataRate | None = None
    """Most data per second; sheets count MB as 10^6 bytes."""
    iops: Annotated[Count, Field(ge=1)] | None = None
    """Most requests per second."""
    block: Size | None = None
    """Size of a request; without it 1 MiB sequentially and 4 KiB at random."""
    depth: Annotated[Count, Field(ge=1, le=4096)] | None = None
    """Requests under way; without it 8 sequentially and 32 at random."""
    condition: str | None = None
    """What else the sheet says: range of addresses, state of the drive, cache."""

    @model_validator(mode="after")
    def _one_figure(self) -> "Value":
        if (self.rate is None) == (self.iops is None):
            raise refuse(
                "a value has either `rate` or `iops`", "write `rate: 540MB/s`, or `iops: 98000`"
            )
        return self

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.rate / MB:g} MB/s" if self.rate is not None else f"{self.iops}/s"


class Specification(Part):
    """A sheet."""

    specification: Literal[1]
    """Version of this format."""
    title: Annotated[str, Field(min_length=1)]
    """The drive's name in the shops."""
    models: Annotated[list[str], Field(min_length=1)]
    """How the drive names itself (`smartctl -i`, `nvme id-ctrl`); `*` stands for any text."""
    interface: Literal["sata", "nvme", "sas", "usb"]
    """How it is connected."""
    is_rotational: bool = False
    """Whether it has a motor."""
    source: Source
    """Of all values."""
    values: Annotated[list[Value], Field(min_length=1)]
    """In the order of the sheet."""
    notes: list[str] = []
    """What one must know to compare with them."""

    def is_of(self, model: str) -> bool:
        """Whether a drive that names itself so is one of its models."""
        return any(fnmatchcase(_plain(model), _plain(pattern)) for pattern in self.models)


def names() -> list[str]:
    """Those that come with tailrace."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def load_specification(name: str) -> Specification:
    """One by its name, or of a file; raises `ScenarioError` or `RunRefusedError`."""
    path = Path(name)
    if path.suffix not in (SUFFIX, ".yml") and "/" not in name:
        if name not in names():
            hint = (
                f"{closest(name, names(), 'specifications')} or name a file that ends in {SUFFIX}"
            )
            raise RunRefusedError(f"--spec: there is no specification '{name}' (hint: {hint})")
        path = FOLDER / f"{name}{SUFFIX}"
    if not path.exists():
        raise RunRefusedError(
            f"--spec: {path}: the file does not exist (hint: `tailrace measure specs` lists "
            "those known)"
        )
    return parse(read_document(path))


def parse(document: Document) -> Specification:
    """A specification of a document; raises `ScenarioError` with every problem and its line."""
    try:
        return Specification.model_validate(document.data)
    except ValidationError as error:
        problems: Sequence[Problem] = [problem_of(details, document) for details in error.errors()]
        raise ScenarioError(problems) from None


def schema() -> dict[str, Any]:
    """JSON Schema, for editors."""
    return Specification.model_json_schema()


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+", " ", text).strip().lower()
