"""Scenes of Loo."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.cards import without
from arena.games.contract import Event, Seat, with_entry
from arena.games.loo import messages as loo
from arena.games.loo.messages import Phase, View
from arena.games.loo.tricks import PAM
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, by_seat, joined, line, listed, names, with_sign
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Chips,
    Fact,
    Gap,
    Group,
    Item,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
    ZoneKind,
)

_ENDINGS: Final = {
    loo.Ending.ALL_PASSED: "All have passed: the pot stays for the next hand.",
    loo.Ending.WALKOVER: "Nobody else plays: the pot is taken without a trick.",
    loo.Ending.FLUSH: "The best flush takes the pot, and every player without a flush or Pam pays.",
    loo.Ending.PLAYED: "Each trick takes an equal share of the pot, and every player without a trick pays.",
}

HAND_ENDS: Final = (loo.Scored,)
SENTENCES: Final[Sentences] = {
    loo.Began: (
        "A hand is dealt. {dealer} deals and pays: {pot} in the pot. {upcard} is turned up, "
        "and its suit is trump."
    ),
    loo.Dealt: "{seat} gets {cards}.",
    loo.Declared: lambda event: "{seat} plays." if event.plays else "{seat} passes.",
    loo.Exchanged: lambda event: (
        "{seat} exchanges {count:count card}." if event.count else "{seat} exchanges nothing."
    ),
    loo.Drawn: "{seat} draws {cards}.",
    loo.Recycled: "The stock is empty: {count:count dead card} are shuffled into a new one.",
    loo.FlushShown: lambda event: (
        "{seat} shows a flush: {cards}. {exempt:seats} need not pay."
        if event.exempt
        else "{seat} shows a flush: {cards}."
    ),
    loo.Played: lambda event: (
        "{seat} plays {card} and says “Pam be civil”." if event.civil else "{seat} plays {card}."
    ),
    loo.Won: "{seat} takes the trick.",
    loo.Scored: lambda event: joined(_reasons(event)),
    loo.Hold: "shows nothing",
}

ASKS: Final[Asks] = {
    Phase.DECLARE: (
        Widget.CLICK,
        "Play this hand, or pass; a player without a trick pays into the next pot.",
    ),
    Phase.FIRST_FLUSH: (Widget.CLICK, "You may show your flush; the best flush takes the pot."),
    Phase.EXCHANGE: (Widget.SELECT, "Choose the cards that you exchange, all, some or none."),
    Phase.SECOND_FLUSH: (Widget.CLICK, "You may show your flush; the best flush takes the pot."),
    Phase.LEAD: (Widget.CLICK, "You lead: play a card."),
    Phase.FOLLOW: (
        Widget.CLICK,
        "Play a card to the trick: follow suit, and take the trick if you can.",
    ),
}
MOVES: Final[MoveWords] = {
    loo.PlayHand: "Play this hand",
    loo.Pass: "Pass",
    loo.RevealFlush: "Show your flush",
    loo.Hold: "Show nothing",
    loo.Exchange: lambda move, _: "Exchange {cards}" if move.cards else "Exchange nothing",
    loo.Play: lambda move, _: "Play {card} and say “Pam be civil”" if move.civil else "Play {card}",
}


def why_not(view: View, card: str) -> Line:
    """Return why a card may not be played: the rules ask for the suit, a trump, or a higher card."""
    trump = view.upcard[1]
    if not view.trick:
        return ()
    if card == PAM and view.civil:
        return ("Pam must be civil",)
    led = view.trick[0][1]
    if any(held[1] == led for held in view.held if held != PAM):
        return (
            line("follow ", Suit(led)) if card[1] != led or card == PAM else ("beat the best card",)
        )
    if card[1] != trump and card != PAM:
        return line("no ", Suit(led), ": play a trump")
    return ("beat the best trump",)


def scene(perspective: Perspective) -> Scene:
    """Draw the pot, the upcard, and the trick between the players."""
    view: View = perspective.view
    scored = perspective.last_event(loo.Scored)
    pot = view.pot if scored is None else sum(scored.won) or scored.pot
    what = "in the pot" if scored is None or not any(scored.won) else "was in the pot"
    if _lacks_pam(perspective):
        pam = draw.fact("Pam", "is not in play")
    elif view.civil:
        pam = draw.fact("Pam", "must be civil")
    else:
        pam = draw.fact("J of clubs, Pam", "is the highest trump")
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "chips",
        draw.shown_zones(
            Zone("upcard", ZoneKind.TRICK, (Card(view.upcard, Tone.DIM, ("turned up",)),)),
            draw.pile("stock", view.stock, "in the stock"),
            Zone("pot", ZoneKind.CHIPS, (Chips(pot, (what,)),)),
            _with_pam(_trick(view, perspective.options.hand_size), perspective),
        ),
        (draw.fact("trump", Suit(view.upcard[1])), pam, draw.goal(perspective.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def _lacks_pam(perspective: Perspective) -> bool:
    return not perspective.options.has_pam or perspective.view.upcard == PAM


def _with_pam(zone: Zone, perspective: Perspective) -> Zone:
    if _lacks_pam(perspective):
        return zone
    return replace(zone, items=tuple(map(_named_pam, zone.items)))


def _named_pam(item: Item) -> Item:
    match item:
        case Group(cards):
            return replace(item, cards=tuple(_pam_card(card) for card in cards))
        case Card():
            return _pam_card(item)
        case _:
            return item


def _pam_card(card: Card | Gap) -> Card | Gap:
    if isinstance(card, Gap) or card.code != PAM:
        return card
    return replace(card, tag=(*card.tag, ": Pam") if card.tag else ("Pam",))


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last trick, a flush, or the last pass."""
    for event in events:
        match event:
            case loo.Declared(player, True):
                view = replace(view, players=(*view.players, player))
            case loo.Declared(player, _):
                view = replace(view, passed=(*view.passed, player))
                if player == seat:
                    view = replace(view, held=(), discarded=view.held)
            case loo.Played(player, card, _):
                played = with_entry(view.played, player, (*view.played[player], card))
                view = replace(view, held=without(view.held, (card,)), played=played, trick=())
            case loo.Won(winner):
                view = replace(view, winners=(*view.winners, winner), leader=winner)
            case loo.Scored():
                view = replace(view, chips=event.chips, pot=event.pot)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(perspective: Perspective, view: View, seat: Seat, scored: loo.Scored | None) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    passed = seat in view.passed
    held = (
        None
        if seat_view is None
        else draw.by_suit(seat_view.discarded if passed else seat_view.held)
    )
    size = 0 if passed else perspective.options.hand_size - len(view.played[seat])
    shown = draw.hand(size, held, tone=Tone.DIM if passed else Tone.PLAIN)
    flush = perspective.last_event(loo.FlushShown)
    if flush is not None and flush.seat == seat:
        flushed = Group(draw.cards(draw.by_suit(flush.cards), Tone.MARKED), ("flush",))
        shown = Zone("flush", ZoneKind.MELD, (flushed,))
    badges = []
    if flush is not None and seat in flush.exempt:
        badges.append(Badge(("has a flush or Pam",)))
    if scored is not None and seat in scored.looed:
        badges.append(Badge(("looed",), Tone.WRONG))
    zones = (
        _with_pam(shown, perspective),
        draw.tricks(view.winners.count(seat)),
        draw.said(_latest(view, seat)),
    )
    facts = _facts(perspective, seat, scored)
    return draw.seat_scene(
        view, seat, with_sign(view.chips[seat]), badges, facts, zones, out=passed
    )


