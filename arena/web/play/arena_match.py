"""A match of one person against a submitted bot, which the arena plays. This module has only the person's play stream.

It has the interface of `HumanMatch` for the person's pages. A moment is an ask, so moves of others between two asks are
sentences of one picture. Calls block while the bot thinks, for a short time: then the page polls.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Final, cast

import grpc

from arena.games.contract import Event, Listed, Move, Seat, View
from arena.local.human_match import Moment, NotYourMove, PersonsAsk
from arena.referee.spec import Ending, Fault, FaultKind, Outcome
from arena.referee.terms import MatchTerms
from arena.referee.wire.enums import enum_word, word_of
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_message
from arena.web.names import seat_names
from cardarena._ask import AnyAsk, End
from cardarena._bot import Bot
from cardarena._connection import Connection
from cardarena._errors import PlayError
from cardarena._lanes import play_on_threads
from cardarena._mode import Mode, Way
from cardarena._play import OneByOne
from cardarena._run import join
from cardarena.v1 import game_pb2, lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub

SEAT_S: Final = 90.0
"""The longest time in seconds for the launch of a bot."""
BEGIN_S: Final = 60.0
"""The longest time in seconds from the hello to the first ask, before which the bot may have to move."""
THINK_S: Final = 4.0
"""Seconds for which a form waits for the bot's moves."""
LIST_S: Final = 8.0
"""The longest time in seconds for the list of opponents."""
_LOOK_S: Final = 0.5


class CannotSeat(Exception):
    """The arena has no seat now. The text says why."""


def opponents(arena_socket: str) -> dict[str, list[str]]:
    """Return the games in which submitted bots accept people, by bot; none if the arena does not answer."""
    if not arena_socket:
        return {}
    try:
        with grpc.insecure_channel(f"unix:{arena_socket}") as channel:
            request = lobby_pb2.ListHumanOpponentsRequest()
            listed = LobbyServiceStub(channel).ListHumanOpponents(request, timeout=LIST_S)
    except grpc.RpcError:
        return {}
    return {row.bot: [game.game for game in row.games] for row in listed.opponents}


