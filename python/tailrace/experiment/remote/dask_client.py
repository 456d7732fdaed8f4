"""Dask's client as the command uses it; importing this module imports Dask."""

from typing import Any

from distributed import Client

WITHOUT_PICKLE = ("msgpack", "error")
"""Dask's serialisers of results: MessagePack, and the text of an error."""


class TextClient(Client):  # type: ignore[misc]
    """A client that requests results without pickles and ignores messages that do not concern a
    task."""

    def __init__(self, address: str, security: Any, timeout_s: float) -> None:
        super().__init__(
            address,
            security=security,
            timeout=timeout_s,
            set_as_default=False,
            serializers=WITHOUT_PICKLE,
            deserializers=WITHOUT_PICKLE,
            direct_to_workers=False,
        )

    def subscribe_topic(self, topic: str, handler: Any) -> None:
        """No effect: Dask prints the workers' `print` topics on this terminal, and loads the
        objects of their warnings."""

    @property
    def is_deaf(self) -> bool:
        """Whether it hears nothing more although it is connected."""
        task = self._handle_report_task
        return task is not None and task.done()

    @property
    def fault(self) -> str:
        """The message that it could not decode, after which it receives no more; empty for none."""
        task = self._handle_report_task
        error = task.exception() if self.is_deaf and not task.cancelled() else None
        return "" if error is None else f"{type(error).__name__}: {error}"
