"""The rules of Klaberjass where they surprise, and matches played at random."""

import random

import pytest

from arena.games.cards import parse_cards
from arena.games.contract import BadOptions, IllegalMove
from arena.games.klaberjass import rules
from arena.games.klaberjass import rules as klaberjass
from arena.games.klaberjass.messages import (
    Announce,
    Answered,
    Auction,
    Began,
    Call,
    Called,
    Contest,
    Dealt,
    Good,
    HowHigh,
    NamedSuit,
    NamedTop,
    No,
    NoMeld,
    NotGood,
    Options,
    Pass,
    Phase,
    Play,
    Schmeiss,
    Scored,
    Shown,
    Take,
    ThrownIn,
    Won,
    Word,
    Yes,
)
from arena.games.klaberjass.scoring import PACK_32, best_sequence, settle
from arena.games.klaberjass.state import SILENCE, Deal, Match, Side, Talon, Tricks, before
from arena.games.klaberjass.tricks import legal_replies
from arena.games.options import build_options
from arena.games.two_seats import SEATS
from arena.testing.deals import SeededDeals
from tests.games.random_play import random_turns

MOST_DECISIONS = 26 * 100
"""Of a match: what one hand can have, times the guard."""


# fmt: off
REPLIES = [
    # hand             led   legal        why
    ("7h 8h As",      "Qh", "7h 8h",     "trumps that cannot beat the queen still follow"),
    ("9h Ah 7h",      "Kh", "9h Ah",     "the nine of trump beats the king, and so does the ace"),
    ("As 7s 7h",      "Ks", "As 7s",     "no duty to beat in a plain suit (R11)"),
    ("Jh 7h Ac",      "Ks", "Jh 7h",     "any trump when the suit is missing (R11)"),
    ("Ac 7d",         "Jh", "Ac 7d",     "no trump to a trump: anything"),
]
# fmt: on


@pytest.mark.parametrize(("hand", "led", "legal", "why"), REPLIES, ids=[row[-1] for row in REPLIES])
def test_the_second_player_may_play(hand, led, legal, why):
    assert legal_replies(parse_cards(hand), led, "h") == parse_cards(legal)


@pytest.mark.parametrize(
    ("points", "gained", "winner"),
    [((90, 72), (90, 72), 0), ((81, 81), (0, 81), 1), ((0, 162), (0, 162), 1)],
    ids=["more than the other", "a tie is lost by the maker alone (R12)", "all for the other"],
)
def test_a_maker_scores(points, gained, winner):
    assert settle(SEATS[0], points) == (gained, winner)


def at(
    hands, *, phase, turn, trump="h", contest=SILENCE, upcard="8h", led=None, winners=(), bela=None
):
    """A hand in the middle, dealt by seat 0 and made by seat 1."""
    sides = tuple(Side(parse_cards(cards), (), (), 0) for cards in hands)
    auction = Auction(0, None, 1, trump, None)
    tricks = Tricks(led, winners, bela)
    deal = Deal(sides, Talon(upcard, ()), auction, contest, tricks, phase, turn)
    return before(Match(Options(), 0, SEATS[0], (0, 0), ()), deal)


def after(state, *moves):
    """The state after these moves of whoever is to act, and all events."""
    events = []
    for move in moves:
        (seat,) = klaberjass.to_act(state)
        state, new = klaberjass.step(state, ((seat, move),), SeededDeals(1))
        events += [event for event, _ in new]
    return state, events


# fmt: off
HIGH = [
    # dealer        other           said after "how high"                                          winner why
    ("8s 9s Ts",   "Jc Qc Kc",     [NamedTop(1, "K"), Answered(0, Word.GOOD)],                        1, "the dealer's lower top stays hidden (R7)"),
    ("Js Qs Ks",   "8c 9c Tc",     [NamedTop(1, "T"), Answered(0, Word.NOT_GOOD), NamedTop(0, "K")],  0, "the dealer's higher top is named"),
    ("8h 9h Th",   "8c 9c Tc",     [NamedTop(1, "T"), Answered(0, Word.ALSO), NamedSuit(1, "c"), NamedSuit(0, "h")], 0, "the dealer's trump decides"),
    ("8c 9c Tc",   "8h 9h Th",     [NamedTop(1, "T"), Answered(0, Word.ALSO), NamedSuit(1, "h"), NamedSuit(0, "c")], 1, "the other's trump decides"),
    ("8c 9c Tc",   "8s 9s Ts",     [NamedTop(1, "T"), Answered(0, Word.ALSO), NamedSuit(1, "s"), NamedSuit(0, "c")], None, "a tie: nobody scores"),
]
# fmt: on


@pytest.mark.parametrize(
    ("dealer", "other", "said", "winner", "why"), HIGH, ids=[row[-1] for row in HIGH]
)
def test_after_how_high_the_arena_says(dealer, other, said, winner, why):
    contest = Contest(1, 20, None, None, ("", ""), ("", ""), None, ())
    state = at((dealer, other), phase=Phase.ANSWER, turn=0, contest=contest)
    state, events = after(state, HowHigh())
    assert events == [Answered(0, Word.HOW_HIGH), *said]
    seen = klaberjass.view(state, None)
    assert (seen.contest.winner, seen.to_act, seen.phase) == (winner, 1, Phase.LEAD)
    named = {event.rank for event in said if isinstance(event, NamedTop)} | {""}
    if Word.ALSO not in [event.word for event in said if isinstance(event, Answered)]:
        assert set(seen.contest.tops) <= named