class ArenaMatch:
    """A match at the arena, from the person's seat."""

    replay: None = None
    """The replay, which is None because the arena has it."""

    def __init__(self, arena_socket: str, opponent: str, terms: MatchTerms, name: str) -> None:
        """Let the arena launch the bot, and wait until the match has begun.

        Raises `CannotSeat` if the arena refuses, or does not answer.
        """
        self.terms: Final = terms
        self.moments: Final[list[Moment]] = []
        self.outcome: Outcome | None = None
        self.match_id = ""
        self.seat = Seat(0)
        self.names: Sequence[str] = ()
        self._name, self._codec = name, codec_of(terms.game)
        self._changed = threading.Condition()
        self._ask: AnyAsk | None = None
        self._answers: list[Move] = []
        """The answer to the open ask."""
        self._connection: Connection | None = None
        self._starts: list[tuple[int, Sequence[int]]] = []
        """The totals at the first ask of each hand, by its number."""
        address = f"unix:{arena_socket}"
        request = lobby_pb2.SeatPersonRequest(terms=terms_message(terms), opponent=opponent)
        try:
            with grpc.insecure_channel(address) as channel:
                seated = LobbyServiceStub(channel).SeatPerson(request, timeout=SEAT_S)
        except grpc.RpcError as error:
            raise CannotSeat(_why(error)) from None
        bot = type("Person", (_PersonsSeat,), {"match": self, "games": [terms.game.id]})
        threading.Thread(
            target=self._play, args=(bot, address, seated.token), name="person", daemon=True
        ).start()
        with self._changed:
            self._changed.wait_for(lambda: bool(self.moments or self.outcome), BEGIN_S)
            has_begun = bool(self.moments)
        if not has_begun:
            self.leave()
            raise CannotSeat("The bot did not begin to play. Try again, or choose another one.")

    @property
    def hand_scores(self) -> tuple[tuple[int, ...], ...]:
        """The scores of completed hands, by seat."""
        totals = [totals for _, totals in self._starts]
        if self.outcome is not None and self.outcome.scores:
            totals.append(self.outcome.scores)
        return tuple(
            tuple(b - a for a, b in zip(before, after, strict=True))
            for before, after in pairwise(totals)
        )

    def ask(self) -> PersonsAsk | None:
        """Return the open ask of the person; None while the bot thinks, and once the match has ended."""
        with self._changed:
            ask = self._ask
            if ask is None:
                return None
            listed = [game_pb2.GameMove(**{ask.family: move}) for move in ask.moves]
            # Moves that an ask does not list are not offered either; the arena judges those that are sent.
            moves = Listed(tuple(map(self._codec.read_move, listed)))
            gone_ms = int(1000 * ask.time_left_s())
            bank_ms = min(gone_ms, ask.clock.bank_ms)
            left = max(0, gone_ms - bank_ms), bank_ms
            return PersonsAsk(ask.decision, self.moments[-1].view, moves, left)

    def answer(self, decision: int, move: Move) -> None:
        """Send a move, and wait a short time for the next ask. Raises `NotYourMove` if another decision is open."""
        with self._changed:
            if self._ask is None or self._ask.decision != decision:
                raise NotYourMove("That move was decided already; this is the table now.")
            self._answers, self._ask = [move], None
            self._changed.notify_all()
        with self._changed:
            self._changed.wait_for(lambda: self._ask or self.outcome, THINK_S)

    def pass_time(self) -> None:
        """Do nothing: the arena has the clocks."""

    def leave(self) -> None:
        """End the stream. The arena forfeits the seat after a minute."""
        if self._connection is not None:
            self._connection.fail(_Left())
        self._end(Ending.ABORTED)

    def _end(self, ending: Ending, scores: Sequence[int] = (), places: Sequence[int] = ()) -> None:
        with self._changed:
            if self.outcome is None:
                self.outcome = Outcome(
                    self.match_id, ending, tuple(scores), tuple(places), (), (), len(self.moments)
                )
            self._ask = None
            self._changed.notify_all()

    # On the thread of the stream.

    def _play(self, bot: type[Bot], address: str, token: str) -> None:
        mode = Mode(Way.THREADS, 1, 1, 1)
        # However the stream ends, the match is over for the person.
        with contextlib.suppress(PlayError, _Left):
            join(
                bot,
                mode,
                self._playing(bot),
                address=address,
                token=token,
                once=True,
                log=lambda _: None,
            )
        self._end(Ending.ABORTED)

    @contextlib.contextmanager
    def _playing(self, bot: type[Bot]) -> Iterator[Any]:
        def play_on(connection: Connection) -> None:
            self._connection = connection
            play_on_threads(OneByOne(bot), connection, 1)

        yield play_on

    def began(self, bot: Bot) -> None:
        """Note that the match has begun."""
        names = list(seat_names([player.name for player in bot.players]))
        names[bot.seat] = self._name
        with self._changed:
            self.match_id, self.seat, self.names = bot.start.match_id, Seat(bot.seat), tuple(names)
            self._changed.notify_all()

    def decide(self, ask: AnyAsk) -> Any:
        """Return the person's choice at an ask; None if it was closed before."""
        view = self._codec.read_view(ask.view)
        faults = tuple(
            Fault(one.seat, FaultKind[word_of(one, "kind").upper()], 0, "")
            for one in ask.played_for
        )
        self._see(view, ask.events, ask.clock.bank_ms, faults)
        with self._changed:
            self._ask, self._answers = ask, []
            self._changed.notify_all()
            while not self._answers and ask.open and ask.time_left_s() > 0:
                self._changed.wait(_LOOK_S)
            self._ask = None
            answers = self._answers
        if not answers:
            return None
        return type(ask.moves[0]).FromString(self._codec.move(answers[0]))

    def ended(self, end: End[Any]) -> None:
        """Note that the match has ended."""
        if self.moments:
            self._see(self.moments[-1].view, end.events, None, ())
        word = enum_word(game_pb2.Ending, end.ending)
        ending = Ending[word.upper()] if word else Ending.ABORTED
        self._end(ending, end.scores, end.places)
        assert self._connection is not None
        self._connection.fail(_Left())

    def _see(
        self, view: View, events: Sequence[Any], bank_ms: int | None, faults: tuple[Fault, ...]
    ) -> None:
        read: tuple[Event, ...] = tuple(map(self._codec.read_event, events))
        if not self._starts or self._starts[-1][0] != view.hand:
            totals = view.totals if hasattr(view, "totals") else view.chips
            self._starts.append((view.hand, totals))
        banks = [None if seat != self.seat else bank_ms for seat in range(self.terms.seats)]
        self.moments.append(Moment(len(self._starts) - 1, view, read, tuple(banks), faults))


class _PersonsSeat(Bot):
    match: ClassVar[ArenaMatch]
    auto = False
    # The arena's own process would add the entropy, so it would not protect the person.
    adds_entropy = False

    def started(self) -> None:
        self.match.began(self)

    def move(self, ask: AnyAsk) -> Any:
        return self.match.decide(ask)

    def ended(self, end: End[Any]) -> None:
        self.match.ended(end)


class _Left(BaseException):
    """The person has left, or the match is over."""


def _why(error: grpc.RpcError) -> str:
    """Return why the arena refused a seat, as a sentence."""
    call = cast("grpc.Call", error)
    if call.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        return "The arena does not answer now. Try again, or play the house bot."
    words = (call.details() or "").partition(": ")[2] or "The arena refused it"
    return f"{words[:1].upper()}{words[1:]}."
