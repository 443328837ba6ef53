"""The knowledge of a seat at an ask, in words: for language models and other readers of text.

The rules are the game's page, the table is the scene of `arena.pictures`, news are the sentences of events, and moves
have the words that a person is shown. Where other moves are legal besides those offered, moves are in the notation of
replays, in which a model can write one of the others. Only an ask and the events of its match are read, so nothing
hidden can be written.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.games.contract import Event, Seat, View
from arena.games.notation import Notation, NotationError
from arena.pictures import Perspective, hand_ends, scenes_of, sentence, vocabulary
from arena.pictures.choices import choices
from arena.pictures.vocabulary import (
    Card,
    Chips,
    Column,
    Face,
    Gap,
    Item,
    Line,
    Name,
    Pile,
    Scene,
    Suit,
    Tone,
    Word,
    Zone,
)
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_of_message
from cardarena._ask import Ask
from cardarena.v1.game_pb2 import GameMove
from cardarena.v1.play_pb2 import MatchStart

LEGEND: Final = """\
A card is its rank and its suit: Th is the ten of hearts, As the ace of spades. ?? is a hidden card, -- an empty place.
* marks what matters now, ~ what is out of play, ! what is wrong. The dealer, turns and seats count clockwise from seat 0."""
"""The meaning of the signs in texts of tables."""
_LEFT_OUT: Final = re.compile(
    r"^## (?:Options|View|Sample)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
"""The sections of a page of rules that are left out at a table, because its options are written out."""
_MARKS: Final = {Tone.PLAIN: "", Tone.MARKED: "*", Tone.DIM: "~", Tone.WRONG: "!"}
_SUITS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


@dataclass(frozen=True, slots=True)
class AskWords:
    """An ask in words."""

    table: str
    """The table as the seat sees it."""
    news: str
    """The events since the seat's previous ask, one sentence a line."""
    moves: tuple[str, ...]
    """The offered moves, in their order: in words if these are all legal moves, otherwise in notation."""


class Words:
    """The words of one match, for one seat."""

    def __init__(self, start: MatchStart) -> None:
        terms = terms_of_message(start.terms)
        self._game, self._options, self._seats = terms.game, terms.options, terms.seats
        self._seat = Seat(start.seat)
        self._codec = codec_of(terms.game)
        self._notation = Notation(terms.game.messages.Move)
        self._scenes = scenes_of(terms.game)
        self._hand: list[Event] = []
        """The events of the hand so far."""

    def rules(self) -> str:
        """Return the rules, the options of the match and the seat."""
        page = _LEFT_OUT.sub("", self._game.describe()).strip()
        values = self._game.values(self._options).items()
        options = ", ".join(f"{name} = {value}" for name, value in values) or "none"
        return (
            f"{page}\n\n## This match\n\nSeats: {self._seats}. You are seat {self._seat}. "
            f"Options: {options}.\n\n{LEGEND}"
        )

    def of(self, ask: Ask[Any, Any, Any]) -> AskWords:
        """Return an ask in words. Call it once for each ask of the match, in order, because a table shows the hand so far."""
        events = [self._codec.read_event(event) for event in ask.events]
        self._hand += events
        if ends := hand_ends(self._hand, self._scenes):
            del self._hand[: ends[-1]]
        view = self._codec.read_view(ask.view)
        latest = min(len(events), len(self._hand))
        seen = Perspective(
            view, {self._seat: view}, tuple(self._hand), latest, self._seats, self._options
        )
        return AskWords(
            "\n".join(_table(self._scenes.scene(seen))),
            "\n".join(_running(sentence(event, self._scenes.SENTENCES)) for event in events),
            self._moves(view, ask),
        )

    def _moves(self, view: View, ask: Ask[Any, Any, Any]) -> tuple[str, ...]:
        """Return the words of the offered moves; their notation if other moves are legal too."""
        moves = [self._codec.read_move(GameMove(**{ask.family: move})) for move in ask.moves]
        if not ask.moves_complete:
            return tuple(map(self._notation.write, moves))
        return tuple(_running(choice.words) for choice in choices(self._game, view, moves))

    @property
    def forms(self) -> tuple[str, ...]:
        """The notation of all moves of the game: each verb with its fields."""
        return self._notation.forms()

    def unlisted_move(self, text: str, ask: Ask[Any, Any, Any]) -> Any | None:
        """Return the move of a text in notation; None if the ask offers all legal moves, or the text is no move."""
        if ask.moves_complete:
            return None
        try:
            encoded = self._codec.move(self._notation.read(text))
        except (NotationError, ValueError):
            return None
        return type(ask.moves[0]).FromString(encoded)


def _table(scene: Scene) -> Iterable[str]:
    if scene.facts:
        yield f"Table: {_facts(scene.facts)}"
    yield from (line for zone in scene.centre if (line := _zone(zone)))
    for seat in scene.seats:
        marks = [_running(badge.text) for badge in seat.badges]
        marks += ["to act"] * seat.active + ["out of the hand"] * seat.out
        about = "".join(f", {mark}" for mark in marks)
        yield f"Seat {seat.seat}: {seat.score} {scene.unit_of(seat)}{about}"
        yield from (f"  {line}" for zone in seat.zones if (line := _zone(zone)))
        if seat.facts:
            yield f"  {_facts(seat.facts)}"


def _facts(facts: Iterable[vocabulary.Fact]) -> str:
    return "; ".join(f"{fact.label} {_running(fact.value)}" for fact in facts)


def _zone(zone: Zone) -> str:
    """Return a zone as a line; empty if the zone is empty."""
    if not zone.items:
        return ""
    title = _running(zone.title) or zone.key.replace("_", " ")
    between = (
        " " if all(isinstance(item, (Card, Gap)) and not item.tag for item in zone.items) else " | "
    )
    return f"{title}: {between.join(map(_item, zone.items))}"


def _item(item: Item) -> str:
    match item:
        case Card(code, tone, tag):
            return _tagged(_MARKS[tone] + (code or "??"), tag)
        case Gap(tag):
            return _tagged("--", tag)
        case Pile(count, label, top):
            return f"{count} {label}" + (f", on top {top}" if top else "")
        case vocabulary.Group(cards, label, tone):
            return _tagged(_MARKS[tone] + " ".join(map(_item, cards)), label)
        case Column(top, under):
            plays = ", ".join("+".join(map(_item, play)) for play in under)
            return _item(top) + (f" (below: {plays})" if plays else "")
        case Chips(amount, label, tone):
            return f"{_MARKS[tone]}{amount} {_running(label)}".rstrip()
        case Word(text, tone):
            return f"{_MARKS[tone]}“{_running(text)}”"


def _tagged(text: str, tag: Line) -> str:
    return f"{text} ({_running(tag)})" if tag else text


def _running(line: Line) -> str:
    """Return running text. Text of bots in it is kept on one line."""
    return " ".join("".join(map(_part, line)).split())


def _part(part: vocabulary.Part) -> str:
    match part:
        case Name(seat):
            return f"seat {seat}"
        case Face(card):
            return card
        case Suit(suit):
            return _SUITS[suit]
        case _:
            return part


__all__: Sequence[str] = ["LEGEND", "AskWords", "Words"]
