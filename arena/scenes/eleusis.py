"""Pictures of Eleusis and Eleusis Express."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import Card as Code
from arena.games.contract import Event, Seat
from arena.games.eleusis.cards import in_hand_order, put_right, put_wrong
from arena.games.eleusis.turn import PROPHET_DRAWS
from arena.games.eleusis.words import (
    Dealt,
    Drawn,
    End,
    Guessed,
    GuessRefuted,
    HandBegan,
    HandScored,
    Judged,
    NoPlayCalled,
    NoPlayResolved,
    Opinion,
    PackAdded,
    Passed,
    Phase,
    Played,
    PlayResolved,
    ProphetDeclared,
    ProphetDeposed,
    RuleRefused,
    RuleReplaced,
    View,
)
from arena.scenes.drawing import DEALER, cards, fact, goal, hand, said, shown_zones
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, counted, faces, joined, line, plain
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Column,
    Fact,
    Item,
    Kind,
    Line,
    Name,
    Pile,
    Scene,
    SeatScene,
    Tone,
    Word,
    Zone,
)

_COLUMNS: Final = 40
"""Mainline cards that are drawn, the latest; of those before there is the number."""
_GUESSES: Final = 4
"""Guesses that are drawn, the latest."""

_TASKS: Final = {
    Phase.RULE: "the dealer thinks of a rule",
    Phase.PLAY: "play cards, or say that none is right",
    Phase.JUDGE: "the prophet judges",
    Phase.PROPHET_OPTION: "become the prophet, or pass",
    Phase.GUESS_OPTION: "guess the rule, or pass",
}
_EXPELLED: Final = " {seat} may not play any more in this hand."
_ENDED: Final = {
    End.DEPLETED: "A seat has no cards left.",
    End.NO_PLAY: "A seat was right that it could not play, and has no cards left.",
    End.EXPELLED: "Nobody is left to play.",
    End.GUESS: "The rule was guessed.",
    End.TURN_CAP: "All have had as many turns as there are.",
}


def _resolved(event: PlayResolved) -> str:
    if event.right:
        return "Right."
    draws = f" {{seat}} draws {event.penalty}." if event.penalty else ""
    return f"Wrong.{draws}{_EXPELLED if event.expelled else ''}"


def _no_play(event: NoPlayResolved) -> str:
    if event.right:
        size = counted(event.hand_size, "card")
        return f"That is so: {{seat}} gets a new hand of {size}."
    draws = f"; {{seat}} draws {event.penalty}" if event.penalty else ""
    return f"Not so: {{card}} was right and joins the line{draws}.{_EXPELLED if event.expelled else ''}"


ENDS: Final = (HandScored,)
WORDS: Final[Words] = {
    HandBegan: "A hand begins. {dealer} is to think of a rule.",
    RuleRefused: "The rule cannot be used: {reason}",
    RuleReplaced: "The second rule cannot be used either, so the arena sets {rule:quoted}.",
    Dealt: "There is a rule. {hand_size:count card} each are dealt; {starter} begins the line.",
    Drawn: "{seat} gets {cards}.",
    Played: "{seat} plays {cards}.",
    NoPlayCalled: "{seat} says that none of {cards} is right.",
    Judged: lambda event: (
        f"{{seat}} judges: {event.opinion}."
        if event.card is None
        else f"{{seat}} judges: {event.opinion}, as {{card}} is right."
    ),
    ProphetDeposed: "That is not true: {seat} is the prophet no more, and draws five cards.",
    PlayResolved: _resolved,
    NoPlayResolved: _no_play,
    PackAdded: "Another pack is shuffled in; there are {packs}.",
    ProphetDeclared: "{seat} becomes the prophet.",
    Passed: "{seat} passes.",
    Guessed: lambda event: (
        "{seat} guesses {text:quoted}, and that is the rule."
        if event.accepted
        else "{seat} guesses {text:quoted}, and that is not the rule."
    ),
    GuessRefuted: lambda event: (
        "{seat}'s last guess was wrong: after {line} the rule allows {card}."
        if event.legal
        else "{seat}'s last guess was wrong: after {line} the rule forbids {card}."
    ),
    HandScored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The line of right cards with wrong ones below, and what each seat holds."""
    view: View = eye.view
    scored = eye.last_told(HandScored)
    now = (fact("now", _TASKS[view.phase]),) if view.phase in _TASKS else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(
            _line(eye, view),
            _judged(view),
            _guesses(eye),
        ),
        (*now, *_rule(eye, view), fact("in the stock", view.stock), goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last play where it went, and the scores."""
    for event in told:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, turn=None, played=(), no_play=False)


def _after(view: View, event: Event, own: Seat | None) -> View:
    match event:
        case PlayResolved(seat, right, played, penalty, _):
            put = put_right if right else put_wrong
            spent = _spent(view, seat, played, own)
            return _sized(replace(spent, layout=put(view.layout, seat, played)), seat, penalty)
        case NoPlayResolved(seat, False, card, _, size, _):
            assert card is not None
            spent = _spent(view, seat, (card,), own)
            after = replace(spent, layout=put_right(view.layout, seat, (card,)))
            return _sized(after, seat, size - after.hand_sizes[seat])
        case NoPlayResolved(seat, True, _, _, size, _):
            held = () if seat == own else view.held
            return _sized(replace(view, held=held), seat, size - view.hand_sizes[seat])
        case Drawn(seat, drawn):
            held = in_hand_order((*view.held, *drawn)) if seat == own else view.held
            return replace(view, held=held)
        case ProphetDeposed(seat):
            former = (*view.office.former, seat)
            office = replace(view.office, prophet=None, marker=0, former=former)
            return _sized(replace(view, office=office), seat, PROPHET_DRAWS)
        case HandScored():
            return replace(view, totals=event.totals)
    return view


def _spent(view: View, seat: Seat, gone: Sequence[Code], own: Seat | None) -> View:
    held = list(view.held)
    for card in gone if seat == own else ():
        held.remove(card)
    return _sized(replace(view, held=tuple(held)), seat, -len(gone))


def _sized(view: View, seat: Seat, more: int) -> View:
    sizes = list(view.hand_sizes)
    sizes[seat] += more
    return replace(view, hand_sizes=tuple(sizes))


def _rule(eye: Eye, view: View) -> tuple[Fact, ...]:
    """The rule, for the dealer's eyes."""
    own: View | None = eye.own_view(view.dealer)
    rule = None if own is None else own.rule
    facts = () if rule is None else (fact("rule", f"“{rule}”"),)
    refusal = "" if own is None else own.refusal
    return (*facts, fact("refused", refusal, tone=Tone.WRONG)) if refusal else facts


def _line(eye: Eye, view: View) -> Zone:
    """The mainline from left to right; wrong plays lie under the card that they followed."""
    layout = view.layout
    under: dict[int, list[tuple[Card, ...]]] = {}
    for play, after in zip(layout.sidelines, layout.side_after, strict=True):
        under.setdefault(after, []).append(cards(play, Tone.WRONG))
    last = _last_play(eye)
    right = last.cards if isinstance(last, PlayResolved) and last.right else ()
    fresh = len(layout.mainline) - len(right)
    first = max(0, len(layout.mainline) - _COLUMNS)
    columns = [
        Column(
            Card(code, Tone.MARKED if right and at >= fresh else Tone.PLAIN),
            tuple(under.get(at, ())),
        )
        for at, code in enumerate(layout.mainline[first:], first)
    ]
    items: tuple[Item, ...] = (*([Pile(first, "earlier")] if first else []), *columns)
    wrong = sum(map(len, layout.sidelines))
    title = f"{len(layout.mainline)} right, {wrong} wrong below the card they followed"
    return Zone("line", Kind.LINE, items, (title,) if layout.mainline else ())


def _last_play(eye: Eye) -> Event | None:
    return next((e for e in reversed(eye.news) if isinstance(e, PlayResolved)), None)


def _judged(view: View) -> Zone:
    """What the prophet is to judge."""
    if not view.played:
        return Zone("played", Kind.ROW, ())
    title = "none of these is right?" if view.no_play else "right or wrong?"
    return Zone("played", Kind.ROW, cards(view.played, Tone.MARKED), (title,))


def _guesses(eye: Eye) -> Zone:
    """The latest guesses of the hand."""
    latest = eye.all_told(Guessed)[-_GUESSES:]
    words = tuple(
        Word(
            line(Name(each.seat), f": “{each.text}”"), Tone.MARKED if each.accepted else Tone.WRONG
        )
        for each in latest
    )
    return Zone("guesses", Kind.SAID, words, ("guesses",) if words else ())


def _seat(eye: Eye, view: View, seat: Seat, scored: HandScored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    dealer = seat == view.dealer
    expelled = seat in view.office.expelled
    badges = [DEALER] if dealer else []
    if seat == view.office.prophet:
        badges.append(Badge(("prophet",), Tone.MARKED))
    if expelled:
        badges.append(Badge(("may not play",), Tone.WRONG))
    size = view.hand_sizes[seat]
    facts = [] if dealer else [fact("turns", view.turns[seat])]
    if own is not None and not dealer:
        facts.insert(0, fact("cards", size))
    if scored is not None:
        facts.append(fact("scores", f"{scored.scores[seat]:+}", tone=Tone.MARKED))
    return SeatScene(
        seat,
        str(view.totals[seat]),
        tuple(badges),
        tuple(facts),
        shown_zones(
            hand(size, None if own is None or dealer else own.held),
            said(*_just_said(eye, seat)),
        ),
        active=view.to_act == seat,
        out=expelled,
    )


def _just_said(eye: Eye, seat: Seat) -> tuple[Line, Tone]:
    kinds = (PlayResolved, NoPlayResolved, Judged, ProphetDeclared, Passed)
    match last_by(seat, eye.news, kinds):
        case PlayResolved(_, right, played, _, _):
            return line(*faces(played), " right" if right else " wrong"), _tone(right=right)
        case NoPlayResolved(_, right, _, _, _, _):
            return ("none is right" if right else "one was right",), _tone(right=right)
        case Judged(_, opinion, _):
            return (plain(opinion),), _tone(right=opinion is Opinion.RIGHT)
        case ProphetDeclared():
            return ("I am the prophet",), Tone.MARKED
        case Passed():
            return ("passes",), Tone.DIM
    return (), Tone.PLAIN


def _tone(*, right: bool) -> Tone:
    return Tone.PLAIN if right else Tone.WRONG


def _reasons(event: HandScored) -> tuple[Line, ...]:
    by_arena = " The arena had set it, so the dealer scores nothing." if event.by_arena else ""
    return (
        line(_ENDED[event.end], " The rule was ", f"“{event.rule}”.", by_arena),
        line("Scored: ", *by_seat(event.scores, signed=True), "."),
        line("In all: ", *by_seat(event.totals), "."),
    )
