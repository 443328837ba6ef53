"""Carry out a turn of Eleusis after the play and the prophet's judgement.

The effect depends on the rule (E1, E2; X1, X9 in Express):

| play    | right by the rule                      | wrong by the rule                          |
|---------|----------------------------------------|--------------------------------------------|
| cards   | join the mainline                      | join a sideline; the seat draws 2 for each |
| no-play | the hand is replaced by a smaller one, | a right card of it joins the mainline;     |
|         | or the hand of play ends               | the seat draws 5 (Express: 2)              |

A prophet whose judgement is wrong, or who names a wrong card, is deposed and draws five cards first. The
turn is then carried out without penalty.
"""

from typing import Final, NamedTuple

from arena.games.cards import Card
from arena.games.contract import Deals, Seat, SentEvent
from arena.games.eleusis.cards import (
    cards_played,
    draw,
    give_back,
    in_hand_order,
    put_down,
    put_right,
    put_wrong,
)
from arena.games.eleusis.hidden_rule import are_right, legal_among
from arena.games.eleusis.messages import (
    Drawn,
    End,
    Judge,
    NoPlay,
    NoPlayResolved,
    Office,
    Opinion,
    PackAdded,
    Play,
    PlayResolved,
    ProphetDeposed,
    Variant,
)
from arena.games.eleusis.state import State, Table, active, with_call

PROPHET_DRAWS: Final = 5
WRONG_CARD_DRAWS: Final = 2
FULL_HAND: Final = 208
"""The maximal size of a hand after a penalty for wrong cards: four packs. Without this limit, which is the
arena's own, a hand could double with every turn: it may be played as one string (E3), and a wrong string
draws twice its cards."""
FALSE_NO_PLAY_DRAWS: Final = {Variant.ELEUSIS.value: 5, Variant.EXPRESS.value: 2}
NO_PLAY_SHRINKS: Final = {Variant.ELEUSIS.value: 4, Variant.EXPRESS.value: 1}
"""The number of cards by which a hand shrinks after a true no-play."""
EXPELLING_LINE: Final = 40
"""The length of the mainline, with the starter, from which wrong plays expel (E9)."""
EXPELLING_AFTER_MARKER: Final = 30
"""The number of cards after the marker, right and wrong, from which wrong plays expel (E10)."""


class Outcome(NamedTuple):
    """The result of a turn."""

    table: Table
    events: tuple[SentEvent, ...]
    right: bool
    end: End | None
    """Why the hand ended; None if it continues."""


def carry_out(state: State, play: Play | NoPlay, judged: Judge | None, deals: Deals) -> Outcome:
    """Compare a play and the prophet's judgement with the rule, and carry out the turn."""
    turn, line = _TurnInProgress(state, deals), state.table.layout.mainline
    if isinstance(play, Play):
        right = are_right(state.secret.rule, line, play.cards)
        spared = judged is not None and turn.judge(judged, right=right, legal=())
        if right:
            turn.right_cards(play.cards)
        else:
            turn.wrong_cards(play.cards, spared=spared)
    else:
        hand = in_hand_order(state.table.cards.hands[turn.seat])
        legal = legal_among(state.secret.rule, line, hand)
        right = not legal
        spared = judged is not None and turn.judge(judged, right=right, legal=legal)
        turn.call(hand, right=right)
        if right:
            turn.true_no_play(hand)
        else:
            named = judged.card if judged is not None and not spared else None
            turn.false_no_play(named or legal[0], spared=spared)  # E1
    return Outcome(turn.table(), tuple(turn.events), right, turn.end())


def expels(state: State) -> bool:
    """Return whether a wrong play expels; this is tested before the play."""
    layout, office = state.table.layout, state.table.office
    if state.match.options.variant == Variant.EXPRESS:
        return False
    if office.prophet is None:
        return len(layout.mainline) >= EXPELLING_LINE
    return cards_played(layout) - office.marker >= EXPELLING_AFTER_MARKER


