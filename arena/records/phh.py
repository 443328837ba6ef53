"""Hands of Pineapple and Crazy Pineapple in the Poker Hand History format (PHH), a file of `.phhs` for each match.

The format has no Pineapple. After the discard the hand is one of hold'em, so it is written as a hold'em hand: with the
two cards that a seat kept, or unknown cards if it folded before the discard. All three cards are in the field `_dealt`.

Reference: Kim, *Recording and describing poker hands*, 2024.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.games.betting.match import Acted, Action, HandEnded
from arena.games.betting.rounds import Chips, Structure, clockwise
from arena.games.cards import Card
from arena.games.contract import Event, Seat
from arena.games.pineapple.messages import (
    BoardDealt,
    Dealt,
    GaveUp,
    HandBegan,
    Options,
    Shown,
    Street,
    Variant,
)
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.verify import verify
from arena.referee.spec import Ending

PHHS_SUFFIX: Final = ".phhs"
MOST_RAISES: Final = 3
"""The maximal number of raises of a fixed-limit round in the format's hold'em, besides the bet."""
_UNKNOWN: Final = "??"
_KEPT: Final = 2


class Inexpressible(Exception):
    """The format cannot express such a match. The text says why."""


def write_hands(replay: Replay, folder: Path) -> Path:
    """Write the complete hands of a match to `FOLDER/GAME/MATCH.phhs`, and return the path.

    Raises:
      Inexpressible: if the format has no such game.
      Damaged, Unplayable, Discrepancy: as `verify`.
    """
    text = "\n".join(f"[{number}]\n{hand}" for number, hand in enumerate(hand_histories(replay), 1))
    path = folder / replay.opened.terms.game / f"{replay.opened.match_id}{PHHS_SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def hand_histories(replay: Replay) -> Iterator[str]:
    """Yield the complete hands of a match, each as TOML, without hands for which rule books differ.

    Raises:
      Inexpressible: if the format has no such game.
      Damaged, Unplayable, Discrepancy: as `verify`.
    """
    verify(replay)
    terms = replay.spec().terms
    if not isinstance(terms.options, Options) or terms.options.variant == Variant.CRAZY_HILO:
        raise Inexpressible(
            f"PHH has no {terms.game.title}, and no game that it may be written as; the hands of Pineapple and "
            "Crazy Pineapple can be exported"
        )
    options = terms.options
    if options.structure == Structure.FIXED and options.max_raises > MOST_RAISES:
        raise Inexpressible(f"with a fixed limit PHH has at most {MOST_RAISES} raises a round")
    if replay.ending is Ending.ABORTED:
        raise Inexpressible("the match was aborted")
    events: list[Event] = []
    for step in play_back(replay):
        for sent in step.events:
            if isinstance(sent.event, HandBegan):
                events.clear()
            events.append(sent.event)
            if isinstance(sent.event, HandEnded) and not _is_disputed(events, options):
                yield _Hand.of(events).toml(options, replay)


def _is_disputed(events: Sequence[Event], options: Options) -> bool:
    """Return whether rule books differ for a hand: it has a stack below the big blind, or a raise after an all-in that was below a full raise."""
    began = events[0]
    assert isinstance(began, HandBegan), "a hand begins with its blinds"
    dealt = [event.seat for event in events if isinstance(event, Dealt)]
    if any(began.chips.stacks[seat] + began.chips.bets[seat] < options.big_blind for seat in dealt):
        return True
    is_fixed = options.structure == Structure.FIXED
    level, is_short = options.big_blind, False
    step = options.small_bet if is_fixed else options.big_blind or options.min_bet
    for event in events:
        if isinstance(event, BoardDealt):
            level, is_short = 0, False
            if not is_fixed:
                step = options.big_blind or options.min_bet
            elif event.street != Street.FLOP:
                step = options.big_bet
        elif isinstance(event, Acted) and event.action in (Action.BET, Action.RAISE):
            if is_short:
                return True
            added, level = event.to - level, event.to
            is_short = added < step
            if not is_fixed:
                step = max(step, added)
    return False


@dataclass(slots=True)
class _Hand:
    began: HandBegan
    dealt: dict[Seat, tuple[Card, ...]] = field(default_factory=dict)
    discards: dict[Seat, Card] = field(default_factory=dict)
    actions: list[tuple[Seat | None, str]] = field(default_factory=list)
    """Actions with their seat; None of the dealer."""
    nets: tuple[int, ...] = ()

    @classmethod
    def of(cls, events: Sequence[Event]) -> "_Hand":
        began, *later = events
        assert isinstance(began, HandBegan), "a hand begins with its blinds"
        hand = cls(began)
        for event in later:
            hand.add(event)
        return hand

    def add(self, event: Event) -> None:
        match event:
            case Dealt(seat=seat, cards=cards):
                self.dealt[seat] = cards
            case GaveUp(seat=seat, card=card):
                self.discards[seat] = card
            case Acted(seat=seat, action=action, to=to):
                word = {Action.FOLD: "f", Action.CHECK: "cc", Action.CALL: "cc"}.get(action)
                self.actions.append((seat, word or f"cbr {to}"))
            case BoardDealt(cards=cards):
                self.actions.append((None, f"d db {_written(cards)}"))
            case Shown(seat=seat, cards=cards):
                self.actions.append((seat, f"sm {_written(cards)}"))
            case HandEnded(nets=nets):
                self.nets = nets

    def toml(self, options: Options, replay: Replay) -> str:
        chips, players = self.began.chips, tuple(sorted(self.dealt))
        order = clockwise(players, self.began.dealer)
        number = {seat: at for at, seat in enumerate(order, 1)}
        stacks = [_before(chips, seat) for seat in order]
        holes = [
            f"d dh p{number[seat]} {_written(self._kept(seat)) or _UNKNOWN * _KEPT}"
            for seat in order
        ]
        played = [
            action if seat is None else f"p{number[seat]} {action}" for seat, action in self.actions
        ]
        fixed = options.structure == Structure.FIXED
        others = [0] * (len(order) - 2)
        values = {
            "variant": "FT" if fixed else "NT",
            "antes": [options.ante] * len(order),
            "blinds_or_straddles": [options.small_blind, options.big_blind, *others],
            **(
                {"small_bet": options.small_bet, "big_bet": options.big_bet}
                if fixed
                else {"min_bet": options.big_blind or options.min_bet}
            ),
            "starting_stacks": stacks,
            "actions": [*holes, *played],
            "hand": self.began.hand,
            "players": [replay.names[seat] for seat in order],
            "finishing_stacks": [
                stack + self.nets[seat] for stack, seat in zip(stacks, order, strict=True)
            ],
            "_match": replay.opened.match_id,
            "_game": replay.opened.terms.game,
            "_seats": list(order),
            "_dealt": [_written(self.dealt[seat]) for seat in order],
        }
        # Texts, numbers and lists of these are written in TOML as in JSON.
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())

    def _kept(self, seat: Seat) -> Sequence[Card]:
        """Return the two cards that a seat kept; empty if it discarded none."""
        gone = self.discards.get(seat)
        return () if gone is None else [card for card in self.dealt[seat] if card != gone]


def _before(chips: Chips, seat: Seat) -> int:
    """Return the chips of a seat before antes and blinds."""
    return chips.stacks[seat] + chips.bets[seat] + chips.paid[seat]


def _written(cards: Sequence[Card]) -> str:
    return "".join(map(str, cards))
