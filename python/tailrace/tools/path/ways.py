"""Ways to try a size: to the program at the other end, and to any host that answers echo
requests."""

import time

from tailrace.tools.path.search import Attempt
from tailrace.tools.path.talk import Agent, Sender, attempt_of


class OneWay:
    """From one host to another, both ours: the other end tells what has arrived, whatever comes
    back."""

    def __init__(self, source: Agent, destination: Agent, address: str) -> None:
        self._source, self._destination, self._address = source, destination, address
        self._port = int(destination.ask("listen")["port"])
        self._sender = Sender()

    def __call__(self, payload_bytes: int, count: int) -> Attempt:
        """Sends a burst, and asks the other end."""
        burst, takes_s = self._sender.burst(payload_bytes, count)
        started = time.monotonic()
        sent = self._source.ask("send", takes_s, to=self._address, port=self._port, **burst)
        received = 0
        if sent["sent"]:
            awaited = {**burst, "token": self._source.token, "count": sent["sent"]}
            received = self._destination.ask("receive", takes_s, **awaited)["received"]
            if received == count:
                self._sender.learn(time.monotonic() - started, count)
        return attempt_of(payload_bytes, sent, received)


class ThereAndBack:
    """To an address: a size passes when the reply of the same size comes back."""

    def __init__(self, source: Agent, address: str) -> None:
        self._source, self._address = source, address
        self._sender = Sender()

    def __call__(self, payload_bytes: int, count: int) -> Attempt:
        """Sends a burst, and waits for the replies."""
        burst, takes_s = self._sender.burst(payload_bytes, count)
        sent = self._source.ask("echo", takes_s, to=self._address, **burst)
        if sent["received"] == count:
            self._sender.learn(sent["took_s"], count)
        return attempt_of(payload_bytes, sent, sent["received"], sent["largest_fragment_bytes"])
