"""What a seat may not know: the information rules of every family, said independently.

Each function names, for a state and a seat (None is the spectator), the cards
of the current hand whose place is hidden from it. It is written from the
digests' sections on information, not from the views.
"""

from collections.abc import Callable, Iterable
from typing import Any

from arena.cards import PACK_52
from arena.games.abstrac.state import State as AbstracState
from arena.games.arlington.state import State as ArlingtonState
from arena.games.chinese_poker.state import State as ChinesePokerState
from arena.games.democracy.state import State as DemocracyState
from arena.games.eleusis.state import State as EleusisState
from arena.games.eleusis.words import SHOWN_CALLS
from arena.games.jam.state import State as JamState
from arena.games.klaberjass.state import State as KlaberjassState
from arena.games.loo.state import State as LooState
from arena.games.oklahoma_rummy.rules import DECK as TWO_PACKS
from arena.games.oklahoma_rummy.state import State as OklahomaRummyState
from arena.games.open_face_chinese_poker.state import State as OpenFaceState
from arena.games.pineapple.state import BOARD
from arena.games.pineapple.state import State as PineappleState
from arena.games.sixty_six.state import State as SixtySixState
from arena.games.soko.state import State as SokoState


def others(hands, seat):
    """The cards of all hands but one."""
    return [card for at, hand in enumerate(hands) if at != seat for card in hand]


def abstrac(state: AbstracState, seat: int | None) -> Iterable[str]:
    """Only the order of the second half of the 52-card game is hidden."""
    return state.undealt


def democracy(state: DemocracyState, seat: int | None) -> Iterable[str]:
    """Other hands, the pool below its top, and what is not dealt yet."""
    day = state.day
    return (*others(day.hands, seat), *day.pool[1:], *day.undealt)


def chinese_poker(state: ChinesePokerState, seat: int | None) -> Iterable[str]:
    """Other hands, but for naturals that were shown."""
    hands = list(state.deal.hands)
    if state.committed is not None:
        for shown in state.committed.naturals:
            hands[shown.seat] = ()
    return others(hands, seat)


def arlington(state: ArlingtonState, seat: int | None) -> Iterable[str]:
    """Other hands, but for cards all have seen, and the undealt cards; for ever."""
    layout, seen = state.layout, set(state.turn.trick_cards)
    seen.update(layout.buried, *layout.known, *(cards for t in layout.tables for cards in t.sets))
    if seat is not None:
        seen.update(layout.hands[seat])
    return (card for card in PACK_52 if card not in seen)


def jam(state: JamState, seat: int | None) -> Iterable[str]:
    """The other hand, but for cards drawn from discards, and the order of both stocks."""
    for at, side in enumerate(state.deal.sides):
        yield from side.stock
        if at != seat:
            yield from set(side.hand) - set(side.known)


def soko(state: SokoState, seat: int | None) -> Iterable[str]:
    """Other hole cards, and the stock."""
    if state.phase == "over":
        return ()
    holes = [card for at, card in enumerate(state.hand.deal.holes) if card and at != seat]
    return (*holes, *state.hand.deal.stock)


def pineapple(state: PineappleState, seat: int | None) -> Iterable[str]:
    """Other hole cards and discards, for ever, and the board that is still to come."""
    if state.phase == "over":
        return ()
    deal = state.hand.deal
    given_up = [card for at, card in enumerate(deal.given_up) if card and at != seat]
    return (*others(deal.holes, seat), *given_up, *deal.runout[BOARD[state.street] :])


def sixty_six(state: SixtySixState, seat: int | None) -> Iterable[str]:
    """The other hand, but for cards all have seen, and the order of the stock."""
    deal = state.deal
    for at, side in enumerate(deal.sides):
        if at != seat:
            yield from set(side.hand) - set(side.known)
    yield from deal.stock.cards


def klaberjass(state: KlaberjassState, seat: int | None) -> Iterable[str]:
    """The other hand, but for cards all have seen, and the cards not dealt.

    Once top cards were named, or all sequences of a seat shown, everybody knows something of
    every card of that hand: which sequences it does not make.
    """
    contest = state.deal.contest
    for at, side in enumerate(state.deal.sides):
        told = contest.verdict is not None or (contest.shown and contest.winner == at)
        if at != seat and not told:
            yield from set(side.hand) - set(side.known)
    yield from state.deal.talon.stock


