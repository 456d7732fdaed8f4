"""Options are written once: the command line and Python have the same names and defaults."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import pytest
import typer.main

import tailrace
from tailrace.advice.options import AdviceOptions
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError
from tailrace.experiment.execution import LOCAL, SLURM, ExecutionOptions
from tailrace.experiment.executor import Local
from tailrace.experiment.remote.slurm import NAME
from tailrace.experiment.run_options import RunOptions
from tailrace.option import option_of, refuse_out_of_range
from tailrace.search.options import SearchOptions
from tailrace.sensitivity.options import SensitivityOptions

PYTHON: dict[str, tuple[Callable[..., Any], type]] = {
    "run": (tailrace.run, RunOptions),
    "sweep": (tailrace.sweep, RunOptions),
    "search": (tailrace.search_for, SearchOptions),
    "sensitivity": (tailrace.sensitivity_of, SensitivityOptions),
}
ONLY_IN_PYTHON = {
    "scenario": "the command's argument",
    "progress": "the command always shows it",
    "axes": "--sweep of `tailrace run`, as a mapping",
}
OF_PROGRAMS = "of the machine that runs it, not of a notebook"
ONLY_ON_THE_COMMAND_LINE = {
    "json": "the functions return objects",
    "full": "the functions print nothing",
    "dry_run": "the functions print nothing",
    "page": "`sensitivity.text.study_page` makes it",
    "sweep": "`tailrace.sweep`",
    "paired": "`tailrace.sweep`",
    **dict.fromkeys(("calibrated", "log_ingress", "fabric", "captures"), OF_PROGRAMS),
    **dict.fromkeys(("live_scale", "time_budget"), OF_PROGRAMS),
    **dict.fromkeys((one.name for one in fields(ExecutionOptions) if one.name != "on"),
                    "Dask's configuration decides it"),
}  # fmt: skip
ONLY_OF_RUN = {"live", "exact", "explain"}
"""Which `tailrace.sweep` does not have: a sweep is simulated, and explains no trial."""
OTHER_DEFAULTS = {
    ("sensitivity", "assumptions"): "a call without `vary` has nothing else to vary",
    ("search", "vary"): "required",
    ("search", "goals"): "required",
    ("sensitivity", "vary"): "a mapping, None for none",
}


def options_of(kind: type) -> dict[str, Any]:
    """The default of each option by its name in Python."""
    found: dict[str, Any] = {}
    for field in fields(kind):
        hint = get_type_hints(kind)[field.name]
        if is_dataclass(hint):
            found |= options_of(hint)  # type: ignore[arg-type]
        else:
            assert field.default is not MISSING, f"{field.name} has no default"
            found[field.name] = field.default
    return found


@pytest.mark.parametrize("name", PYTHON)
def test_a_function_has_the_names_and_defaults_of_its_command(name: str) -> None:
    function, kind = PYTHON[name]
    options = options_of(kind)
    keywords = {
        key: parameter.default
        for key, parameter in inspect.signature(function).parameters.items()
        if key not in ONLY_IN_PYTHON
    }
    missing = set(ONLY_ON_THE_COMMAND_LINE)
    if name == "sweep":
        missing |= ONLY_OF_RUN
        missing -= {"paired"}
    assert set(keywords) == set(options) - missing
    different = {(name, key) for key in keywords if keywords[key] != options[key]}
    assert different == {one for one in OTHER_DEFAULTS if one[0] == name}


def test_every_named_difference_is_one() -> None:
    options = {key for _, kind in PYTHON.values() for key in options_of(kind)}
    assert set(ONLY_ON_THE_COMMAND_LINE) <= options
    keywords = {key for one, _ in PYTHON.values() for key in inspect.signature(one).parameters}
    assert set(ONLY_IN_PYTHON) <= keywords


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run", RunOptions),
        ("search", SearchOptions),
        ("sensitivity", SensitivityOptions),
        ("advise", AdviceOptions),
    ],
)
def test_the_command_has_each_option_with_its_default(name: str, kind: type) -> None:
    command: Any = typer.main.get_command(app)
    parameters = {one.name: one for one in command.commands[name].params}
    for key, default in options_of(kind).items():
        shown, hint = parameters[key].default, _hint(kind, key)
        option = option_of(hint)
        assert option is not None
        assert {*parameters[key].opts, *parameters[key].secondary_opts} == {
            part for flag in option.flags for part in flag.split("/")
        }
        if option.read is not None and default is not None:
            assert option.read(option.flags[0], shown) == default
        else:
            assert (shown or None) == (default or None), key


def _hint(kind: type, name: str) -> Any:
    hints = get_type_hints(kind, include_extras=True) | get_type_hints(
        ExecutionOptions, include_extras=True
    )
    return hints[name]


def test_places_have_the_names_of_their_executors() -> None:
    assert (Local.name, NAME) == (LOCAL, SLURM)


def test_python_refuses_a_number_out_of_range_as_the_command_does() -> None:
    with pytest.raises(RunRefusedError, match="trials must be at least 1, not 0"):
        refuse_out_of_range(SensitivityOptions(trials=0))
    with pytest.raises(RunRefusedError, match="seed must be at least 0, not -1"):
        refuse_out_of_range(SearchOptions(seed=-1))
    with pytest.raises(RunRefusedError, match="max_workers must be at least 1, not 0"):
        refuse_out_of_range(RunOptions(execution=ExecutionOptions(max_workers=0)))
