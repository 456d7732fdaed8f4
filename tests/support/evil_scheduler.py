"""A hostile Dask scheduler on loopback; its argument names the attack; it ends by itself after a
minute."""

import asyncio
import signal
import sys
from typing import Any

from distributed import Scheduler
from distributed.protocol.serialize import ToPickle

from evil import Evil, evil_objects

LIFE_S = 60
KIND = sys.argv[1]
OBJECTS = evil_objects()


class EvilScheduler(Scheduler):  # type: ignore[misc]
    """Answers honestly but for one object."""

    def identity(self, n_workers: int = -1) -> dict[str, Any]:
        """The first thing that a client asks."""
        told = super().identity(n_workers)
        return (
            {**told, "workers": OBJECTS[KIND]}
            if KIND in OBJECTS and n_workers != -1
            else dict(told)
        )

    async def add_client(self, comm: Any, client: str, **options: Any) -> None:
        """The connection on which the scheduler tells what happens."""
        if KIND == "in-the-stream":
            asyncio.get_running_loop().call_later(1, self.send_evil, client)
        await super().add_client(comm, client=client, **options)

    def send_evil(self, client: str) -> None:
        """A message of the stream."""
        self.client_comms[client].send({"op": "event", "topic": "print", "event": ToPickle(Evil())})


async def serve() -> None:
    """Until the minute is over."""
    scheduler = await EvilScheduler(
        host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0"
    )
    sys.stdout.write(f"Scheduler at: {scheduler.address}\n")
    sys.stdout.flush()
    await asyncio.sleep(LIFE_S)


if __name__ == "__main__":
    signal.alarm(LIFE_S)
    asyncio.run(serve())
