"""Keywords of each kind of definition, in the order in which vdbench compares them: a keyword may
be abbreviated to any prefix.

A keyword with words has them as its remark; the importer reads those without.
"""

from dataclasses import dataclass

from tailrace.importers.remarks import Verdict

OBJECTS = ("hd", "host", "rg", "sd", "fsd", "wd", "fwd", "rd")
"""Keywords that start a definition, unless they name one inside of another."""
NAMING: dict[str, tuple[str, ...]] = {
    "sd": ("host", "hd"),
    "wd": ("sd", "host", "hd"),
    "fsd": ("host", "hd"),
    "fwd": ("fsd", "host", "hd"),
    "rd": ("wd", "sd", "fsd", "fwd"),
}
"""Definitions, and the keywords of `OBJECTS` that name others inside of them."""


@dataclass(frozen=True)
class Keyword:
    """A keyword of a definition."""

    name: str
    verdict: Verdict | None = None
    words: str = ""
    is_exact: bool = False


def _same(names: str, verdict: Verdict, words: str) -> tuple[Keyword, ...]:
    return tuple(Keyword(name, verdict, words) for name in names.split())


_START = "how vdbench starts or reports its programs"
_DATA = "contents of blocks are not part of the model"
_CACHE = "hits in caches are not modelled: give the device a cache (devices.*.cache)"
_REPLAY = "traces are not replayed"
_FILES = "file systems are not modelled: describe their requests as a workload (WD) of a device"

_GENERAL = (
    *_same("compression compratio compressionseed dedup", "no-effect", _DATA),
    *_same(
        "port pattern data_errors dataerrors swat validate journal startcmd start_cmd",
        "no-effect",
        _START,
    ),
    *_same(
        "endcmd end_cmd heartbeat_error debug unix2windows formatxfersize create_anchors",
        "no-effect",
        _START,
    ),
    *_same(
        "formatsds report report_run_totals histogram psrset auxreport monitor", "no-effect", _START
    ),
    Keyword(
        "concatenatesds",
        "not-modelled",
        "devices are not concatenated: give one device their size and rates",
    ),
    *_same("messagescan abort_failed_skew misc pattern_buffer showlba loop", "no-effect", _START),
    *_same("dedupratio dedupunit dedupsets deduphotsets", "no-effect", _DATA),
)
_HOST = (
    Keyword("system", "no-effect", "address of the host; the scenario has its name"),
    *_same("vdbench shell user jvms", "no-effect", _START),
    Keyword(
        "clients", "not-modelled", "simulated clients of a host: write each as a host of its own"
    ),
    Keyword("mount", "no-effect", _START),
)
_DEVICE = (
    Keyword("host"),
    Keyword("hd", is_exact=True),
    Keyword("lun"),
    Keyword("count"),
    Keyword("size"),
    Keyword("threads"),
    Keyword("hitarea", "no-effect", "only requests with rhpct or whpct use it"),
    Keyword("offset", "no-effect", "the position of the area on the device"),
    Keyword("align", "no-effect", "addresses are multiples of the block already"),
    *_same("kstat instance journal", "no-effect", _START),
    Keyword("replay", "not-modelled", _REPLAY),
    *_same("resetlun resetbus", "not-modelled", "resets of devices are not modelled"),
    Keyword("openflags"),
    Keyword("range"),
    Keyword("streams", "contradiction", "`streams` belongs to a workload definition (WD)"),
    *_same("dedup dedupratio", "no-effect", _DATA),
)
_LOAD = (
    Keyword("sd", is_exact=True),
    Keyword("skew"),
    Keyword("xfersize"),
    Keyword("readpct"),
    Keyword("rdpct"),
    Keyword("writepct"),
    Keyword("wrpct"),
    Keyword("range"),
    Keyword(
        "hotband",
        "not-modelled",
        "requests are spread over the whole area; `access: {zipf: 1.1}` has a hot part",
    ),
    Keyword("seekpct"),
    Keyword("stride", "not-modelled", "`access` has no stride: addresses are random"),
    Keyword("priority", "not-modelled", "workloads have no order of service: give them rates"),
    Keyword("iorate"),
    Keyword("rhpct"),
    Keyword("whpct"),
    Keyword("host"),
    Keyword("hd", is_exact=True),
    Keyword("openflags"),
    Keyword("user", "not-modelled", "a class of the user is not run"),
    Keyword("threads", "not-modelled", "only concatenated devices have threads of a workload"),
    Keyword("streams"),
)
_RUN = (
    Keyword("wd", is_exact=True),
    Keyword("sd", is_exact=True),
    Keyword("fsd", "not-modelled", _FILES, is_exact=True),
    Keyword("iorate"),
    *_same(
        "maxdata maxdataread maxdatawritten",
        "not-modelled",
        "runs end after their time: write `bytes` (of each job)",
    ),
    Keyword("curve"),
    Keyword("stopcurve", "not-modelled", "the points of a curve are not imported"),
    Keyword("elapsed"),
    Keyword("interval"),
    Keyword("warmup"),
    Keyword("replay", "not-modelled", _REPLAY, is_exact=True),
    Keyword("pause", "no-effect", "arms do not follow each other"),
    Keyword("forxfersize"),
    Keyword("forthreads"),
    Keyword("forrdpct"),
    Keyword("forrhpct"),
    Keyword("forwhpct"),
    Keyword("forseekpct"),
    Keyword("forhitarea", "no-effect", "only requests with rhpct or whpct use it"),
    *_same("forcompratio forcompression", "no-effect", _DATA),
    *_same(
        "fordepth forwidth forfiles forsizes fortotalsize forwss forworkingsetsize",
        "not-modelled",
        _FILES,
    ),
    Keyword("foroperations", "not-modelled", _FILES),
    Keyword("xfersize"),
    Keyword("threads"),
    Keyword("rdpct"),
    Keyword("rhpct"),
    Keyword("whpct"),
    Keyword("seekpct"),
    Keyword("hitarea", "no-effect", "only requests with rhpct or whpct use it"),
    *_same("compratio compression", "no-effect", _DATA),
    *_same("depth width files sizes totalsize wss workingsetsize", "not-modelled", _FILES),
    Keyword("distribution"),
    *_same("startcmd start_cmd endcmd end_cmd", "no-effect", _START),
    Keyword("fwd", "not-modelled", _FILES, is_exact=True),
    *_same("fwdrate operations format", "not-modelled", _FILES),
    Keyword("openflags"),
    Keyword("mount", "no-effect", _START),
)
TABLES: dict[str, tuple[Keyword, ...]] = {
    "": _GENERAL,
    "hd": _HOST,
    "sd": _DEVICE,
    "wd": _LOAD,
    "rd": _RUN,
}
UNMODELLED = {"fsd": _FILES, "fwd": _FILES, "rg": _REPLAY}
"""Definitions that are not modelled, with all of their keywords."""
CACHE_WORDS = _CACHE


def find(kind: str, key: str) -> Keyword | None:
    """The keyword that a beginning stands for, in a definition of a kind."""
    table = TABLES[kind]
    exact = next((one for one in table if one.name == key), None)
    if kind == "" and exact is not None:
        return exact
    return next(
        (one for one in table if (one.name == key if one.is_exact else one.name.startswith(key))),
        None,
    )
