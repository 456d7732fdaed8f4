"""BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE and PFC_WD: limits, headroom and the
watchdog."""

from typing import Any

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import size, time
from tailrace.importers.sonic.read import DatabaseRow, Tables
from tailrace.importers.sonic.tables import row_of
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI
from tailrace.scenario.policies.pause import Pfc, Watchdog

PS_PER_MS = 10**9
ALPHA_POWER_MIN = min(VENDOR_ALPHAS_MILLI["sonic"])
XON_OFFSET_DEFAULT: int = Pfc.model_fields["xon_offset"].default
COMPUTED, DYNAMIC = "NULL", "dynamic"
"""Profile name, and type of a headroom, for values that the switch computes."""
WATCHDOG_ACTIONS = (None, "drop")
"""The action of the model in a storm; SONiC also has forward and alert."""

Yaml = dict[str, Any]


def buffer_bytes(tables: Tables) -> str | None:
    """The buffer of the switch: the largest pool with its headroom pool. Ingress and egress pools
    share it."""
    sizes = []
    for row in tables.get("BUFFER_POOL", {}).values():
        own, headroom = row.number("size"), row.number("xoff")
        row.take("type"), row.take("mode")
        if own:
            sizes.append(own + (headroom or 0))
    return size(max(sizes)) if sizes else None


def queue_limit(row: DatabaseRow, tables: Tables, remarks: Remarks) -> Yaml:
    """`limit` and `reserved` of a queue."""
    profile = _profile(row, tables, remarks)
    if profile is None:
        return {}
    found: Yaml = {}
    if (limit := _limit(profile, remarks)) is not None:
        found["limit"] = limit
    if reserved := profile.number("size"):
        found["reserved"] = size(reserved)
    return found


def group_thresholds(row: DatabaseRow, tables: Tables, remarks: Remarks) -> tuple[bool, Yaml]:
    """Whether a priority group is lossless, and its thresholds. SONiC's `xoff` is the headroom."""
    profile = _profile(row, tables, remarks)
    if profile is None:
        return _computed(row, tables)
    found: Yaml = {}
    if (limit := _limit(profile, remarks)) is not None:
        found["xoff"] = limit
    headroom, resume = profile.number("xoff"), profile.number("xon") or 0
    reserved = profile.number("size") or 0
    if not headroom:
        return profile.take("headroom_type") == DYNAMIC, found
    found["headroom"] = size(headroom)
    if resume and reserved >= resume + headroom:
        # Spectrum: the size of a lossless profile is xon + xoff, including its headroom
        # (buffer_headroom_mellanox.lua).
        reserved -= headroom
    if (offset := _resumes(profile, reserved, resume, remarks)) is not None:
        found["xon_offset"] = size(offset)
    if reserved:
        found["reserved"] = size(reserved)
    return True, found


def _computed(row: DatabaseRow, tables: Tables) -> tuple[bool, Yaml]:
    """A lossless group without a profile: the switch computes one from rate, cable and MTU."""
    if row.fields.get("profile") != COMPUTED:
        return False, {}
    stated = next(iter(tables.get("DEFAULT_LOSSLESS_BUFFER_PARAMETER", {}).values()), None)
    power = stated.number("default_dynamic_th", ALPHA_POWER_MIN) if stated else None
    return True, {"xoff": f"dynamic(sonic:{power})"} if power in VENDOR_ALPHAS_MILLI[
        "sonic"
    ] else {}


def _resumes(profile: DatabaseRow, reserved: int, resume: int, remarks: Remarks) -> int | None:
    """Distance below its limit at which a group resumes: the larger of xon and limit - xon_offset
    (saibuffer.h)."""
    offset, static = profile.number("xon_offset"), profile.number("static_th")
    profile_key = f"BUFFER_PROFILE|{profile.key}"
    if static and resume:
        full = reserved + static
        level = max(resume, full - offset if offset else 0)
        return max(0, full - level)
    if offset:
        if resume:
            known = (
                f"in SONiC pauses end {size(offset)} below xoff, but not above {size(resume)} (xon)"
            )
            words = f"{known}; in the scenario always at that distance"
            remarks.add(profile.line, profile_key, "assumed", words)
        return offset
    if resume:
        words = (
            f"in SONiC pauses end when the group holds {size(resume)} (xon), whatever its dynamic "
            "limit; in the scenario they end a fixed distance below it: xon_offset is the default, "
            f"{size(XON_OFFSET_DEFAULT)}"
        )
        remarks.add(profile.line, profile_key, "not-modelled", words)
    return None


def _profile(row: DatabaseRow, tables: Tables, remarks: Remarks) -> DatabaseRow | None:
    name = row.reference("profile")
    profile = row_of(tables, "BUFFER_PROFILE", name)
    if profile is None and name not in (None, "NULL"):
        remarks.add(row.line, row.key, "contradiction", f"there is no BUFFER_PROFILE '{name}'")
    if profile is not None:
        pool = profile.reference("pool")
        if pool is not None and row_of(tables, "BUFFER_POOL", pool) is None:
            words = f"there is no BUFFER_POOL '{pool}'"
            remarks.add(profile.line, f"BUFFER_PROFILE|{profile.key}", "contradiction", words)
    return profile


def _limit(profile: DatabaseRow, remarks: Remarks) -> str | None:
    dynamic, static = profile.number("dynamic_th", ALPHA_POWER_MIN), profile.number("static_th")
    if dynamic is not None and dynamic in VENDOR_ALPHAS_MILLI["sonic"]:
        return f"dynamic(sonic:{dynamic})"
    if static:
        return size(static)
    if static == 0:
        words = "static_th 0 admits no frame, which marks an unused port; the default limit is used"
        remarks.add(profile.line, f"BUFFER_PROFILE|{profile.key}", "not-modelled", words)
        return None
    if "dynamic_th" in profile.fields or "static_th" in profile.fields:
        words = "a limit must be dynamic_th -8 to 8, or static_th in bytes"
        remarks.add(profile.line, f"BUFFER_PROFILE|{profile.key}", "not-understood", words)
    return None


def watchdog_of(port: str, tables: Tables, remarks: Remarks) -> Yaml:
    """The watchdog of a port."""
    everywhere = row_of(tables, "PFC_WD", "GLOBAL")
    if everywhere is not None:
        everywhere.take("POLL_INTERVAL")
    row = next((r for r in tables.get("PFC_WD", {}).values() if port in r.key.split(",")), None)
    if row is None:
        return {}
    action = row.take("action")
    if action not in WATCHDOG_ACTIONS:
        words = f"action {action}: in a storm the model drops the frames of the queue"
        remarks.add(row.line, f"PFC_WD|{row.key}", "not-modelled", words)
    usual = Watchdog()
    detection, restoration = row.number("detection_time", 1), row.number("restoration_time", 1)
    return {
        "watchdog": {
            "detection": time(detection * PS_PER_MS if detection else usual.detection),
            "restoration": time(restoration * PS_PER_MS if restoration else usual.restoration),
        }
    }
