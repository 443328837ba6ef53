"""Plays with a bot that reads and writes JSON lines: `cardarena bridge`.

Connection, fair deals, receipts and forced moves are those of the SDK. Answers of the bot are sent unchanged, and the
arena judges them: an index past the moves is illegal, and an answer without a choice is malformed. If a line is no
answer, or the process of a match has ended, the bridge answers that the bot failed.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cardarena import _json_lines
from cardarena._ask import AnyAsk
from cardarena._bot_process import BotProcess, why_no_script
from cardarena._connection import Connection
from cardarena._errors import Misconfigured
from cardarena._families import FAMILIES
from cardarena._json_lines import NotAnAnswer
from cardarena._raised import NOTE
from cardarena._session import News, Work
from cardarena.v1.game_pb2 import FaultKind
from cardarena.v1.play_pb2 import Answer, AskClosed, MatchStart

_FAMILY_OF: Final = {game: family for family, games in FAMILIES.items() for game in games}


@dataclass(slots=True)
class _Seat:
    """A match of the bot."""

    process: BotProcess | None
    """None once it has ended."""
    ended: str = ""
    """The end of the process, as a sentence."""
    ask: AnyAsk | None = None
    """The last ask, open or not."""
    answered: bool = False

    @property
    def waits(self) -> bool:
        """Whether the ask waits for an answer."""
        return self.ask is not None and self.ask.open and not self.answered


class Bridge:
    """Passes asks and answers between a connection and a bot's processes."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        per_match: bool,
        say: Callable[[str], None],
        start: type[BotProcess] = BotProcess,
    ) -> None:
        """Begin without processes.

        Args:
          command: Program and arguments of the bot.
          per_match: Whether each match has a separate process.
          say: Logs a line.
          start: Starts a process.
        """
        self._start = start
        self._command = command
        self._per_match = per_match
        self._say = say
        self._lock = threading.Lock()
        self._seats: dict[int, _Seat] = {}
        self._shared: BotProcess | None = None
        self._problem = ""
        """Why the process of all matches has ended."""
        self._closing = False
        self._connection: Connection | None = None

    def __enter__(self) -> Callable[[Connection], None]:
        """Start the process of all matches, before the bot says hello; return the function that plays.

        Raises:
          Misconfigured: if it cannot be started.
        """
        if why := why_no_script(self._command[0]):
            raise self._cannot_start(why)
        if not self._per_match:
            self._shared = self._started()
        return self._play

    def __exit__(self, *_: object) -> None:
        self._close()

    def _play(self, connection: Connection) -> None:
        """Play until the connection is over, or the process of all matches has ended.

        Raises:
          Misconfigured: if that process has ended.
        """
        with self._lock:
            self._connection = connection
        while not self._problem and (work := connection.take()) is not None:
            self._do(work, connection)
        if self._problem:
            raise Misconfigured(self._problem)

    def _started(self) -> BotProcess:
        try:
            return self._start(self._command, self._on_line, self._on_end)
        except OSError as error:
            raise self._cannot_start(error.strerror) from None

    def _cannot_start(self, why: str | None) -> Misconfigured:
        return Misconfigured(f"the bot's program {self._command[0]!r} cannot be started: {why}")

    def _close(self) -> None:
        with self._lock:
            self._closing = True
            processes = {id(seat.process): seat.process for seat in self._seats.values()}
            processes[id(self._shared)] = self._shared
        running = [process for process in processes.values() if process is not None]
        for process in running:
            process.finish()
        for process in running:
            process.close()

    # Messages of the arena, on the thread that called `play`.

    def _do(self, work: Work, connection: Connection) -> None:
        for closed in work.closed:
            self._withdraw(closed)
        for news in work.news:
            self._tell(news)
        for ask in work.asks:
            if connection.show(ask):
                self._ask(ask, connection)

    def _tell(self, news: News) -> None:
        if isinstance(news, MatchStart):
            seat = _Seat(self._shared)
            if self._per_match:
                try:
                    seat.process = self._started()
                except Misconfigured as error:
                    seat.ended = str(error)
                    self._say(f"{error}: an error at the start of match {news.match}")
            with self._lock:
                self._seats[news.match] = seat
            if seat.process is not None:
                seat.process.send(_json_lines.start_line(news))
            return
        with self._lock:
            seat = self._seats.pop(news.match)
        if seat.process is not None:
            family = seat.ask.family if seat.ask else _FAMILY_OF.get(news.start.terms.game, "")
            seat.process.send(_json_lines.end_line(news, family))
            if self._per_match:
                seat.process.finish()

    def _ask(self, ask: AnyAsk, connection: Connection) -> None:
        line = _json_lines.ask_line(ask)
        with self._lock:
            seat = self._seats[ask.match]
            seat.ask, seat.answered = ask, seat.process is None
        if seat.process is not None:
            seat.process.send(line)
        else:
            connection.answer([self._failure(ask, seat.ended)])

    def _withdraw(self, closed: AskClosed) -> None:
        with self._lock:
            seat = self._seat_of(closed.ask_id)
        if seat is None or seat.process is None:
            return
        if closed.fault == FaultKind.FAULT_KIND_TIMEOUT and not seat.process.wrote:
            self._say(
                "the bot has written nothing yet: it must answer each ask with a line, and flush its output"
            )
        seat.process.send(_json_lines.closed_line(closed))

    # Lines of the bot, on the thread that reads them.

    def _on_line(self, process: BotProcess, line: bytes) -> None:
        if not line.strip():
            return
        try:
            answer = _json_lines.answer_of(line)
        except NotAnAnswer as error:
            self._fail(process, f"the bot {error}")
            return
        with self._lock:
            seat = self._seat_of(answer.ask_id)
            found = seat is not None and seat.process is process and not seat.answered
            if seat is not None and found:
                seat.answered = True
            waiting = [str(each.ask_id) for each in self._waiting(process)]
        if not found:
            asks = (
                f"these wait for an answer: {', '.join(waiting)}" if waiting else "no ask is open"
            )
            again = "has answered already" if seat is not None else "was not asked"
            self._say(f"the bot answered ask {answer.ask_id}, which it {again}; {asks}")
            return
        if answer.failed and seat is not None and seat.ask is not None:
            why = answer.note.removeprefix(NOTE) or "it did not say why"
            answer = self._failure(seat.ask, f"the bot failed: {why}")
        self._answer(answer)

    def _on_end(self, process: BotProcess, how: str) -> None:
        waiting: list[AnyAsk] = []
        sentence = f"the bot {how} before its match"
        with self._lock:
            if self._closing:
                return
            if not self._per_match:
                self._problem = f"the bot {how} while it was at the arena"
            else:
                waiting = self._waiting(process)
                for seat in self._seats.values():
                    if seat.process is process:
                        seat.process, seat.ended, seat.answered = None, sentence, True
            connection = self._connection
        if self._problem and connection is not None:
            connection.close()
        for ask in waiting:
            self._answer(self._failure(ask, sentence))

    def _answer(self, answer: Answer) -> None:
        assert self._connection is not None, "what was asked came by it"
        self._connection.answer([answer])

    def _fail(self, process: BotProcess, sentence: str) -> None:
        """Answer that the bot failed, if exactly one ask waits for this process; otherwise only log it."""
        with self._lock:
            waiting = self._waiting(process)
            ask = waiting[0] if len(waiting) == 1 else None
            if ask is not None:
                self._seats[ask.match].answered = True
        if ask is None:
            count = f"; {len(waiting)} asks wait for an answer" if waiting else ""
            self._say(f"{sentence}{count}")
        else:
            self._answer(self._failure(ask, sentence))

    def _failure(self, ask: AnyAsk, sentence: str) -> Answer:
        where = f"at ask {ask.ask_id} of match {ask.match}, so the fallback is played"
        self._say(f"{sentence}: an error {where}")
        return Answer(ask_id=ask.ask_id, failed=True, note=f"{NOTE}{sentence}")

    # With the lock held.

    def _seat_of(self, ask_id: int) -> _Seat | None:
        """Return the seat with this last ask."""
        for seat in self._seats.values():
            if seat.ask is not None and seat.ask.ask_id == ask_id:
                return seat
        return None

    def _waiting(self, process: BotProcess) -> list[AnyAsk]:
        return [
            seat.ask
            for seat in self._seats.values()
            if seat.process is process and seat.ask is not None and seat.waits
        ]
