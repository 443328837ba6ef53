"""How a turn of Eleusis is carried out once it is complete.

T is the truth by the rule (rulings E1, E2; X1, X9 in Express):

| play    | T right                                | T wrong                                    |
|---------|----------------------------------------|--------------------------------------------|
| cards   | to the mainline                        | beside it; the seat draws 2 for each       |
| no-play | the hand under the stock, a smaller    | a right card of it goes to the mainline;   |
|         | one is dealt, or the hand ends         | the seat draws 5 (Express: 2)              |

A prophet whose opinion differs, or who names a wrong card, is deposed and
draws five cards first; the table is then carried out without any penalty.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from arena.cards import Card
from arena.games.contract import Deals, Seat, Told
from arena.games.eleusis_rule import are_right, legal_among
from arena.games.eleusis_state import (
    State,
    Table,
    active,
    cards_played,
    draw,
    give_back,
    in_hand_order,
    put_down,
    put_right,
    put_wrong,
    with_call,
)
from arena.games.eleusis_table import (
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

PROPHET_DRAWS: Final = 5
WRONG_CARD_DRAWS: Final = 2
FALSE_NO_PLAY_DRAWS: Final = {Variant.ELEUSIS.value: 5, Variant.EXPRESS.value: 2}
NO_PLAY_SHRINKS: Final = {Variant.ELEUSIS.value: 4, Variant.EXPRESS.value: 1}
"""Cards by which a hand shrinks when it is right that it cannot play."""
EXPELLING_LINE: Final = 40
"""Mainline cards, the starter included, from which wrong play expels (E9)."""
EXPELLING_AFTER_MARKER: Final = 30
"""Cards after the marker, right and wrong, from which wrong play expels (E10)."""


class Outcome(NamedTuple):
    """A turn that was carried out."""

    table: Table
    told: tuple[Told, ...]
    right: bool
    end: End | None
    """Why the hand ended with it; None if it goes on."""


def carry_out(state: State, play: Play | NoPlay, judged: Judge | None, deals: Deals) -> Outcome:
    """Compare a play, and the prophet's opinion of it, with the truth."""
    turn = _TurnInProgress(state, deals)
    hand = in_hand_order(turn.table.cards.hands[turn.seat])
    if isinstance(play, Play):
        right = are_right(state.secret.rule, turn.table.layout.mainline, play.cards)
        spared = judged is not None and turn.judge(judged, right=right, legal=())
        if right:
            turn.right_cards(play.cards)
        else:
            turn.wrong_cards(play.cards, spared=spared)
    else:
        legal = legal_among(state.secret.rule, turn.table.layout.mainline, hand)
        right = not legal
        spared = judged is not None and turn.judge(judged, right=right, legal=legal)
        turn.call(hand, right=right)
        if right:
            turn.true_no_play(hand)
        else:
            named = judged.card if judged is not None and not spared else None
            turn.false_no_play(named or legal[0], spared=spared)  # E1
    return Outcome(turn.table, tuple(turn.told), right, turn.end())


def expels(state: State) -> bool:
    """Whether a wrong play now expels; tested before the play."""
    layout, office = state.table.layout, state.table.office
    if state.match.options.variant == Variant.EXPRESS:
        return False
    if office.prophet is None:
        return len(layout.mainline) >= EXPELLING_LINE
    return cards_played(layout) - office.marker >= EXPELLING_AFTER_MARKER


