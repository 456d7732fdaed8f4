"""A program in the place of `tailrace-exact`, which answers each question with given words or fails
with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tailrace.exact import program


def answer(monkeypatch: pytest.MonkeyPatch, folder: Path, **answers: dict[str, Any] | str) -> None:
    """By question: an answer, or the words with which the engine fails."""
    engine = folder / program.ENGINE
    cases = []
    for question, said in answers.items():
        file = folder / f"{question}.answer"
        file.write_text(said if isinstance(said, str) else json.dumps(said), encoding="utf-8")
        how = f"cat {file} >&2; exit 1" if isinstance(said, str) else f"cat {file}"
        cases.append(f"{question}) {how};;")
    engine.write_text(f"#!/bin/sh\ncase $1 in {' '.join(cases)} esac\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.setattr(program, "installed", lambda _name: engine)
