"""Chromium by its remote interface: a page is opened, acted upon, and asked."""

import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websocket import WebSocket, create_connection

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
START_S_MAX = 60
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)


class Browser:
    """A page of a width, in light or dark; `errors` are exceptions, console errors and refused
    requests."""

    def __init__(
        self, page: Path, folder: Path, width_px: int = 1280, *, is_dark: bool = False
    ) -> None:
        assert CHROMIUM is not None, "tests are skipped without Chromium"
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.socket = self._connected(folder / "profile" / "DevToolsActivePort")
        self.number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        is_phone = width_px < 500
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width_px,
            height=900,
            deviceScaleFactor=1,
            mobile=is_phone,
        )
        self.call("Page.navigate", url=page.as_uri())

    def _connected(self, port_file: Path) -> WebSocket:
        until = time.monotonic() + START_S_MAX
        while not port_file.exists() or not port_file.read_text(encoding="utf-8").strip():
            assert time.monotonic() < until, "Chromium has not started"
            time.sleep(0.05)
        port = port_file.read_text(encoding="utf-8").split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=START_S_MAX) as answer:
            [target] = [one for one in json.load(answer) if one["type"] == "page"]
        return create_connection(
            target["webSocketDebuggerUrl"], timeout=START_S_MAX, suppress_origin=True
        )

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command of the interface."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def eval(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str, limit_s: float) -> Any:
        """The value of an expression once it is true."""
        until = time.monotonic() + limit_s
        while not (found := self.eval(expression)):
            assert time.monotonic() < until, f"not within {limit_s} s: {expression}"
            time.sleep(0.1)
        return found

    def errors(self) -> list[str]:
        """What went wrong so far."""
        return [json.dumps(event["params"])[:500] for event in self.events if _is_error(event)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _at: TracebackType | None,
    ) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(START_S_MAX)


def _is_error(event: dict[str, Any]) -> bool:
    if event["method"] == "Log.entryAdded":
        return bool(event["params"]["entry"]["level"] == "error")
    is_console = (
        event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] == "error"
    )
    return is_console or bool(event["method"] == "Runtime.exceptionThrown")
