"""The page's own code without a browser: its JavaScript in V8, and its WebAssembly module in
another engine."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from py_mini_racer import MiniRacer
from wasmtime import Engine, FuncType, Linker, Module, Store, ValType

from tailrace.whatif.module import packed


@cache
def _module() -> tuple[Engine, Module]:
    engine = Engine()
    return engine, Module(engine, gzip.decompress(packed()))


def run_module(plan: str, ends_at: float = 2.0) -> dict[str, Any] | str:
    """The answer to a plan; in words when it is refused. The run is ended when this share of it is
    done."""
    engine, module = _module()
    store, linker = Store(engine), Linker(engine)
    linker.define_func(
        "env", "told", FuncType([ValType.f64()], [ValType.i32()]), lambda done: int(done >= ends_at)
    )
    linker.define_func(
        "env", "failed", FuncType([ValType.i32(), ValType.i32()], []), lambda _start, _bytes: None
    )
    # What a module exports has no types.
    found: Any = linker.instantiate(store, module).exports(store)
    text = plan.encode()
    found["memory"].write(store, text, found["input"](store, len(text)))
    status = found["run"](store)
    start, length = found["answer"](store), found["answer_bytes"](store)
    answer = bytes(found["memory"].read(store, start, start + length)).decode()
    return answer if status else json.loads(answer)


class Page:
    """The functions of the page that need no document, with the data of a page."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.engine = MiniRacer()
        for name in ("values", "statistics", "core"):
            self.engine.eval(
                (resources.files("tailrace.whatif") / "assets" / f"{name}.js").read_text(
                    encoding="utf-8"
                )
            )
        self.engine.eval(f"const data = {json.dumps(data)}; ''")

    def eval(self, expression: str) -> Any:
        """The value of an expression; `core` and `data` are there."""
        return json.loads(str(self.engine.eval(f"JSON.stringify({expression})")))

    def plan(self, size: str, arm: str, positions: Mapping[str, int | str], seed: str) -> str:
        """The text of a plan as the page gives it to its worker."""
        chosen = ", ".join(map(json.dumps, (size, arm, dict(positions))))
        return str(
            self.eval(f"core.textOf(core.planOf(data, {chosen}), {json.dumps(seed)}, 'page')")
        )
