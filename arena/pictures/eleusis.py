"""Scenes of Eleusis and Eleusis Express."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.cards import Card as Code
from arena.games.cards import without
from arena.games.cel import Rule as Language
from arena.games.contract import Event, Seat, with_entry
from arena.games.eleusis import messages as eleusis
from arena.games.eleusis.cards import in_hand_order, put_right, put_wrong
from arena.games.eleusis.messages import Phase, View
from arena.games.eleusis.turn import PROPHET_DRAWS
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Target, Targets, Widget
from arena.pictures.rule_sentences import rule_words
from arena.pictures.sentences import Sentences, faces, joined, line, plain, score_lines
from arena.pictures.viewer import Perspective, latest
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Column,
    Fact,
    Item,
    Line,
    Name,
    Pile,
    Scene,
    SeatScene,
    Tone,
    Word,
    Zone,
    ZoneKind,
)

_COLUMNS: Final = 40
"""The number of latest mainline cards that are drawn; earlier ones are a pile."""
_GUESSES: Final = 4

_TASKS: Final = {
    Phase.RULE: "the dealer thinks of a rule",
    Phase.PLAY: "play cards, or say that none is right",
    Phase.JUDGE: "the prophet judges",
    Phase.PROPHET_OPTION: "become the prophet, or pass",
    Phase.GUESS_OPTION: "guess the rule, or pass",
}
_EXPELLED: Final = " {seat} may not play any more in this hand."
_ENDED: Final = {
    eleusis.End.DEPLETED: "A seat has no cards left.",
    eleusis.End.NO_PLAY: "A seat was right that it could not play, and has no cards left.",
    eleusis.End.EXPELLED: "Nobody is left to play.",
    eleusis.End.GUESS: "The rule was guessed.",
    eleusis.End.TURN_CAP: "All have had as many turns as there are.",
}


def _resolved(event: eleusis.PlayResolved) -> str:
    if event.right:
        return "Right."
    draws = f" {{seat}} draws {event.penalty}." if event.penalty else ""
    return f"Wrong.{draws}{_EXPELLED if event.expelled else ''}"


def _no_play(event: eleusis.NoPlayResolved) -> str:
    if event.right:
        if not event.hand_size:
            return "That is so, and {seat} has no cards left."
        return "That is so: {seat} gets a new hand of {hand_size:count card}."
    draws = f"; {{seat}} draws {event.penalty}" if event.penalty else ""
    return f"Not so: {{card}} was right and joins the line{draws}.{_EXPELLED if event.expelled else ''}"


HAND_ENDS: Final = (eleusis.HandScored,)
SENTENCES: Final[Sentences] = {
    eleusis.HandBegan: "A hand begins. {dealer} is to think of a rule.",
    eleusis.RuleRefused: "The rule cannot be used: {reason}",
    eleusis.RuleReplaced: "The second rule cannot be used either, so the arena sets {rule:quoted}.",
    eleusis.Dealt: "There is a rule. {hand_size:count card} each are dealt; {starter} begins the line.",
    eleusis.Drawn: "{seat} gets {cards}.",
    eleusis.Played: "{seat} plays {cards}.",
    eleusis.NoPlayCalled: "{seat} says that none of {cards} is right.",
    eleusis.Judged: lambda event: (
        f"{{seat}} judges: {event.opinion}."
        if event.card is None
        else f"{{seat}} judges: {event.opinion}, as {{card}} is right."
    ),
    eleusis.ProphetDeposed: "That is not true: {seat} is the prophet no more, and draws five cards.",
    eleusis.PlayResolved: _resolved,
    eleusis.NoPlayResolved: _no_play,
    eleusis.PackAdded: "Another pack is shuffled in; there are {packs}.",
    eleusis.ProphetDeclared: "{seat} becomes the prophet.",
    eleusis.Passed: "{seat} passes.",
    eleusis.Guessed: lambda event: (
        "{seat} guesses {text:quoted}, and that is the rule."
        if event.accepted
        else "{seat} guesses {text:quoted}, and that is not the rule."
    ),
    eleusis.GuessRefuted: lambda event: (
        "{seat}'s last guess was wrong: after {line} the rule allows {card}."
        if event.legal
        else "{seat}'s last guess was wrong: after {line} the rule forbids {card}."
    ),
    eleusis.HandScored: lambda event: joined(_reasons(event)),
}


def _judgement(move: eleusis.Judge, view: View) -> str:
    if move.card is not None:
        return "Judge it wrong: {card} is right"
    right = move.opinion is eleusis.Opinion.RIGHT
    if view.no_play:
        return "Judge it right: none is right"
    return "Judge it right" if right else "Judge it wrong"


ASKS: Final[Asks] = {
    Phase.RULE: (
        Widget.TEXT,
        "You deal: think of a rule that says which card is right after the last one.",
    ),
    Phase.PLAY: (
        Widget.SELECT,
        "Choose a card, or several in their order, that you take to be right; or say that none is.",
    ),
    Phase.JUDGE: (Widget.CLICK, "You are the prophet: judge what was played."),
    Phase.PROPHET_OPTION: (Widget.CLICK, "You may become the prophet if you know the rule."),
    Phase.GUESS_OPTION: (Widget.TEXT, "You may guess the rule; a wrong guess costs nothing."),
}
MOVES: Final[MoveWords] = {
    eleusis.Rule: "Set the rule {text:quoted}",
    eleusis.Play: "Play {cards}",
    eleusis.NoPlay: "Say that none of your cards is right",
    eleusis.Judge: _judgement,
    eleusis.Declare: "Become the prophet",
    eleusis.Guess: "Guess {text:quoted}",
    eleusis.Pass: lambda _, view: (
        "Guess nothing" if view.phase is Phase.GUESS_OPTION else "Do not become the prophet"
    ),
}
TARGETS: Final[Targets] = {
    eleusis.Judge: lambda move, _: None if move.card is None else Target("centre/played", move.card)
}


def made(_view: View, cards: tuple[Code, ...]) -> tuple[eleusis.Move, ...]:
    """Return the play of these cards in this order."""
    return (eleusis.Play(cards),)


def worded(view: View, text: str) -> eleusis.Move:
    """Return the rule or the guess of a text. Raises `RuleError` if the text is not a rule of the language."""
    Language.parse(text)
    return eleusis.Rule(text) if view.phase is Phase.RULE else eleusis.Guess(text)


def scene(perspective: Perspective) -> Scene:
    """Draw the mainline with wrong cards below, and the hands."""
    view: View = perspective.view
    scored = perspective.last_event(eleusis.HandScored)
    now = (draw.fact("now", _TASKS[view.phase]),) if view.phase in _TASKS else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(_line(perspective, view), _judged(view), _guesses(perspective)),
        (
            *now,
            *(_rule(perspective, view) if scored is None else ()),
            draw.fact("in the stock", view.stock),
            draw.goal(perspective.options, view.hand),
        ),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last play."""
    for event in events:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, turn=None, played=(), no_play=False)