def loo(state: LooState, seat: int | None) -> Iterable[str]:
    """Other hands, what others passed or discarded, and the stock."""
    cards = state.deal.cards
    mine = () if seat is None else cards.discarded[seat]
    hidden = (*others(cards.hands, seat), *cards.stock, *cards.dead)
    return [card for card in hidden if card not in mine]


def open_face(state: OpenFaceState, seat: int | None) -> Iterable[str]:
    """Other seats' cards not placed yet, but for a card just drawn; settings; the stock."""
    if state.phase == "over":
        return ()
    hand = state.hand
    unplaced = [cards for cards in hand.dealt if len(cards) != 1]
    mine = () if seat is None else hand.dealt[seat]
    hidden = [card for cards in unplaced for card in cards if card not in mine]
    for at, setting in enumerate(hand.settings):
        if setting is not None and at != seat:
            hidden += [*setting.front, *setting.middle, *setting.back]
    return (*hidden, *hand.stock)


def oklahoma_rummy(state: OklahomaRummyState, seat: int | None) -> Iterable[str]:
    """Other hands, but for cards taken from the pile, and the order of the stock.

    Of two twins nobody can say which is where: a face is hidden if both of its cards are.
    """
    deal = state.deal
    if deal.phase == "over":
        return ()
    seen = {*deal.piles.pile, *(card for known in deal.known for card in known)}
    seen.update(card for table in deal.tables for meld in table.melds for card in meld.cards)
    if seat is not None:
        seen.update(deal.hands[seat])
    if deal.phase == "draw" and not deal.piles.can_draw:
        # That the seat is asked shows that it can take the pile.
        seen.update(deal.hands[deal.turn])
    return [card for card in TWO_PACKS if card not in seen]


def eleusis(state: EleusisState, seat: int | None) -> Iterable[str]:
    """Other hands and the stock, but for faces of which a no-play has shown one.

    A hand that was shown goes back under the stock, where all may know it. Cards
    that wait to be judged lie open.
    """
    table, shown = state.table, set()
    if state.phase in ("rule", "over") or len(table.calls.hands) >= SHOWN_CALLS:
        return ()
    for hand in table.calls.hands:
        shown.update(hand)
    if state.turn.pending is not None:
        shown.update(table.cards.hands[state.turn.seat])
    hidden = (*others(table.cards.hands, seat), *table.cards.stock)
    return [card for card in hidden if card not in shown]


HIDDEN: dict[str, Callable[..., Iterable[str]]] = {
    "abstrac": abstrac,
    "arlington": arlington,
    "democracy": democracy,
    "eleusis": eleusis,
    "chinese_poker": chinese_poker,
    "jam": jam,
    "klaberjass": klaberjass,
    "loo": loo,
    "open_face_chinese_poker": open_face,
    "pineapple": pineapple,
    "sixty_six": sixty_six,
    "oklahoma_rummy": oklahoma_rummy,
    "soko": soko,
}


def a_setting(move: object) -> bool:
    """Settings are shown together when all have been made."""
    return type(move).__name__ == "Set"


def a_discard(move: object) -> bool:
    """Discards are never shown to others."""
    return type(move).__name__ == "Discard"


def an_exchange(move: object) -> bool:
    """How many cards were exchanged is told, and not which."""
    return type(move).__name__ == "Exchange"


SECRET_MOVES: dict[str, Callable[[object], bool]] = {
    "pineapple": a_discard,
    "chinese_poker": a_setting,
    "loo": an_exchange,
}
"""Moves that other seats do not see yet in the state that follows them."""

SHOWN_OF: dict[str, Callable[[Any], object]] = {"loo": lambda exchange: len(exchange.cards)}
"""What others see of a secret move all the same; of most it is nothing."""

LASTING = {"loo": "exchange"}
"""Phases for all of which a secret move stays one: nobody shows a card in them."""

RULE_TOLD = ("PlayResolved", "NoPlayResolved", "Guessed", "GuessRefuted", "ProphetDeposed")
"""Events of Eleusis by which all learn something of the rule."""