class _TurnInProgress:
    def __init__(self, state: State, deals: Deals) -> None:
        table = state.table
        self.seat = state.turn.seat
        self.events: list[SentEvent] = []
        self._cards, self._layout = table.cards, table.layout
        self._calls, self._office = table.calls, table.office
        self._match = state.match
        self._variant = state.match.options.variant
        self._deals = deals
        self._expels = expels(state)
        self._emptied_by_no_play = False

    def table(self) -> Table:
        return Table(self._cards, self._layout, self._calls, self._office)

    def end(self) -> End | None:
        if self._emptied_by_no_play:
            return End.NO_PLAY
        if not self._cards.hands[self.seat]:
            return End.DEPLETED
        if not active(self._match, self._office):
            return End.EXPELLED
        return None

    def judge(self, judged: Judge, *, right: bool, legal: tuple[Card, ...]) -> bool:
        """Depose the prophet if its judgement is wrong; return whether it was."""
        agrees = (judged.opinion is Opinion.RIGHT) == right
        if agrees and (judged.card is None or judged.card in legal):
            return False
        prophet = self._office.prophet
        assert prophet is not None
        former = (*self._office.former, prophet)
        self._office = Office(None, 0, former, self._office.expelled)
        self.events.append(SentEvent(ProphetDeposed(prophet)))
        self._draw(prophet, PROPHET_DRAWS)
        return True

    def right_cards(self, cards: tuple[Card, ...]) -> None:
        self._layout = put_right(self._layout, self.seat, cards)
        self._cards = put_down(self._cards, self.seat, cards)
        self.events.append(
            SentEvent(PlayResolved(self.seat, right=True, cards=cards, penalty=0, expelled=False))
        )

    def wrong_cards(self, cards: tuple[Card, ...], *, spared: bool) -> None:
        self._layout = put_wrong(self._layout, self.seat, cards)
        self._cards = put_down(self._cards, self.seat, cards)
        room = max(0, FULL_HAND - len(self._cards.hands[self.seat]))
        penalty = 0 if spared else min(WRONG_CARD_DRAWS * len(cards), room)
        expelled = self._punish(spared=spared)
        resolved = PlayResolved(
            self.seat, right=False, cards=cards, penalty=penalty, expelled=expelled
        )
        self.events.append(SentEvent(resolved))
        self._draw(self.seat, penalty)

    def call(self, hand: tuple[Card, ...], *, right: bool) -> None:
        after = len(self._layout.mainline) - 1
        self._calls = with_call(self._calls, self.seat, hand, after, right=right)

    def true_no_play(self, hand: tuple[Card, ...]) -> None:
        """Put the old hand under the stock and deal a new one (E13)."""
        self._cards = give_back(self._cards, self.seat)
        size = max(0, len(hand) - NO_PLAY_SHRINKS[self._variant])
        self._emptied_by_no_play = size == 0  # the seat has no cards then (E7, X4)
        resolved = NoPlayResolved(
            self.seat, right=True, card=None, penalty=0, hand_size=size, expelled=False
        )
        self.events.append(SentEvent(resolved))
        self._draw(self.seat, size)

    def false_no_play(self, card: Card, *, spared: bool) -> None:
        self._layout = put_right(self._layout, self.seat, (card,))
        self._cards = put_down(self._cards, self.seat, (card,))
        penalty = 0 if spared else FALSE_NO_PLAY_DRAWS[self._variant]
        size = len(self._cards.hands[self.seat]) + penalty
        expelled = self._punish(spared=spared)
        resolved = NoPlayResolved(
            self.seat, right=False, card=card, penalty=penalty, hand_size=size, expelled=expelled
        )
        self.events.append(SentEvent(resolved))
        self._draw(self.seat, penalty)

    def _punish(self, *, spared: bool) -> bool:
        """Expel the seat if wrong plays expel; return whether it was expelled."""
        if spared or not self._expels:
            return False
        office = self._office
        expelled = (*office.expelled, self.seat)
        self._office = Office(office.prophet, office.marker, office.former, expelled)
        return True

    def _draw(self, seat: Seat, count: int) -> None:
        if count == 0:
            return
        packs = self._cards.packs
        self._cards, drawn = draw(self._cards, seat, count, self._match.hand, self._deals)
        if self._cards.packs > packs:
            self.events.append(SentEvent(PackAdded(self._cards.packs)))
        self.events.append(SentEvent(Drawn(seat, drawn), (seat,)))