class _TurnInProgress:
    """The table while one turn is carried out, and what is told of it."""

    def __init__(self, state: State, deals: Deals) -> None:
        self.seat = state.turn.seat
        self.table = state.table
        self.told: list[Told] = []
        self._match = state.match
        self._variant = state.match.options.variant
        self._deals = deals
        self._expels = expels(state)
        self._emptied_by_no_play = False

    def end(self) -> End | None:
        if self._emptied_by_no_play:
            return End.NO_PLAY
        if not self.table.cards.hands[self.seat]:
            return End.DEPLETED
        if not active(self._match, self.table.office):
            return End.EXPELLED
        return None

    def judge(self, judged: Judge, *, right: bool, legal: tuple[Card, ...]) -> bool:
        """Depose a prophet that is wrong; whether it was."""
        agrees = (judged.opinion is Opinion.RIGHT) == right
        if agrees and (judged.card is None or judged.card in legal):
            return False
        office = self.table.office
        assert office.prophet is not None
        prophet = office.prophet
        after = Office(None, 0, (*office.former, prophet), office.expelled)
        self.table = replace(self.table, office=after)
        self.told.append(Told(ProphetDeposed(prophet)))
        self._draw(prophet, PROPHET_DRAWS)
        return True

    def right_cards(self, cards: tuple[Card, ...]) -> None:
        table = self.table
        layout = put_right(table.layout, self.seat, cards)
        self.table = replace(table, cards=put_down(table.cards, self.seat, cards), layout=layout)
        resolved = PlayResolved(self.seat, right=True, cards=cards, penalty=0, expelled=False)
        self.told.append(Told(resolved))

    def wrong_cards(self, cards: tuple[Card, ...], *, spared: bool) -> None:
        table = self.table
        layout = put_wrong(table.layout, self.seat, cards)
        self.table = replace(table, cards=put_down(table.cards, self.seat, cards), layout=layout)
        penalty = 0 if spared else WRONG_CARD_DRAWS * len(cards)
        expelled = self._punish(spared=spared)
        resolved = PlayResolved(
            self.seat, right=False, cards=cards, penalty=penalty, expelled=expelled
        )
        self.told.append(Told(resolved))
        self._draw(self.seat, penalty)

    def call(self, hand: tuple[Card, ...], *, right: bool) -> None:
        table = self.table
        after = len(table.layout.mainline) - 1
        self.table = replace(
            table, calls=with_call(table.calls, self.seat, hand, after, right=right)
        )

    def true_no_play(self, hand: tuple[Card, ...]) -> None:
        """The old hand goes under the stock before the new one is dealt (E13)."""
        self.table = replace(self.table, cards=give_back(self.table.cards, self.seat))
        size = max(0, len(hand) - NO_PLAY_SHRINKS[self._variant])
        self._emptied_by_no_play = size == 0  # the caller then holds none (E7, X4)
        resolved = NoPlayResolved(
            self.seat, right=True, card=None, penalty=0, hand_size=size, expelled=False
        )
        self.told.append(Told(resolved))
        self._draw(self.seat, size)

    def false_no_play(self, card: Card, *, spared: bool) -> None:
        table = self.table
        layout = put_right(table.layout, self.seat, (card,))
        self.table = replace(table, cards=put_down(table.cards, self.seat, (card,)), layout=layout)
        penalty = 0 if spared else FALSE_NO_PLAY_DRAWS[self._variant]
        size = len(self.table.cards.hands[self.seat]) + penalty
        expelled = self._punish(spared=spared)
        resolved = NoPlayResolved(
            self.seat, right=False, card=card, penalty=penalty, hand_size=size, expelled=expelled
        )
        self.told.append(Told(resolved))
        self._draw(self.seat, penalty)

    def _punish(self, *, spared: bool) -> bool:
        """Expel the seat if its time is up."""
        if spared or not self._expels:
            return False
        office = self.table.office
        expelled = (*office.expelled, self.seat)
        self.table = replace(self.table, office=replace(office, expelled=expelled))
        return True

    def _draw(self, seat: Seat, count: int) -> None:
        if count == 0:
            return
        before = self.table.cards
        cards, drawn = draw(before, seat, count, self._match.hand, self._deals)
        if cards.packs > before.packs:
            self.told.append(Told(PackAdded(cards.packs)))
        self.table = replace(self.table, cards=cards)
        self.told.append(Told(Drawn(seat, drawn), (seat,)))