def _after(view: View, event: Event, own: Seat | None) -> View:
    match event:
        case eleusis.PlayResolved(seat, right, played, penalty, _):
            put = put_right if right else put_wrong
            spent = _spent(view, seat, played, own)
            return _sized(replace(spent, layout=put(view.layout, seat, played)), seat, penalty)
        case eleusis.NoPlayResolved(seat, False, card, _, size, _):
            assert card is not None
            spent = _spent(view, seat, (card,), own)
            after = replace(spent, layout=put_right(view.layout, seat, (card,)))
            return _sized(after, seat, size - after.hand_sizes[seat])
        case eleusis.NoPlayResolved(seat, True, _, _, size, _):
            held = () if seat == own else view.held
            return _sized(replace(view, held=held), seat, size - view.hand_sizes[seat])
        case eleusis.Drawn(seat, drawn):
            held = in_hand_order((*view.held, *drawn)) if seat == own else view.held
            return replace(view, held=held)
        case eleusis.ProphetDeposed(seat):
            former = (*view.office.former, seat)
            office = replace(view.office, prophet=None, marker=0, former=former)
            return _sized(replace(view, office=office), seat, PROPHET_DRAWS)
        case eleusis.HandScored():
            return replace(view, totals=event.totals)
    return view


def _spent(view: View, seat: Seat, gone: Sequence[Code], own: Seat | None) -> View:
    held = without(view.held, gone) if seat == own else view.held
    return _sized(replace(view, held=held), seat, -len(gone))


