"""States of Eleusis that a seat cannot tell from the real one."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from arena.games.cards import Card, hands_of, pack
from arena.games.cel import ALL_FACES, Rule
from arena.games.contract import Seat
from arena.games.eleusis.cards import undealt
from arena.games.eleusis.likely_rules import SIMPLE_RULES, beliefs_of
from arena.games.eleusis.messages import NO_PLAY, Options, Phase, Play, View
from arena.games.eleusis.state import Attempts, Cards, Match, Secret, State, Table, Turn

_WEIGHT_UNITS: Final = 1 << 30


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view.

    The rule is drawn by its prior from the simple rules that fit what was shown. If none fits, it is drawn from all
    likely rules that fit, or else from the nearest ones. Hands are drawn from the unseen cards and contain what a false
    no-play showed. The view shows neither the cards under the stock nor the number of earlier guesses.
    """
    assert view.to_act is not None
    seats = tuple(Seat(number) for number in range(len(view.hand_sizes)))
    nothing = ((0,) * len(seats),) * view.hand
    match = Match(options, seats, view.hand, nothing, view.totals, view.previous_rule)
    if view.phase is Phase.RULE:
        secret = Secret(refused=1 if view.refusal else 0, reason=view.refusal)
        table = undealt(len(seats))
    else:
        secret = _secret(view, below)
        table = Table(_cards(view, seat, below), view.layout, view.calls, view.office)
    return State(match, secret, view.phase, _turn(view, match), table, _attempts(view))


def _secret(view: View, below: Callable[[int], int]) -> Secret:
    text = view.rule
    if text is None:
        beliefs = beliefs_of(view, SIMPLE_RULES)
        rules = (beliefs_of(view) if beliefs.contradictions else beliefs).rules
        drawn = below(_WEIGHT_UNITS) / _WEIGHT_UNITS
        text = rules[0][2].text
        for weight, _, rule in rules:
            if drawn < weight:
                text = rule.text
                break
            drawn -= weight
    return Secret(text, dearest=Rule.parse(text).evaluate([ALL_FACES[0]]).dearest)


def _cards(view: View, seat: Seat, below: Callable[[int], int]) -> Cards:
    layout = view.layout
    shown = Counter(layout.mainline)
    for unit in layout.sidelines:
        shown.update(unit)
    packs = (shown.total() + sum(view.hand_sizes) + view.stock) // len(ALL_FACES)
    known = [
        view.held if owner == seat else _known(view, owner) for owner in range(len(view.hand_sizes))
    ]
    unseen = Counter(pack(packs=packs)) - shown
    for hand in known:
        unseen -= Counter(hand)
    sizes = [size - len(seen) for size, seen in zip(view.hand_sizes, known, strict=True)]
    *hands, stock = hands_of(unseen.elements(), (*sizes, view.stock), below)
    return Cards(
        tuple(seen + drawn for seen, drawn in zip(known, hands, strict=True)), stock, packs
    )


def _known(view: View, seat: int) -> tuple[Card, ...]:
    """Return the cards of another seat's hand that all seats have seen: those to judge, or those that are left of a false no-play."""
    if view.phase is Phase.JUDGE and seat == view.turn:
        return view.played
    layout, calls = view.layout, view.calls
    last = max((at for at, caller in enumerate(calls.seats) if caller == seat), default=None)
    if last is None or calls.right[last]:
        return ()
    joined = calls.after[last] + 1
    played = [layout.mainline[joined]]
    played += [
        card
        for place, card in enumerate(layout.mainline)
        if place > joined and layout.main_seats[place] == seat
    ]
    for after, by, unit in zip(layout.side_after, layout.side_seats, layout.sidelines, strict=True):
        if after >= joined and by == seat:
            played += unit
    return tuple((Counter(calls.hands[last]) - Counter(played)).elements())


def _turn(view: View, match: Match) -> Turn:
    player = match.players[0] if view.turn is None else view.turn
    pending = None
    if view.phase is Phase.JUDGE:
        pending = NO_PLAY if view.no_play else Play(view.played)
    guesser = view.to_act if view.phase is Phase.GUESS_OPTION else None
    return Turn(player, pending, view.turns, guesser)


def _attempts(view: View) -> Attempts:
    return Attempts(len(view.guesses.texts), view.guesses)
