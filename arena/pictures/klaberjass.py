"""Scenes of Klaberjass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.contract import Seat
from arena.games.klaberjass import messages as klaberjass
from arena.games.klaberjass.messages import Phase, View
from arena.games.klaberjass.scoring import TRUMP_POINTS, sequences
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Target, Targets, Widget
from arena.pictures.sentences import Sentences, by_seat, faces, joined, line, listed, plain
from arena.pictures.two_hand_tricks import latest_trick, with_played
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Group,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
    ZoneKind,
)

_TRICKS: Final = 9
_HIGHEST: Final = {"J": "J of trump, the Jass", "9": "9 of trump, the Menel"}
_CALLS: Final = {
    klaberjass.Call.PASS: "{seat} passes.",
    klaberjass.Call.SCHMEISS: "{seat} calls a schmeiss: throw the hand in, or {seat} makes trump.",
    klaberjass.Call.YES: "{seat} agrees to throw the hand in.",
    klaberjass.Call.NO: "{seat} refuses the schmeiss.",
}
_ANSWERS: Final = {
    klaberjass.Word.GOOD: "{seat} says “good”: the other's sequence stands.",
    klaberjass.Word.NOT_GOOD: "{seat} says “not good”: it has a better sequence.",
    klaberjass.Word.HOW_HIGH: "{seat} asks “how high?”: its sequence is worth as much.",
    klaberjass.Word.ALSO: "{seat} says “also”: the top cards are equal.",
}

HAND_ENDS: Final = (klaberjass.Scored, klaberjass.ThrownIn)
SENTENCES: Final[Sentences] = {
    klaberjass.Began: "A hand is dealt. {dealer} deals; {upcard} is turned up.",
    klaberjass.Dealt: "{seat} gets {cards}.",
    klaberjass.Called: lambda event: _CALLS[event.call],
    klaberjass.Made: "{seat} makes {trump:suit} trump.",
    klaberjass.ThrownIn: "The hand is thrown in: nobody scores.",
    klaberjass.Kept: "{seat} leaves the upcard.",
    klaberjass.Exchanged: "{seat} takes {card} for the seven of trump.",
    klaberjass.Announced: lambda event: (
        "{seat} announces a sequence worth {value}."
        if event.value
        else "{seat} announces no sequence."
    ),
    klaberjass.Answered: lambda event: _ANSWERS[event.word],
    klaberjass.NamedTop: "{seat} names a top card of rank {rank}.",
    klaberjass.NamedSuit: "{seat} names {suit:suit}.",
    klaberjass.Played: lambda event: (
        "{seat} plays {card} and calls the bela." if event.bela else "{seat} plays {card}."
    ),
    klaberjass.Won: "{seat} takes the trick, {value:count point}.",
    klaberjass.Shown: lambda event: line(
        Name(event.seat),
        " shows ",
        *listed([faces(meld) for meld in event.melds]),
        f", worth {event.value} in all.",
    ),
    klaberjass.Scored: lambda event: joined(_reasons(event)),
}
_WORDS: Final[Sentences] = {
    klaberjass.Called: "{call}",
    klaberjass.Made: "makes {trump:suit}",
    klaberjass.Announced: lambda event: (
        f"a sequence worth {event.value}" if event.value else "no sequence"
    ),
    klaberjass.Answered: lambda event: f"“{plain(event.word)}”",
}

ASKS: Final[Asks] = {
    Phase.FIRST_BID: (Widget.CLICK, "Make the suit of {upcard} trump, pass, or call a schmeiss."),
    Phase.SECOND_BID: (Widget.CLICK, "Name another suit as trump, pass, or call a schmeiss."),
    Phase.REPLY: (Widget.CLICK, "A schmeiss was called: agree to throw the hand in, or refuse."),
    Phase.NAME: (Widget.CLICK, "Your schmeiss was refused: name the trump suit."),
    Phase.DIX: (Widget.CLICK, "You may take {upcard} for the seven of trump."),
    Phase.ANNOUNCE: (Widget.CLICK, "Announce the value of your best sequence, or none."),
    Phase.ANSWER: (Widget.CLICK, "Answer the announced sequence."),
    Phase.LEAD: (Widget.CLICK, "You lead: play any card."),
    Phase.FOLLOW: (Widget.CLICK, "Play a card to {led}."),
}
MOVES: Final[MoveWords] = {
    klaberjass.Take: lambda _, view: line("Make ", Suit(view.upcard[1]), " trump"),
    klaberjass.Pass: "Pass",
    klaberjass.Schmeiss: "Call a schmeiss: throw the hand in, or make trump",
    klaberjass.Yes: "Agree to throw the hand in",
    klaberjass.No: "Refuse the schmeiss",
    klaberjass.Name: "Make {suit:suit} trump",
    klaberjass.Keep: "Leave the turned-up card",
    klaberjass.Exchange: lambda _, view: line(
        "Take ", Face(view.upcard), " for the seven of trump"
    ),
    klaberjass.NoMeld: "Announce no sequence",
    klaberjass.Announce: "Announce a sequence worth {value}",
    klaberjass.Good: "Say “good”: the other's sequence stands",
    klaberjass.NotGood: "Say “not good”: yours is worth more",
    klaberjass.HowHigh: "Ask “how high?”: yours is worth as much",
    klaberjass.Play: lambda move, _: (
        "Play {card} and call the bela" if move.bela else "Play {card}"
    ),
}
TARGETS: Final[Targets] = {klaberjass.Take: lambda _, view: Target("centre/upcard", view.upcard)}


def why_not(view: View, card: str) -> Line:
    """Return why a card may not be played to the lead."""
    led, trump = view.led, view.auction.trump
    if led is None or trump is None:
        return ()
    if any(held[1] == led[1] for held in view.held):
        if card[1] != led[1]:
            return line("follow ", Suit(led[1]))
        return line("beat ", Face(led))
    return line("no ", Suit(led[1]), ": play a trump")


def scene(perspective: Perspective) -> Scene:
    """Draw two hands, the upcard and the stock, and the trick between them."""
    view: View = perspective.view
    scored = perspective.last_event(klaberjass.Scored)
    seats = tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats))
    upcard = Card(view.upcard, Tone.PLAIN if view.auction.trump is None else Tone.DIM)
    trump = view.auction.trump
    return Scene(
        seats,
        "points",
        draw.shown_zones(
            Zone("upcard", ZoneKind.TRICK, (replace(upcard, tag=("turned up",)),)),
            draw.pile("stock", view.stock, "in the stock" if trump is None else "out of play"),
            latest_trick(view, _TRICKS),
        ),
        (*_trumps(trump), draw.goal(perspective.options, view.hand)),
        _banner(perspective, scored),
    )


def close(view: View, events: Sequence[klaberjass.Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last trick, or thrown in."""
    for event in events:
        match event:
            case klaberjass.Played(player, card, _):
                view = with_played(view, player, card)
            case klaberjass.Won(seat, _):
                view = replace(view, winners=(*view.winners, seat))
            case klaberjass.Scored():
                view = replace(view, points=event.points, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: klaberjass.Scored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    maker = Badge(line("maker ", *_trump(view)), Tone.MARKED)
    shown = view.contest.shown if seat == view.contest.winner else ()
    melds = [
        Group(draw.cards(codes), (f"sequence worth {_worth(view, codes)}",)) for codes in shown
    ]
    held = None if seat_view is None else draw.by_suit(seat_view.held)
    zones = (
        draw.hand(view.hand_sizes[seat], held, draw.by_suit(view.known[seat])),
        draw.tricks(view.winners.count(seat)),
        Zone("shown", ZoneKind.MELD, tuple(melds)),
        # The latest words of the seat are shown until cards are played.
        draw.said(()) if any(view.played) else draw.latest_words(seat, perspective.events, _WORDS),
    )
    badges = (maker,) if seat == view.auction.maker else ()
    return draw.seat_scene(
        view, seat, str(view.totals[seat]), badges, _facts(view, seat, scored), zones
    )


def _facts(view: View, seat: Seat, scored: klaberjass.Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        return (draw.fact("this hand", view.points[seat], tone=Tone.MARKED),)
    split = scored.splits[seat]
    parts = {
        "tricks": split.tricks,
        "last trick": split.last_trick,
        "sequences": split.sequences,
        "bela": split.bela,
    }
    made = [
        draw.fact(label, points) for label, points in parts.items() if points or label == "tricks"
    ]
    total = draw.fact("made", scored.points[seat], tone=Tone.MARKED)
    return (*made, total, draw.gain("scores", scored.gained[seat]))


def _banner(perspective: Perspective, scored: klaberjass.Scored | None) -> tuple[Line, ...]:
    if scored is not None:
        return _reasons(scored)
    return (
        ()
        if perspective.last_event(klaberjass.ThrownIn) is None
        else (("The hand is thrown in: nobody scores.",),)
    )


def _reasons(event: klaberjass.Scored) -> tuple[Line, ...]:
    maker, other = event.maker, Seat(1 - event.maker)
    mine, theirs = event.points[maker], event.points[other]
    if mine > theirs:
        why = line(Name(maker), " made trump and has more: both score what they made.")
    elif mine == theirs:
        why = line(Name(maker), " made trump and has only as much: it scores nothing.")
    else:
        why = line(
            Name(maker), " made trump and has less: ", Name(other), " scores the points of both."
        )
    return (
        line("Points made: ", *by_seat(event.points), "."),
        why,
        line("Scored: ", *by_seat(event.gained, signed=True), "."),
    )


def _trumps(trump: str | None) -> tuple[Fact, ...]:
    """Return the trump suit, and its two highest cards, whose names and points only trump has."""
    if trump is None:
        return (draw.fact("trump", "not made yet"),)
    named = (draw.fact(name, TRUMP_POINTS[rank]) for rank, name in _HIGHEST.items())
    return (draw.fact("trump", Suit(trump)), *named)


def _trump(view: View) -> Line:
    return () if view.auction.trump is None else (Suit(view.auction.trump),)


def _worth(view: View, shown: tuple[str, ...]) -> int:
    (sequence,) = sequences(shown, view.auction.trump or "")
    return sequence.value
