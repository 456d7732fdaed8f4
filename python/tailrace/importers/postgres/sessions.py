"""Sessions of a log: statements with their times, pauses between them, and transactions."""

from collections import OrderedDict
from dataclasses import dataclass, field

from tailrace.importers.records.sample import Sample

SESSIONS_MAX = 20_000
"""Maximum number of open sessions; beyond it, the session that is silent for longest is closed."""
STATEMENTS_MAX = 50
"""Statements of a transaction that are described one by one."""
SHAPES_MAX = 64
"""Different sequences of statements; further ones count as others."""
BEGINS = frozenset(["BEGIN", "START TRANSACTION"])
ENDS = frozenset(["COMMIT", "ROLLBACK", "END", "PREPARE TRANSACTION"])
NS_PER_US = 1000
OVERHEAD_BYTES = 6
"""Of a query besides its text: type, length and the zero at its end (PostgreSQL's protocol,
`Query`)."""

Statement = tuple[str, int, int]
"""Command tag, duration in ns, bytes of the request."""


@dataclass
class _Session:
    begin_us: float
    end_us: float
    waiting_ms: float = 0.0
    """Of parsing and binding, for the execution that follows."""
    open: list[Statement] | None = None
    """Statements of the open transaction; None outside of one."""


@dataclass
class Shape:
    """Transactions with the same sequence of statements."""

    count: int = 0
    durations: list[Sample] = field(default_factory=list)
    requests: list[Sample] = field(default_factory=list)


@dataclass
class Sessions:
    """Everything that is kept of a log."""

    open: "OrderedDict[str, _Session]" = field(default_factory=OrderedDict)
    statements: int = 0
    transactions: int = 0
    sessions: int = 0
    begin_us: float = 0.0
    end_us: float = 0.0
    present_us: float = 0.0
    """Sum over sessions of the time from their first statement to the end of their last."""
    busy_us: float = 0.0
    """Sum of the durations of all statements."""
    durations: Sample = field(default_factory=Sample)
    requests: Sample = field(default_factory=Sample)
    shapes: dict[tuple[str, ...], Shape] = field(default_factory=dict)

    def step(self, session: str, at_us: int, ms: float) -> None:
        """Parsing or binding."""
        self._of(session, at_us - ms * 1000).waiting_ms += ms

    def statement(self, session: str, at_us: int, ms: float, tag: str, text: str) -> None:
        """A statement that has ended at this time."""
        begin_us = at_us - ms * 1000
        own = self._of(session, begin_us)
        ms += own.waiting_ms
        own.waiting_ms = 0.0
        duration_ns, request = (
            round(ms * 1e6),
            len(text.encode("utf-8", "replace")) + OVERHEAD_BYTES,
        )
        self.begin_us = begin_us if not self.statements else min(self.begin_us, begin_us)
        self.end_us = at_us if not self.statements else max(self.end_us, at_us)
        own.end_us = max(own.end_us, at_us)
        self.statements += 1
        self.busy_us += ms * 1000
        self.durations.add(duration_ns)
        self.requests.add(request)
        self._in_transaction(own, (tag, duration_ns, request))

    def _of(self, session: str, begin_us: float) -> _Session:
        own = self.open.get(session)
        if own is None:
            self.sessions += 1
            own = self.open[session] = _Session(begin_us, begin_us)
            if len(self.open) > SESSIONS_MAX:
                self._close(self.open.popitem(last=False)[1])
        self.open.move_to_end(session)
        return own

    def _in_transaction(self, own: _Session, statement: Statement) -> None:
        tag = statement[0]
        if own.open is None and tag in BEGINS:
            own.open = [statement]
        elif own.open is None:
            self._transaction([statement])
        else:
            # Of a longer one the number is kept, and no more.
            own.open.append(statement)
            if tag in ENDS:
                self._transaction(own.open)
                own.open = None
            elif len(own.open) > STATEMENTS_MAX:
                del own.open[STATEMENTS_MAX:]

    def _transaction(self, statements: list[Statement]) -> None:
        self.transactions += 1
        tags = tuple(tag for tag, _, _ in statements)
        if tags not in self.shapes and (
            len(self.shapes) >= SHAPES_MAX or len(tags) > STATEMENTS_MAX
        ):
            tags = ()
        shape = self.shapes.setdefault(tags, Shape())
        shape.count += 1
        for index, (_, duration_ns, request) in enumerate(statements if tags else ()):
            if index >= len(shape.durations):
                shape.durations.append(Sample())
                shape.requests.append(Sample())
            shape.durations[index].add(duration_ns)
            shape.requests[index].add(request)

    def close(self) -> None:
        """The log has ended, and with it every session."""
        while self.open:
            self._close(self.open.popitem(last=False)[1])

    def _close(self, own: _Session) -> None:
        self.present_us += own.end_us - own.begin_us
        if own.open:
            for statement in own.open:
                self._transaction([statement])

    @property
    def span_us(self) -> float:
        """From the begin of the first statement to the end of the last."""
        return max(1.0, self.end_us - self.begin_us)

    @property
    def users(self) -> int:
        """Sessions at the same time, on average."""
        return max(1, round(self.present_us / self.span_us))

    @property
    def pause_us(self) -> float:
        """Mean pause of a session between statements, and before its first one in the time of
        all."""
        pauses = self.users * self.span_us - self.busy_us
        return max(0.0, pauses) / max(1, self.statements)