def test_of_own_twins_the_trump_one_contests():
    """R9."""
    assert best_sequence(parse_cards("8c 9c Tc 8h 9h Th"), "h").suit == "h"


def test_a_silent_seat_lets_the_dealer_announce():
    state = at(("8s 9s Ts", "Jc Qc Kc"), phase=Phase.ANNOUNCE, turn=1)
    assert list(klaberjass.moves(state, 1)) == [NoMeld(), Announce(20)]
    state, _ = after(state, NoMeld())
    assert klaberjass.to_act(state) == (0,)
    state, _ = after(state, Announce(20))
    contest = klaberjass.view(state, None).contest
    assert (contest.announcer, contest.winner) == (0, 0)


@pytest.mark.parametrize(
    ("answer", "word", "winner"), [(Good(), Word.GOOD, 1), (NotGood(), Word.NOT_GOOD, 0)]
)
def test_the_dealers_answer_decides_who_may_score_sequences(answer, word, winner):
    contest = Contest(1, 20, None, None, ("", ""), ("", ""), None, ())
    hands = ("Jc Qc Kc Ac", "8s 9s Ts") if isinstance(answer, NotGood) else ("8c 9c", "8s 9s Ts")
    state, events = after(at(hands, phase=Phase.ANSWER, turn=0, contest=contest), answer)
    assert events == [Answered(0, word)]
    assert klaberjass.view(state, None).contest.winner == winner


def test_a_fifty_cannot_be_announced_as_a_twenty():
    """R6: what is said is true."""
    state = at(("8s", "Tc Jc Qc Kc"), phase=Phase.ANNOUNCE, turn=1)
    with pytest.raises(IllegalMove):
        klaberjass.step(state, ((1, Announce(20)),), SeededDeals(1))


def bela_hand(**more):
    """Seat 1 leads with king and queen of trump in hand."""
    return at(("7c 8c 9c", "Kh Qh As"), phase=Phase.LEAD, turn=1, **more)


def test_the_bela_is_called_with_the_first_card_and_counts_with_the_second():
    """R10, without a trick."""
    state = at(("Ah Jh 9c", "Kh Qh As"), phase=Phase.LEAD, turn=1)
    state, _ = after(state, Play("Qh", bela=True))
    assert klaberjass.view(state, None).known == ((), ("Kh",))
    assert klaberjass.view(state, None).points == (0, 0)
    state, _ = after(state, Play("Ah", bela=False), Play("Jh", bela=False), Play("Kh", bela=False))
    assert klaberjass.view(state, None).points == (11 + 3 + 20 + 4, 20)


def test_a_bela_that_is_not_called_is_lost():
    state, _ = after(
        bela_hand(),
        *(Play(card, bela=False) for card in ("Qh", "7c")),
    )
    assert list(klaberjass.moves(state, 1)) == [Play("Kh", bela=False), Play("As", bela=False)]


def test_king_and_queen_of_trump_come_with_and_without_the_call():
    assert list(klaberjass.moves(bela_hand(), 1)) == [
        Play("Kh", bela=False),
        Play("Kh", bela=True),
        Play("Qh", bela=False),
        Play("Qh", bela=True),
        Play("As", bela=False),
    ]


def test_melds_wait_for_a_trick_and_are_shown_after_the_first_in_any_case():
    """R8: the winner of the contest may lose the first trick and win a later one."""
    contest = Contest(0, 20, None, None, ("", ""), ("", ""), 0, ())
    state = at(("7c 8c 9c", "Ah Kc As"), phase=Phase.LEAD, turn=1, contest=contest)
    state, events = after(state, Play("Ah", bela=False), Play("7c", bela=False))
    assert events[-1] == Shown(0, (("7c", "8c", "9c"),), 20)
    assert klaberjass.view(state, None).points == (0, 11)
    assert klaberjass.view(state, None).known == (("8c", "9c"), ())
    late = at(("7c 8c 9c Ac", "Ah Kc As Qs"), phase=Phase.LEAD, turn=1, contest=contest)
    late, _ = after(late, *(Play(card, bela=False) for card in ("Ah", "7c", "Kc", "Ac")))
    assert klaberjass.view(late, None).points == (11 + 4 + 20, 11)
    other = at(("Jh 8c 9c Tc", "Ah Kc As Qs"), phase=Phase.LEAD, turn=1, contest=contest)
    other, _ = after(other, Play("Ah", bela=False), Play("Jh", bela=False))
    assert klaberjass.view(other, None).points == (20 + 11 + 20, 0)


