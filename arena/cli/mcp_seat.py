"""The seats of an agent: its bot's stream, and the asks that wait for the agent's moves, in words."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final

from arena.cli.mcp_tools import ToolError
from arena.local.words import AskWords, Words
from cardarena._ask import AnyAsk, End
from cardarena._bot import Bot
from cardarena._connection import Connection
from cardarena._errors import PlayError
from cardarena._lanes import play_on_threads
from cardarena._mode import Mode, Way
from cardarena._play import OneByOne
from cardarena._run import join
from cardarena.llm import Failure, Reply, chosen, listed
from cardarena.v1.game_pb2 import Ending

MATCHES: Final = 4
"""The number of simultaneous matches of an agent."""
LEAVING_S: Final = 10.0
"""The longest time in seconds for the end of a bot's stream."""
POLL_S: Final = 0.5
"""Seconds between two checks whether an ask is still open."""


@dataclass(slots=True)
class AgentAsk:
    """An ask that waits for the agent's move."""

    ask: AnyAsk
    words: AskWords
    read_move: Callable[[str], Any]
    """Returns the choice that a text names; raises `Failure`."""
    choice: Any = None
    answered: threading.Event = field(default_factory=threading.Event)

    def text(self) -> str:
        ask, words = self.ask, self.words
        more = (
            "" if ask.moves_complete else "Another legal move may be given in the same notation.\n"
        )
        return (
            f"Your turn: ask {ask.ask_id} of match {ask.match} ({ask.game}), you are seat {ask.seat}, "
            f"{ask.time_left_s():.0f} s are left.\n\nNews:\n{words.news or 'nothing'}\n\n{words.table}\n\n"
            f"Moves:\n{listed(words.moves)}\n{more}"
        )


class AgentSeats:
    """The seats of an agent, with their news and asks. Any thread may call it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._turns: dict[int, AgentAsk] = {}
        self._news: list[str] = []
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None

    def take(self, name: str, games: list[str], token: str, **dial: Any) -> None:
        """Connect a bot, whose moves the agent chooses. Raises `ToolError` if one is connected."""
        if self._thread is not None and self._thread.is_alive():
            raise ToolError("a bot is connected: call leave_seat first")
        bot = type(name, (_AgentBot,), {"seats": self, "games": games})
        self._thread = threading.Thread(
            target=self._play, args=(bot, token), kwargs=dial, name="arena-mcp-seat", daemon=True
        )
        self._thread.start()

    def _play(self, bot: type[Bot], token: str, **dial: Any) -> None:
        try:
            mode = Mode(Way.THREADS, MATCHES, MATCHES, MATCHES)
            join(bot, mode, self._playing(bot), token=token, **dial)
            self.tell("The arena closed the bot's stream.")
        except _Left:
            self.tell("The bot has left.")
        except PlayError as error:
            self.tell(f"The bot cannot play: {error}")
        except Exception as error:  # the next `wait` returns the error to the agent
            self.tell(f"The bot ended: {type(error).__name__}")
            raise

    @contextlib.contextmanager
    def _playing(self, bot: type[Bot]) -> Iterator[Callable[[Connection], None]]:
        def play_on(connection: Connection) -> None:
            self._connection = connection
            play_on_threads(OneByOne(bot), connection, MATCHES)

        yield play_on

    def leave(self) -> None:
        """End the bot's stream: the arena plays the fallback for its seats."""
        if self._connection is not None:
            self._connection.fail(_Left())
        with self._changed:
            for turn in self._turns.values():
                turn.answered.set()
            self._turns.clear()
        if self._thread is not None:
            self._thread.join(LEAVING_S)

    def tell(self, line: str) -> None:
        """Add a line of news, which the next `wait` returns."""
        with self._changed:
            self._news.append(line)
            self._changed.notify_all()

    def play(self, turn: AgentAsk) -> Any:
        """Wait for the agent's choice at an ask; None if the ask was closed before."""
        with self._changed:
            self._turns[turn.ask.ask_id] = turn
            self._changed.notify_all()
        while turn.ask.open and turn.ask.time_left_s() > 0 and not turn.answered.wait(POLL_S):
            pass
        with self._changed:
            expired = self._turns.pop(turn.ask.ask_id, None) is not None
        if expired:
            self.tell(
                f"Ask {turn.ask.ask_id} was not answered in time: the arena played the fallback for you, which is a fault."
            )
        return turn.choice

    def wait(self, longest_s: float) -> str:
        """Return the news and the ask that has waited longest; after `longest_s` seconds, return that there is none."""
        until_s = time.monotonic() + longest_s
        with self._changed:
            while not (self._turns or self._news):
                left_s = until_s - time.monotonic()
                if left_s <= 0 or not self._changed.wait(left_s):
                    playing = self._thread is not None and self._thread.is_alive()
                    return (
                        "It is not your turn: wait again."
                        if playing
                        else "No bot is connected: call take_seat."
                    )
            news, self._news = self._news, []
            turn = next(iter(self._turns.values()), None)
        return "\n\n".join([*news, *([turn.text()] if turn else [])])

    def move(self, ask_id: int, text: str) -> str:
        """Answer an ask that waits.

        Raises `ToolError` if there is no such ask, or no such move; then another may be given.
        """
        with self._changed:
            turn = self._turns.get(ask_id)
            if turn is None:
                open_asks = ", ".join(map(str, self._turns)) or "none"
                raise ToolError(f"ask {ask_id} does not wait for a move; these do: {open_asks}")
            try:
                turn.choice = turn.read_move(text)
            except Failure as failure:
                raise ToolError(failure.why) from None
            del self._turns[ask_id]
            turn.answered.set()
        return "sent; call wait_for_turn"


class _Left(BaseException):
    """The agent has left its seats."""


class _AgentBot(Bot):
    seats: ClassVar[AgentSeats]
    workers = MATCHES

    def started(self) -> None:
        self._words = Words(self.start)
        names = ", ".join(f"seat {player.seat} {player.name}" for player in self.players)
        self.seats.tell(
            f"Match {self.start.match} of {self.game} begins: you are seat {self.seat}; at the table sit {names}. "
            f"Call read_rules for the rules. Options: {self.options}."
        )

    def move(self, ask: AnyAsk) -> Any:
        words = self._words.of(ask)

        def read_move(text: str) -> Any:
            unlisted = partial(self._words.unlisted_move, ask=ask)
            return chosen(Reply(f"MOVE: {text}"), words.moves, unlisted)

        choice = self.seats.play(AgentAsk(ask, words, read_move))
        if choice is None:
            raise TimeoutError("the agent gave no move")
        return choice

    def ended(self, end: End[Any]) -> None:
        ending = (
            "unknown" if end.missed else Ending.Name(end.ending).removeprefix("ENDING_").lower()
        )
        self.seats.tell(
            f"Match {end.match} has ended ({ending}): scores by seat {[*end.scores]}, places {[*end.places]}, "
            f"your faults {sum(fault.seat == self.seat for fault in end.faults)}. Its replay is {end.replay_id or 'not known'}."
        )