def _sized(view: View, seat: Seat, more: int) -> View:
    sizes = with_entry(view.hand_sizes, seat, view.hand_sizes[seat] + more)
    return replace(view, hand_sizes=sizes)


def _rule(perspective: Perspective, view: View) -> tuple[Fact, ...]:
    dealer_view: View | None = perspective.view_of(view.dealer)
    rule = None if dealer_view is None else dealer_view.rule
    facts = () if rule is None else (draw.fact("rule", *_quoted(rule)),)
    refusal = "" if dealer_view is None else dealer_view.refusal
    return (*facts, draw.fact("refused", refusal, tone=Tone.WRONG)) if refusal else facts


def _line(perspective: Perspective, view: View) -> Zone:
    """Return the mainline from left to right; wrong plays are under the card that they followed."""
    layout = view.layout
    under: dict[int, list[tuple[Card, ...]]] = {}
    for play, after in zip(layout.sidelines, layout.side_after, strict=True):
        under.setdefault(after, []).append(draw.cards(play, Tone.WRONG))
    last = latest(perspective.latest_events, eleusis.PlayResolved)
    right = last.cards if last is not None and last.right else ()
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
    return Zone("line", ZoneKind.LINE, items, (title,) if layout.mainline else ())


def _judged(view: View) -> Zone:
    if not view.played:
        return Zone("played", ZoneKind.ROW, ())
    title = "none of these is right?" if view.no_play else "right or wrong?"
    return Zone("played", ZoneKind.ROW, draw.cards(view.played, Tone.MARKED), (title,))


def _guesses(perspective: Perspective) -> Zone:
    latest = perspective.events_of(eleusis.Guessed)[-_GUESSES:]
    words = tuple(
        Word(
            line(Name(guess.seat), f": “{guess.text}”"),
            Tone.MARKED if guess.accepted else Tone.WRONG,
        )
        for guess in latest
    )
    return Zone("guesses", ZoneKind.SAID, words, ("guesses",) if words else ())


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: eleusis.HandScored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    dealer = seat == view.dealer
    expelled = seat in view.office.expelled
    badges = []
    if seat == view.office.prophet:
        badges.append(Badge(("prophet",), Tone.MARKED))
    if expelled:
        badges.append(Badge(("may not play",), Tone.WRONG))
    size = view.hand_sizes[seat]
    facts = [] if dealer else [draw.fact("turns", view.turns[seat])]
    if seat_view is not None and not dealer:
        facts.insert(0, draw.fact("cards", size))
    if scored is not None:
        facts.append(draw.gain("scores", scored.scores[seat]))
    zones = (
        draw.hand(size, None if seat_view is None or dealer else seat_view.held),
        draw.said(*_just_said(perspective, seat)),
    )
    return draw.seat_scene(view, seat, str(view.totals[seat]), badges, facts, zones, out=expelled)


def _just_said(perspective: Perspective, seat: Seat) -> tuple[Line, Tone]:
    kinds = (
        eleusis.PlayResolved,
        eleusis.NoPlayResolved,
        eleusis.Judged,
        eleusis.ProphetDeclared,
        eleusis.Passed,
    )
    match latest(perspective.latest_events, kinds, seat):
        case eleusis.PlayResolved(_, right, played, _, _):
            return line(*faces(played), " right" if right else " wrong"), _tone(right=right)
        case eleusis.NoPlayResolved(_, right, _, _, _, _):
            return ("none is right" if right else "one was right",), _tone(right=right)
        case eleusis.Judged(_, opinion, _):
            return (plain(opinion),), _tone(right=opinion is eleusis.Opinion.RIGHT)
        case eleusis.ProphetDeclared():
            return ("I am the prophet",), Tone.MARKED
        case eleusis.Passed():
            return ("passes",), Tone.DIM
    return (), Tone.PLAIN


def _tone(*, right: bool) -> Tone:
    return Tone.PLAIN if right else Tone.WRONG


def _quoted(rule: str) -> Line:
    words = rule_words(rule)
    return line(f"“{rule}”", f": a card is right if {words}" if words else "")


def _reasons(event: eleusis.HandScored) -> tuple[Line, ...]:
    by_arena = " The arena had set it, so the dealer scores nothing." if event.by_arena else ""
    return (
        line(_ENDED[event.end], " The rule was ", *_quoted(event.rule), ".", by_arena),
        *score_lines(event.scores, event.totals),
    )