def test_the_dealer_may_schmeiss_after_a_pass_and_must_then_take():
    """R4: of a refused schmeiss the caller is the maker."""
    state, _ = klaberjass.start(Options(), 2, SeededDeals(1))
    state, _ = after(state, Pass(), Schmeiss())
    assert (klaberjass.view(state, None).auction.schmeisser, klaberjass.to_act(state)) == (0, (1,))
    state, events = after(state, No())
    assert events[0] == Called(1, Call.NO)
    seen = klaberjass.view(state, None)
    assert (seen.auction.maker, seen.auction.trump) == (0, seen.upcard[1])


def test_an_accepted_schmeiss_throws_the_hand_in():
    """R4."""
    state, _ = klaberjass.start(Options(), 2, SeededDeals(1))
    state, events = after(state, Schmeiss(), Yes())
    assert events[1:3] == [Called(0, Call.YES), ThrownIn(0)]
    assert (klaberjass.hand_number(state), klaberjass.view(state, None).dealer) == (1, 0)


def test_a_thrown_in_hand_is_no_score_and_the_same_seat_deals():
    """R3."""
    state, _ = klaberjass.start(Options(hands=4), 2, SeededDeals(1))
    for hand in range(4):
        assert klaberjass.view(state, None).dealer == 0
        assert klaberjass.hand_number(state) == hand
        state, events = after(state, *(Pass(),) * 4)
        assert ThrownIn(hand) in events
    ended = klaberjass.result(state)
    assert (ended.scores, ended.hand_scores) == ((0, 0), ((0, 0),) * 4)


def test_nobody_is_asked_for_the_dix_if_the_seven_is_turned_up():
    """R5."""
    for seed in range(30):
        state, _ = klaberjass.start(Options(), 2, SeededDeals(seed))
        upcard = klaberjass.view(state, None).upcard
        state, _ = after(state, Take())
        phase = klaberjass.view(state, None).phase
        assert phase is (Phase.ANNOUNCE if upcard[0] == "7" else Phase.DIX)


@pytest.mark.parametrize(
    ("options", "deals", "totals", "over"),
    [
        (Options(), 99, (480, 480), False),
        (Options(), 100, (480, 480), True),
        (Options(hands=2), 1, (900, 0), False),
        (Options(target=100), 3, (100, 20), True),
    ],
    ids=["before the guard", "the guard (R15)", "a fixed length is no race", "a shorter race"],
)
def test_the_match_is_over(options, deals, totals, over):
    assert rules.is_over(options, deals, totals) is over


@pytest.mark.parametrize(
    ("given", "seats"),
    [({}, 3), ({"hands": 3}, 2), ({"hands": 102}, 2), ({"target": 0}, 2)],
    ids=["three seats", "uneven hands", "past the guard", "no target"],
)
def test_options_are_checked(given, seats):
    with pytest.raises(BadOptions):
        klaberjass.start(build_options(Options, given), seats, SeededDeals(0))


def play(seed, options=Options()):  # noqa: B008 - frozen
    """A random match: every state, and what was told on entering it."""
    deals, chooser = SeededDeals(seed), random.Random(seed)
    for turn in random_turns(klaberjass, options, 2, chooser, deals):
        yield turn.after, turn.events


def all_cards(deal):
    piles = [deal.talon.stock, *(side.hand + side.played for side in deal.sides)]
    return sorted([deal.talon.upcard, *(card for pile in piles for card in pile)])


@pytest.mark.parametrize("seed", range(12))
def test_random_matches_keep_the_cards_and_end_in_the_digests_bounds(seed):
    decisions, from_tricks = -1, 0
    for state, events in play(seed):
        decisions += 1
        assert all_cards(state.deal) == sorted(PACK_32)
        for seat in klaberjass.to_act(state):
            offered = klaberjass.moves(state, seat)
            assert klaberjass.fallback(state, seat) in offered
            assert 1 <= offered.count() <= 11
        for seat in SEATS:
            assert set(klaberjass.view(state, None).known[seat]) <= set(state.deal.sides[seat].hand)
        for event, who in events:
            assert (who is None) is not isinstance(event, Dealt)
            if isinstance(event, Won):
                from_tricks += event.value
                last = event.seat
            elif isinstance(event, Scored):
                beside = sum(event.points) - from_tricks  # sequences and belas
                assert beside >= 0
                assert beside % 10 == 0
                splits = event.splits
                for split, points in zip(splits, event.points, strict=True):
                    parts = (split.tricks, split.last_trick, split.sequences, split.bela)
                    assert sum(parts) == points
                    assert min(parts) >= 0
                assert [split.last_trick for split in splits] == [
                    10 * (last == 0),
                    10 * (last == 1),
                ]
                assert sum(split.tricks + split.last_trick for split in splits) == from_tricks
                from_tricks = 0
    ended = klaberjass.result(state)
    assert decisions <= MOST_DECISIONS
    assert max(ended.scores) >= 501
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))


def test_the_winner_of_a_hand_deals_the_next():
    """R13."""
    winner = None
    for state, events in play(4):
        for event, _ in events:
            if isinstance(event, Scored):
                winner = event.winner
            elif isinstance(event, Began) and winner is not None:
                assert event.dealer == winner
        assert klaberjass.view(state, None).hand == klaberjass.hand_number(state)
    assert winner is not None
