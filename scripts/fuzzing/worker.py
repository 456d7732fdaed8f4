"""The process that tries inputs of one format: `worker.py FORMAT FOLDER`, with a number on each
line of stdin.

The number is the seed of an input. The answer is a line of JSON: `{}`, or the signature and the
details of a finding. The process may crash or hang; the input is then in its folder, and the caller
knows the number.
"""

import faulthandler
import hashlib
import json
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from fuzzing import formats, program
from fuzzing.mutations import mutated

MEMORY_BYTES_MAX = 2 << 30
CORPUS_MAX = 400
"""Inputs that are kept because the program said something new about them."""
SHORTENING_CPU_S = 6
"""Processor time to shorten the input of a finding."""
PACKAGE = f"{os.sep}tailrace{os.sep}"
PLACES = re.compile(r"'[^']*'|\"[^\"]*\"|\S*/\S+|\d+")
"""What differs between two messages of the same kind."""


class Bench:
    """Where inputs are made and tried."""

    def __init__(self, one: program.Format, folder: Path) -> None:
        self.format = one
        self.corpus = folder / "corpus" / one.name
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.pool = one.seeds() + [path.read_bytes() for path in sorted(self.corpus.iterdir())]
        self.file = Path.cwd() / f"input{one.suffix}"
        self.said: set[str] = set()
        self.found: set[str] = set()
        for content in self.pool:
            self.is_new(self.tried(content)[1])

    def attempt(self, number: int) -> dict[str, str]:
        """Makes an input and tries it."""
        content = mutated(
            random.Random(f"{self.format.name}/{number}"),
            self.pool,
            is_binary=self.format.is_binary,
        )
        signature, told = self.tried(content)
        if signature is None:
            if self.is_new(told) and len(self.pool) < CORPUS_MAX:
                self.pool.append(content)
                (self.corpus / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
            return {}
        if signature not in self.found:
            self.shorten(content, signature)
        self.found.add(signature)
        return {"signature": signature, "details": told}

    def tried(self, content: bytes) -> tuple[str | None, str]:
        """The signature of a finding with its details, or None with what the program said."""
        self.file.write_bytes(content)
        try:
            return None, self.format.read(self.file)
        except BaseException as error:  # noqa: BLE001  the caller tells all of them
            return signature_of(error), "".join(traceback.format_exception(error))

    def is_new(self, said: str) -> bool:
        """Whether the program said this for the first time, names and numbers apart."""
        words = PLACES.sub("#", said)
        is_new = words not in self.said
        self.said.add(words)
        return is_new

    def shorten(self, content: bytes, signature: str) -> None:
        """Leaves the shortest input with this finding in the file."""
        end_s = time.process_time() + SHORTENING_CPU_S
        rest = shortened(content)
        while time.process_time() < end_s and (shorter := next(rest, None)) is not None:
            if self.tried(shorter)[0] == signature:
                content, rest = shorter, shortened(shorter)
        self.file.write_bytes(content)


def shortened(content: bytes) -> Iterator[bytes]:
    """The input without a part: halves first, then smaller ones; of text, whole lines."""
    pieces = content.splitlines(keepends=True)
    if len(pieces) < 2:
        pieces = [content[at : at + 8] for at in range(0, len(content), 8)]
    size = len(pieces) // 2
    while size:
        for at in range(0, len(pieces), size):
            yield b"".join(pieces[:at] + pieces[at + size :])
        size //= 2


def signature_of(error: BaseException) -> str:
    """Kind and place: inputs with the same are one finding."""
    if isinstance(error, program.FindingError):
        return PLACES.sub("#", str(error))[:120]
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in frame.filename
    ]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "nowhere"
    return f"{type(error).__name__} in {place}"


def main(arguments: list[str]) -> int:
    """Answers until stdin ends."""
    name, folder = arguments
    faulthandler.register(signal.SIGUSR1, chain=False)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    bench = Bench(formats.format_of(name), Path(folder))
    print(json.dumps({"ready": len(bench.pool)}), file=answers)
    for line in sys.stdin:
        print(json.dumps(bench.attempt(int(line))), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
