"""Jobs with the options that apply to them, in the groups that `stonewall` separates."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from tailrace.errors import closest
from tailrace.importers.fio.lines import GLOBAL, Option, Section
from tailrace.importers.fio.options import ALIASES, ENGINE_OPTIONS, FATES, KNOWN, READ
from tailrace.importers.fio.units import KB_BASES, int_of, size_of, time_of
from tailrace.importers.remarks import Verdict
from tailrace.importers.storage.source import Findings, Location

OFF = ("0", "false", "no", "off", "none")
SECONDS_MAX = Fraction(10**7)
VALUE_MAX = 10**18


@dataclass
class Job:
    """One job and its options, by their full name."""

    name: str
    location: Location
    options: dict[str, Option]
    findings: Findings
    remarked: set[tuple[Location, str]]
    """Options with a remark of their own, of all jobs."""

    def text(self, name: str) -> str | None:
        """The value of an option, or None."""
        option = self.options.get(name)
        return None if option is None else (option.value or "")

    def say(self, name: str, verdict: Verdict, words: str) -> None:
        """Adds a remark about an option."""
        option = self.options[name]
        self.remarked.add((option.location, option.text))
        self.findings.say(option.location, option.text, verdict, words)

    def fault(self, name: str, what: str, hint: str) -> None:
        """Adds a problem of an option."""
        option = self.options[name]
        if not option.value and "${" in option.text:
            what, hint = (
                f"{option.text[:60]} is empty",
                "its variable is not set: --define NAME=VALUE",
            )
        self.remarked.add((option.location, option.text))
        self.findings.fault(option.location, name, what, hint)

    def is_on(self, name: str) -> bool:
        """Whether a switch is set: an option without a value is."""
        option = self.options.get(name)
        return option is not None and (
            option.value is None or option.value.strip().lower() not in OFF
        )

    @property
    def kb_base(self) -> int:
        """1024, or 1000 where the job says so."""
        value = self.text("kb_base")
        return (
            int(value) if value and value.strip().isdecimal() and int(value) in KB_BASES else 1024
        )

    def whole(self, name: str, usual: int, least: int, most: int = VALUE_MAX) -> int:
        """A whole number."""
        text = self.text(name)
        if text is None:
            return usual
        value = int_of(text, self.kb_base)
        if value is None or not least <= value <= most:
            self.fault(
                name,
                f"{name}={text[:40]} is not a whole number from {least} to {most}",
                f"write {name}={usual or least}",
            )
            return usual
        return value

    def seconds(self, name: str, unit: Fraction = Fraction(1)) -> Fraction:
        """A time; of a range the lower end."""
        text = self.text(name)
        if not text:
            return Fraction(0)
        value = time_of(text, unit)
        if value is None and ("-" in text or ":" in text):
            value = time_of(text.replace(":", "-").partition("-")[0], unit)
            if value is not None:
                self.say(name, "not-modelled", "of a range, the lower end is taken")
        if value is None or not 0 <= value <= SECONDS_MAX:
            self.fault(name, f"{name}={text[:40]} is not a time", f"write {name}=30s")
            return Fraction(0)
        return value

    def bytes(self, name: str) -> int | None:
        """A size; None if it is left out, zero, or a share of a file."""
        text = self.text(name)
        if text is None:
            return None
        if "%" in text or text.strip().lower().endswith("z"):
            self.say(
                name, "not-modelled", "a share of a file of unknown size, or zones: write `size`"
            )
            return None
        value = size_of(text, self.kb_base)
        if value is None and "-" in text:  # filesize=1m-4m
            value = size_of(text.partition("-")[2], self.kb_base)
        if value is None or not 0 <= value <= VALUE_MAX:
            self.fault(name, f"{name}={text[:40]} is not a size", f"write {name}=1g")
            return None
        return int(value) or None


@dataclass
class Group:
    """Jobs that start together."""

    jobs: list[Job] = field(default_factory=list)


def read_groups(sections: Iterable[Section], findings: Findings) -> list[Group]:
    """All jobs in their groups; a remark about every option that no job reads."""
    usual: dict[str, Option] = {}
    groups: list[Group] = []
    remarked: set[tuple[Location, str]] = set()
    for section in sections:
        own = list(_known(section, findings))
        options = _in_order([*usual.items(), *own])
        if section.name == GLOBAL:
            usual = options
            continue
        job = Job(section.name, section.location, options, findings, remarked)
        if (text := job.text("name")) and any(name == "name" for name, _ in own):
            job.name = text
        if not groups or job.is_on("stonewall"):
            groups.append(Group())
        groups[-1].jobs.append(job)
    return groups


def _in_order(options: Iterable[tuple[str, Option]]) -> dict[str, Option]:
    """The last option of each name, where it stands: of `rwmixread` and `rwmixwrite` the last
    counts, as in fio."""
    found: dict[str, Option] = {}
    for name, option in options:
        found.pop(name, None)
        found[name] = option
    return found


def _known(section: Section, findings: Findings) -> Iterable[tuple[str, Option]]:
    """Options that the importer reads, by their full name; a remark about each of the others."""
    for option in section.options:
        name = ALIASES.get(option.name, option.name)
        if name in READ:
            yield name, option
        elif name in FATES:
            findings.say(option.location, option.text, *FATES[name])
        elif name in ENGINE_OPTIONS:
            words = "an option of an engine: the model has its requests, not how they are submitted"
            findings.say(option.location, option.text, "no-effect", words)
        else:
            hint = closest(option.name, KNOWN, "options")
            findings.say(option.location, option.text, "not-understood", f"unknown option: {hint}")
