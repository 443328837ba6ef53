"""Pictures of Klaberjass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.contract import Seat
from arena.games.klaberjass.scoring import sequences
from arena.games.klaberjass.words import (
    Announced,
    Answered,
    Began,
    Call,
    Called,
    Dealt,
    Event,
    Exchanged,
    Kept,
    Made,
    NamedSuit,
    NamedTop,
    Phase,
    Played,
    Scored,
    Shown,
    ThrownIn,
    View,
    Won,
    Word,
)
from arena.scenes.drawing import (
    DEALER,
    by_suit,
    cards,
    fact,
    goal,
    hand,
    pile,
    said,
    shown_zones,
    tricks,
)
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, faces, joined, line, listed, plain
from arena.scenes.two_hand_tricks import latest_trick, with_played
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Fact,
    Group,
    Kind,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
)

_TRICKS: Final = 9
_CALLS: Final = {
    Call.PASS: "{seat} passes.",
    Call.SCHMEISS: "{seat} calls a schmeiss: throw the hand in, or {seat} makes trump.",
    Call.YES: "{seat} agrees to throw the hand in.",
    Call.NO: "{seat} refuses the schmeiss.",
}
_ANSWERS: Final = {
    Word.GOOD: "{seat} says “good”: the other's sequence stands.",
    Word.NOT_GOOD: "{seat} says “not good”: it has a better sequence.",
    Word.HOW_HIGH: "{seat} asks “how high?”: its sequence is worth as much.",
    Word.ALSO: "{seat} says “also”: the top cards are equal.",
}

ENDS: Final = (Scored, ThrownIn)
WORDS: Final[Words] = {
    Began: "A hand is dealt. {dealer} deals; {upcard} is turned up.",
    Dealt: "{seat} gets {cards}.",
    Called: lambda event: _CALLS[event.call],
    Made: "{seat} makes {trump:suit} trump.",
    ThrownIn: "The hand is thrown in: nobody scores.",
    Kept: "{seat} leaves the upcard.",
    Exchanged: "{seat} takes {card} for the seven of trump.",
    Announced: lambda event: (
        "{seat} announces a sequence worth {value}."
        if event.value
        else "{seat} announces no sequence."
    ),
    Answered: lambda event: _ANSWERS[event.word],
    NamedTop: "{seat} names a top card of rank {rank}.",
    NamedSuit: "{seat} names {suit:suit}.",
    Played: lambda event: (
        "{seat} plays {card} and calls the bela." if event.bela else "{seat} plays {card}."
    ),
    Won: "{seat} takes the trick, {value:count point}.",
    Shown: lambda event: line(
        Name(event.seat),
        " shows ",
        *listed([faces(cards) for cards in event.melds]),
        f", worth {event.value} in all.",
    ),
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: two hands, the upcard and the stock, and the trick between them."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    seats = tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats))
    upcard = Card(view.upcard, Tone.PLAIN if view.auction.trump is None else Tone.DIM)
    trump = view.auction.trump
    return Scene(
        seats,
        "points",
        shown_zones(
            Zone("upcard", Kind.TRICK, (replace(upcard, tag=("turned up",)),)),
            pile("stock", view.stock, "in the stock" if trump is None else "out of play"),
            latest_trick(view, _TRICKS),
        ),
        (
            fact("trump", "not made yet") if trump is None else fact("trump", Suit(trump)),
            goal(eye.options, view.hand),
        ),
        _banner(eye, scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last card played, and the hand scored."""
    for event in told:
        match event:
            case Played(player, card, _):
                view = with_played(view, player, card)
            case Won(seat, _):
                view = replace(view, winners=(*view.winners, seat))
            case Scored():
                view = replace(view, points=event.points, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    badges = []
    if seat == view.dealer:
        badges.append(DEALER)
    if seat == view.auction.maker:
        badges.append(Badge(line("maker ", *_trump(view)), Tone.MARKED))
    shown = view.contest.shown if seat == view.contest.winner else ()
    return SeatScene(
        seat,
        str(view.totals[seat]),
        tuple(badges),
        _facts(view, seat, scored),
        shown_zones(
            hand(
                view.hand_sizes[seat],
                None if own is None else by_suit(own.held),
                by_suit(view.known[seat]),
            ),
            tricks(view.winners.count(seat)),
            Zone(
                "shown",
                Kind.MELD,
                tuple(
                    Group(cards(each), (f"sequence worth {_worth(view, each)}",)) for each in shown
                ),
            ),
            said(_latest_words(eye, view, seat)),
        ),
        active=view.to_act == seat,
    )


def _facts(view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        return (fact("this hand", view.points[seat]),)
    split = scored.splits[seat]
    parts = {
        "tricks": split.tricks,
        "last trick": split.last_trick,
        "sequences": split.sequences,
        "bela": split.bela,
    }
    made = [fact(label, points) for label, points in parts.items() if points or label == "tricks"]
    total = fact("made", scored.points[seat], tone=Tone.MARKED)
    return (*made, total, fact("scores", f"{scored.gained[seat]:+}", tone=Tone.MARKED))


def _latest_words(eye: Eye, view: View, seat: Seat) -> Line:
    """What the seat said last, until cards are played."""
    if view.played[0] or view.played[1]:
        return ()
    event = last_by(seat, eye.told, (Called, Made, Announced, Answered))
    match event:
        case Called(_, call):
            return (call.value,)
        case Made(_, trump):
            return line("makes ", Suit(trump))
        case Announced(_, value):
            return (f"a sequence worth {value}" if value else "no sequence",)
        case Answered(_, word):
            return (f"“{plain(word)}”",)
    return ()


def _banner(eye: Eye, scored: Scored | None) -> tuple[Line, ...]:
    if scored is not None:
        return _reasons(scored)
    return () if eye.last_told(ThrownIn) is None else (("The hand is thrown in: nobody scores.",),)


def _reasons(event: Scored) -> tuple[Line, ...]:
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


def _trump(view: View) -> Line:
    return () if view.auction.trump is None else (Suit(view.auction.trump),)


def _worth(view: View, shown: tuple[str, ...]) -> int:
    (sequence,) = sequences(shown, view.auction.trump or "")
    return sequence.value
