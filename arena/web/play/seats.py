"""The seats of people: their matches, and limits. Matches against house bots are played in this process.

The address of a seat has a secret of 128 bits. Whoever has the address has the seat: a guest needs no account, and a
reloaded page shows the same ask.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from threading import RLock
from typing import Final

from arena.games.contract import BadOptions, Move, Moves, Options, Seat, View
from arena.games.game import Game
from arena.local.human_match import ContinuedMatch, HumanMatch, NotYourMove, Play
from arena.records.read import Replay
from arena.referee.deal import first_pack
from arena.referee.terms import TIME_CLASSES, MatchTerms
from arena.results.deal_sets import HOUSE
from arena.sandbox.house_levels import STEPS
from arena.web.names import seat_names
from arena.web.play.arena_match import ArenaMatch, CannotSeat
from arena.web.play.draft import NO_DRAFT, Asked, Draft, act
from arena.web.play.seat_drawer import SeatDrawer

BOT: Final = "bot:"
"""The prefix of the name of a submitted bot, in a field that otherwise has a level of the house bot."""
SHORT: Final = "short"
LENGTHS: Final = {
    "hand": "one hand",
    SHORT: "short: a deal by each seat",
    "usual": "as in competitions",
}
"""The lengths of matches, with their words."""
MOST_IN_PLAY: Final = 64
MOST_OF_ADDRESS: Final = 4
"""The maximal number of matches in play that were begun from an address."""
KEPT_S: Final = 3_600.0
"""Seconds for which a seat has a page after the end of its match; the replay stays."""
MOST_KEPT_OF_ADDRESS: Final = 64
"""The maximal number of such pages of an address; the oldest are removed. Each takes some 50 kB."""
MOST_REPLAYS: Final = 1_000


class NoTable(Exception):
    """No further match can begin now. The text says why."""


class PersonsSeat:
    """A seat with its match, pictures and draft. Calls block while bots think."""

    def __init__(
        self, match: HumanMatch | ArenaMatch, address: str, level: str, length: str = SHORT
    ) -> None:
        self.match: Final = match
        self.address: Final = address
        self.level: Final = level
        """That of the house bots, or the submitted bot after `BOT`."""
        self.length: Final = length
        self.lock: Final = RLock()
        """Held while a form or a page of the seat is made."""
        self.drawer: Final = SeatDrawer(match.terms, match.names, match.seat)
        self._notice = ""
        """Why the last form was refused; shown once."""
        self._shown = 0
        """The number of pictures that a page has shown."""
        self.ended_s: float | None = None
        self._draft: tuple[int, Draft] = (0, NO_DRAFT)
        """The draft of a decision."""

    def asked(self) -> tuple[Asked, Draft] | None:
        """Return the open ask and its draft; None once the match has ended."""
        self.match.pass_time()
        ask = self.match.ask()
        self.drawer.take(self.match.moments)
        if ask is None:
            return None
        decision, draft = self._draft
        asked = Asked.of(self.match.terms.game, self.match.seat, ask)
        return asked, draft if decision == ask.decision else NO_DRAFT

    def show_latest(self) -> range:
        """Return the numbers of pictures that no page has shown, and count them as shown."""
        unseen = range(self._shown, len(self.drawer.pictures))
        self._shown = len(self.drawer.pictures)
        return unseen

    def take_notice(self) -> str:
        """Return why the last form was refused, once; empty if it was not."""
        notice, self._notice = self._notice, ""
        return notice

    def take(self, form: Mapping[str, str]) -> None:
        """Execute the action of a form. If this is impossible, add a notice and keep the draft."""
        self._notice = ""
        if "leave" in form:
            self.match.leave()
            return
        opened = self.asked()
        if opened is None:
            return
        asked, draft = opened
        decision = asked.ask.decision
        try:
            if form.get("ask") != str(decision):
                raise NotYourMove("That move was decided already; this is the table now.")
            if "text" in form:
                draft = Draft(text=form["text"].strip())
                self._draft = decision, draft
            done = act(asked, draft, form)
            if isinstance(done, Draft):
                self._draft = decision, done
                return
            self.match.answer(decision, done)
        except NotYourMove as refused:
            self._notice = str(refused)


class Seats:
    """All seats of this process."""

    def __init__(
        self, folder: Path, now_s: Callable[[], float] = time.monotonic, *, arena_socket: str = ""
    ) -> None:
        """Begin without seats; `folder` gets the replays, and an arena at the socket file plays submitted bots."""
        self.folder: Final = folder
        self.arena_socket: Final = arena_socket
        self._now_s = now_s
        self._seats: dict[str, PersonsSeat] = {}

    def get(self, token: str) -> PersonsSeat | None:
        return self._seats.get(token)

    def begin(
        self, game: Game, seats: int, level: str, *, name: str, length: str, address: str
    ) -> str:
        """Begin a match, and return the token of its seat. Blocks.

        `level` is that of house bots, or names a submitted bot after `BOT`; `length` is one of `LENGTHS`.

        Raises:
          NoTable: if there are too many matches, or the arena does not seat anybody at the bot's table.
          BadOptions: if the game is not played by so many seats.
        """
        self._require_room(address)
        options = options_of(game, seats, length)
        is_at_arena = level.startswith(BOT)
        terms = MatchTerms(game, options, seats, TIME_CLASSES["human"], seeded=not is_at_arena)
        first_pack(game.rules, options, seats)  # checks limits that only the rules know
        if is_at_arena:
            try:
                opponent = level.removeprefix(BOT)
                match = ArenaMatch(self.arena_socket, opponent, terms, name)
            except CannotSeat as why:
                raise NoTable(str(why)) from None
            return self._seated(PersonsSeat(match, address, level, length))
        own = Seat(secrets.randbelow(seats))
        return self._begun(terms, own, level, name, address, length=length)

    def begin_from(
        self, replay: Replay, step: int, own: Seat, level: str, *, name: str, address: str
    ) -> str:
        """Begin a match that continues an ended one after a step, and return the token of its seat. Blocks.

        Raises:
          NoTable: if there are too many matches.
          NotYourMove: if no move follows after the step.
          Damaged, Unplayable, Discrepancy: if the replay cannot be played.
        """
        self._require_room(address)
        before = replay.spec().terms
        seeded = bool(replay.revealed.seed)
        control = TIME_CLASSES["human"]
        terms = MatchTerms(before.game, before.options, before.seats, control, seeded=seeded)
        continued = ContinuedMatch.of(replay, step)
        return self._begun(terms, own, level, name, address, continued)

    def _require_room(self, address: str) -> None:
        in_play = [seat for seat in list(self._seats.values()) if seat.match.outcome is None]
        if len(in_play) >= MOST_IN_PLAY:
            raise NoTable("All tables are taken. Try again in some minutes.")
        if sum(seat.address == address for seat in in_play) >= MOST_OF_ADDRESS:
            raise NoTable(f"You have {MOST_OF_ADDRESS} matches in play; finish or leave one first.")

    def _begun(
        self,
        terms: MatchTerms,
        own: Seat,
        level: str,
        name: str,
        address: str,
        continued: ContinuedMatch | None = None,
        *,
        length: str = SHORT,
    ) -> str:
        game, seats = terms.game, terms.seats
        bots = {Seat(seat): house_play(game, level) for seat in range(seats) if seat != own}
        names = seat_names([name if seat == own else HOUSE for seat in range(seats)])
        match = HumanMatch(
            terms, own, names, bots, self.folder, continued=continued, now_s=self._now_s
        )
        return self._seated(PersonsSeat(match, address, level, length))

    def _seated(self, seat: PersonsSeat) -> str:
        token = secrets.token_urlsafe(16)
        self._seats[token] = seat
        ended = [
            kept
            for kept, other in list(self._seats.items())
            if other.address == seat.address and other.match.outcome is not None
        ]
        for kept in ended[:-MOST_KEPT_OF_ADDRESS]:
            self._seats.pop(kept, None)  # other threads also remove seats
        return token

    def pass_time(self) -> None:
        """Play for people whose time is up, and forget seats whose match ended long ago. Call it about every second."""
        now_s = self._now_s()
        for token, seat in list(self._seats.items()):
            if seat.match.outcome is None:
                seat.match.pass_time()
            elif seat.ended_s is None:
                seat.ended_s = now_s
                self._remove_old_replays()
            elif now_s - seat.ended_s > KEPT_S:
                self._seats.pop(token, None)

    def _remove_old_replays(self) -> None:
        replays = sorted(self.folder.glob("*.replay"), key=lambda path: path.stat().st_mtime_ns)
        for path in replays[:-MOST_REPLAYS]:
            path.unlink(missing_ok=True)


def options_of(game: Game, seats: int, length: str) -> Options:
    """Return the options of a match of one of `LENGTHS`, with the usual ones besides.

    Raises `BadOptions` if the game is not played by so many seats.
    """
    if length != "usual":
        try:
            return game.options({"hands": 1 if length == "hand" else seats}, seats)
        except BadOptions:
            pass  # a game without this option, or of other seats, which the next line says
    return game.options({}, seats)


def house_play(game: Game, level: str) -> Play:
    """Return the house bot of a level: a random one in games for which it has no policy."""
    from arena.house.bot import player  # it loads the search, which pages do not need

    play = None if level == "random" else player(game.id, STEPS[level])

    def choose(view: View, moves: Moves, options: Options, seat: Seat, chance: Random) -> Move:
        if play is None:
            return chance.choice(moves.offered)
        return play(view, options, seat, chance)

    return choose