def _facts(perspective: Perspective, seat: Seat, scored: loo.Scored | None) -> tuple[Fact, ...]:
    view: View = perspective.view
    facts = []
    if view.exchanged[seat]:
        facts.append(draw.fact("exchanged", view.exchanged[seat]))
    if scored is not None and (scored.won[seat] or seat in scored.looed):
        gained = scored.won[seat] - perspective.options.hand_size * (seat in scored.looed)
        facts.append(draw.gain("this hand", gained))
    return tuple(facts)


def _latest(view: View, seat: Seat) -> Line:
    if seat in view.passed:
        return ("passes",)
    if seat in view.players and not any(view.played):
        return ("plays",)
    return ()


def _trick(view: View, tricks: int) -> Zone:
    """Return the current trick, or the last one until the next lead."""
    number = len(view.winners) + bool(view.trick)
    if not number or not view.players:
        return draw.trick(())
    title = (f"trick {number} of {tricks}",)
    leader = view.winners[number - 2] if number > 1 else view.players[0]
    at = view.players.index(leader)
    order = view.players[at:] + view.players[:at]
    if view.trick:
        return draw.trick(list(zip(order, view.trick, strict=False)), title=title)
    last = [(player, view.played[player][-1]) for player in order]
    return draw.trick(last, view.winners[-1], title)


def _reasons(event: loo.Scored) -> tuple[Line, ...]:
    won = listed(
        [line(Name(Seat(seat)), f" {chips}") for seat, chips in enumerate(event.won) if chips]
    )
    looed = event.looed
    fee = event.pot // len(looed) if looed else 0  # the pot was paid out
    return tuple(
        reason
        for reason in (
            (_ENDINGS[event.ending],),
            line("Won: ", *won, ".") if won else (),
            line("Looed: ", *names(looed), f" — {fee} each into the next pot.") if looed else (),
            line("In all: ", *by_seat(event.chips, signed=True), "."),
        )
        if reason
    )
