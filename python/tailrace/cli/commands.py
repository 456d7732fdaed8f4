"""Typer's application, whose commands take dataclasses of options: each field is one option."""

import inspect
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from tailrace.option import Option, option_of


class Commands(typer.Typer):
    """An application whose parameters are read by Typer, or are dataclasses of `Option`s."""

    def command(self, *arguments: Any, **settings: Any) -> Callable[[Any], Any]:
        """As Typer's; the decorated function is left as it is."""
        register = super().command(*arguments, **settings)

        def decorate(function: Any) -> Any:
            register(expanded(function))
            return function

        return decorate


def expanded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command as Typer sees it: a parameter for each field instead of one for the dataclass."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            parameters += _parameters(kind)
        else:
            parameters.append(parameter.replace(annotation=_annotation(kind, parameter.default)))

    def command(**values: Any) -> Any:
        return function(
            **{
                name: made(kind, values) if is_dataclass(kind) else _value(kind, values[name])
                for name, kind in hints.items()
                if name != "return"
            }
        )

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def made(kind: Any, values: Mapping[str, Any]) -> Any:
    """The options from the values that Typer has read; an absent option keeps its default."""
    given: dict[str, Any] = {}
    for field, hint in _hinted(kind):
        if is_dataclass(hint):
            given[field.name] = made(hint, values)
        elif field.default is MISSING or values[field.name] != _default(field, hint):
            given[field.name] = _value(hint, values[field.name])
    return kind(**given)


def _value(hint: Any, given: Any) -> Any:
    """The value of a parameter; Typer itself calls the reader of an option that is not repeated."""
    option = option_of(hint)
    if option is None or option.read is None or not isinstance(given, list):
        return given
    return option.read(option.flags[0], given)


def _hinted(kind: Any) -> Iterator[tuple[Field[Any], Any]]:
    """Each field of a dataclass with its type."""
    hints = get_type_hints(kind, include_extras=True)
    return ((field, hints[field.name]) for field in fields(kind))


def _parameters(kind: Any) -> Iterator[inspect.Parameter]:
    """A parameter for each field."""
    for field, hint in _hinted(kind):
        if is_dataclass(hint):
            yield from _parameters(hint)
        else:
            default = _default(field, hint)
            yield inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=_annotation(hint, default),
            )


def _default(field: Field[Any], hint: Any) -> Any:
    """The default as the command line has it."""
    option, default = option_of(hint), field.default
    if default is MISSING:
        return inspect.Parameter.empty
    if default == ():
        return None
    if option is None or option.read is None or default is None:
        return default
    return option.shown(default)


def _annotation(hint: Any, default: Any) -> Any:
    """The type and the option in Typer's words; other types stay."""
    option = option_of(hint)
    if option is None:
        return hint
    kind = _read_type(get_args(hint)[0], option, default)
    if not option.flags:
        return Annotated[kind, typer.Argument(help=option.help, metavar=option.metavar)]
    return Annotated[
        kind,
        typer.Option(
            *option.flags,
            help=option.help,
            metavar=option.metavar,
            min=option.min,
            max=option.max,
            callback=_reader(option, default),
        ),
    ]


def _read_type(kind: Any, option: Option, default: Any) -> Any:
    """The type that Typer parses: text, if the option has a parser of its own."""
    members = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    first = members[0]
    if get_origin(first) in (abc.Sequence, abc.Mapping):
        of_what = str if option.read is not None else get_args(first)[0]
        is_required = default is inspect.Parameter.empty
        return list[of_what] if is_required else list[of_what] | None  # type: ignore[valid-type]
    read = str if option.read is not None else first
    return read | None if NoneType in members else read


def _reader(option: Option, default: Any) -> Callable[[Any], Any] | None:
    """Typer's callback that makes the value; the default stays as it is, and so do lists, of which
    Typer reads each element after the callback."""
    if option.read is None:
        return None

    def read(given: Any) -> Any:
        if given is None or given == default or isinstance(given, list) or option.read is None:
            return given
        try:
            return option.read(option.flags[0], given)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return read
