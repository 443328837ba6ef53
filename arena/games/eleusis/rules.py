"""Eleusis and Eleusis Express: one seat invents a rule, the others find out by playing.

For three to eight seats, of which one deals: it sends a rule (in the language
of `arena.games.cel`), holds no cards and scores with the best. Rulings are
cited as R1 to R5 and E1 to E17 of Eleusis, X1 to X9 of Eleusis Express.

| variant   | a hand goes                                                               |
|-----------|---------------------------------------------------------------------------|
| `eleusis` | rule; then turns: play, judgement if there is a prophet, prophet's option |
| `express` | rule; then turns: play a single card, guess after a right one             |
"""

from dataclasses import replace
from typing import Final

from arena.cards import Card
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    Step,
    Told,
    Work,
    places_of,
    require_to_act,
)
from arena.games.eleusis.cards import DEALT, cards_played, deal, in_hand_order, right_up_to, undealt
from arena.games.eleusis.hidden_rule import EXAMPLES, draws_of, judge_guess, validate
from arena.games.eleusis.legal_moves import (
    GUESS_TEXTS,
    JUDGE_PLAY,
    PROPHET_OPTION,
    RULE_TEXTS,
    Strings,
    opinions,
    singles,
    why_illegal,
)
from arena.games.eleusis.options import Options, Variant
from arena.games.eleusis.scoring import MOST_OF_EXPRESS, Prophecy, eleusis_scores, express_scores
from arena.games.eleusis.state import (
    Attempts,
    Match,
    Secret,
    State,
    Table,
    Turn,
    active,
    is_express,
    with_guess,
)
from arena.games.eleusis.turn import carry_out
from arena.games.eleusis.verdict import Verdict
from arena.games.eleusis.words import (
    NO_RULE,
    PASS,
    PLAYS,
    RIGHT,
    Dealt,
    Declare,
    Drawn,
    End,
    Guess,
    Guessed,
    GuessRefuted,
    HandBegan,
    HandScored,
    Judge,
    Judged,
    Move,
    NoPlay,
    NoPlayCalled,
    Pass,
    Passed,
    Phase,
    Play,
    Played,
    ProphetDeclared,
    Rule,
    RuleRefused,
    RuleReplaced,
    View,
)
from arena.games.eleusis.work import work_of_guess, work_of_trial
from arena.games.options import check_hands

SEATS: Final = range(3, 9)
TRIES: Final = 2
"""Rules that a dealer may send; if both are refused, the arena chooses (R4)."""
_LIGHT_COST: Final = 20_000
"""What a rule may cost within 5 ms, by far."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Ask the first dealer for a rule.

    Raises:
      BadOptions: unless there are 3 to 8 seats and `hands` is a multiple of them.
    """
    if seats not in SEATS:
        raise BadOptions(f"Eleusis is for 3 to 8 seats, not {seats}")
    check_hands(options.hands, seats)
    everybody = tuple(Seat(seat) for seat in range(seats))
    return begin_hand(Match(options, everybody, 0, (), (0,) * seats, ""))


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play one move.

    Raises:
      IllegalMove: if it is not that seat's to make.
    """
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    move: Move = require_to_act(chosen, asked)[0]
    if move not in moves(state, asked[0]):
        raise IllegalMove(why_illegal(state, move))
    match move:
        case Rule():
            return _set_rule(state, move.text, deals)
        case Play() | NoPlay():
            return _play(state, move, deals)
        case Judge():
            return _judge(state, move, deals)
        case Declare():
            return _declare(state)
        case Guess():
            return _guess(state, move.text, deals)
        case Pass():
            return _next_turn(state, (Told(Passed(state.turn.seat)),))


def to_act(state: State) -> tuple[Seat, ...]:
    """The dealer, the seat on turn or the prophet."""
    match state.phase:
        case Phase.OVER:
            return ()
        case Phase.RULE:
            return (state.match.dealer,)
        case Phase.JUDGE:
            prophet = state.table.office.prophet
            assert prophet is not None
            return (prophet,)
        case _:
            return (state.turn.seat,)


def moves(state: State, seat: Seat) -> Moves:
    """Singles are listed; strings and texts are not, but may be played."""
    match state.phase:
        case Phase.RULE:
            return RULE_TEXTS
        case Phase.PLAY:
            hand = in_hand_order(state.table.cards.hands[seat])
            return singles(hand) if is_express(state) else Strings(hand)
        case Phase.JUDGE:
            return _opinions(state)
        case Phase.PROPHET_OPTION:
            return PROPHET_OPTION
        case Phase.GUESS_OPTION:
            return GUESS_TEXTS
        case Phase.OVER:
            return Listed(())


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand and no rule."""
    match, phase, table = state.match, state.phase, state.table
    over = phase is Phase.OVER
    dealt = bool(table.layout.mainline)
    hands, pending = table.cards.hands, state.turn.pending
    is_dealer = seat == match.dealer
    asked = to_act(state)
    return View(
        phase=phase,
        hand=match.hand,
        dealer=match.dealer,
        to_act=asked[0] if asked else None,
        turn=state.turn.seat if dealt and not over else None,
        held=() if seat is None else in_hand_order(hands[seat]),
        hand_sizes=tuple(map(len, hands)),
        stock=len(table.cards.stock),
        layout=table.layout,
        played=_shown(state),
        no_play=isinstance(pending, NoPlay),
        calls=table.calls,
        guesses=state.attempts.shown,
        office=table.office,
        turns=state.turn.taken,
        rule=state.secret.rule if is_dealer and state.secret.rule else None,
        refusal=state.secret.reason if is_dealer else "",
        previous_rule=match.previous_rule,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The first card of the hand; right for a prophet; no option; no rule (E15)."""
    match state.phase:
        case Phase.RULE:
            return NO_RULE
        case Phase.PLAY:
            return PLAYS[in_hand_order(state.table.cards.hands[seat])[0]]
        case Phase.JUDGE:
            return RIGHT
        case _:
            return PASS


def hand_number(state: State) -> int:
    """The hand, from 0."""
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> Work | bool:
    """Trying a rule, comparing a guess, and whatever a dear rule has to judge."""
    if isinstance(move, Rule):
        return work_of_trial(move.text)
    if isinstance(move, Guess):
        return work_of_guess(move.text, len(state.table.layout.mainline))
    judged: Play | NoPlay | None = None
    if isinstance(move, Judge):
        judged = state.turn.pending
    elif isinstance(move, Play | NoPlay) and state.table.office.prophet is None:
        judged = move
    if judged is None:
        return False
    hand = state.table.cards.hands[state.turn.seat]
    cards = len(judged.cards) if isinstance(judged, Play) else len(hand)
    cost = state.secret.dearest * cards
    return cost > _LIGHT_COST and Work(cost)


def result(state: State) -> Result | None:
    """Totals and places; ties are shared."""
    if state.phase is not Phase.OVER:
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """In Express from a hand that grew by a card each turn to a guess with one card left.

    None in Eleusis: strings, prophets and penalties allow scores a hundred times those that occur.
    """
    if options.variant != Variant.EXPRESS:
        return None
    return (options.hands or seats) * (MOST_OF_EXPRESS + options.max_turns)


def _opinions(state: State) -> Listed:
    if isinstance(state.turn.pending, Play):
        return JUDGE_PLAY
    return opinions(_shown(state))


def _shown(state: State) -> tuple[Card, ...]:
    """What the prophet is to judge."""
    pending = state.turn.pending
    if isinstance(pending, NoPlay):
        return in_hand_order(state.table.cards.hands[state.turn.seat])
    return pending.cards if isinstance(pending, Play) else ()


def begin_hand(match: Match, *told: Told) -> Step:
    seats = len(match.seats)
    turn = Turn(match.players[0], None, (0,) * seats)
    state = State(match, Secret(), Phase.RULE, turn, undealt(seats), Attempts())
    return Step(state, (*told, Told(HandBegan(match.hand, match.dealer))))


def _set_rule(state: State, text: str, deals: Deals) -> Step:
    """Try the rule (R4): accepted, or one retry, or an example that the arena chooses."""
    match, tried = state.match, state.secret.refused + 1
    found = validate(text, draws_of(deals, match.hand, f"validate {tried}"))
    if found.verdict is Verdict.ACCEPTED:
        return _deal(state, Secret(text, tried - 1, dearest=found.dearest), (), deals)
    only = (match.dealer,)
    refused = Told(RuleRefused(found.verdict, found.reason), only)
    secret = Secret("", tried, found.verdict, found.reason)
    if tried < TRIES:
        return Step(replace(state, secret=secret), (refused,))
    rule = EXAMPLES[draws_of(deals, match.hand, "example").below(len(EXAMPLES))]
    replaced = Told(RuleReplaced(rule), only)
    return _deal(state, replace(secret, rule=rule, by_arena=True), (refused, replaced), deals)


def _deal(state: State, secret: Secret, told: tuple[Told, ...], deals: Deals) -> Step:
    match = state.match
    table = deal(match, deals)
    hands = table.cards.hands
    size = DEALT[match.options.variant]
    dealt = Told(Dealt(table.layout.mainline[0], size, len(table.cards.stock)))
    drawn = (Told(Drawn(seat, in_hand_order(hands[seat])), (seat,)) for seat in match.players)
    after = State(match, secret, Phase.PLAY, state.turn, table, state.attempts)
    return Step(after, (*told, dealt, *drawn))


def _play(state: State, move: Play | NoPlay, deals: Deals) -> Step:
    seat = state.turn.seat
    if isinstance(move, Play):
        said = Told(Played(seat, move.cards))
    else:
        hand = in_hand_order(state.table.cards.hands[seat])
        said = Told(NoPlayCalled(seat, hand))
    if state.table.office.prophet is None:
        return _resolve(state, move, None, (said,), deals)
    turn = Turn(seat, move, state.turn.taken)
    return Step(state.at(Phase.JUDGE, turn, state.table), (said,))


def _judge(state: State, move: Judge, deals: Deals) -> Step:
    play, prophet = state.turn.pending, state.table.office.prophet
    assert play is not None
    assert prophet is not None
    said = Told(Judged(prophet, move.opinion, move.card))
    return _resolve(state, play, move, (said,), deals)


def _resolve(
    state: State, play: Play | NoPlay, judged: Judge | None, told: tuple[Told, ...], deals: Deals
) -> Step:
    seat, outcome = state.turn.seat, carry_out(state, play, judged, deals)
    before = state.turn.taken
    taken = (*before[:seat], before[seat] + 1, *before[seat + 1 :])
    after = state.at(Phase.PLAY, Turn(seat, None, taken), outcome.table)
    told += outcome.told
    if outcome.end is not None:
        return _end_hand(after, outcome.end, None, told)
    if is_express(state):
        # After a card that the arena moved there is no guess (X9).
        option = Phase.GUESS_OPTION if isinstance(play, Play) and outcome.right else None
    else:
        option = Phase.PROPHET_OPTION if _may_declare(after, seat) else None
    if option is not None:
        return Step(after.at(option, after.turn, after.table), told)
    return _next_turn(after, told)


def _may_declare(state: State, seat: Seat) -> bool:
    """Also after a wrong play (E4); two other seats must be left to play."""
    office = state.table.office
    if office.prophet is not None or seat in office.former or seat in office.expelled:
        return False
    return len(active(state.match, office)) >= 3


def _declare(state: State) -> Step:
    """The marker goes on the last card played, which a no-play is not (E5)."""
    seat, marker = state.turn.seat, cards_played(state.table.layout)
    office = replace(state.table.office, prophet=seat, marker=marker)
    after = replace(state, table=replace(state.table, office=office))
    return _next_turn(after, (Told(ProphetDeclared(seat, marker)),))


def _guess(state: State, text: str, deals: Deals) -> Step:
    match, seat, attempts = state.match, state.turn.seat, state.attempts
    draws = draws_of(deals, match.hand, f"guess {attempts.count + 1}")
    found = judge_guess(state.secret.rule, text, state.table.layout.mainline, draws)
    told = (Told(Guessed(seat, text, found.accepted)),)
    if found.accepted:
        return _end_hand(state, End.GUESS, seat, told)
    after = replace(state, attempts=with_guess(attempts, seat, text, found.witness))
    return _next_turn(after, told)


def _next_turn(state: State, told: tuple[Told, ...]) -> Step:
    """The next active seat clockwise, unless all have had their turns."""
    taken, seat, seats = state.turn.taken, state.turn.seat, len(state.match.seats)
    playing = active(state.match, state.table.office)
    if all(taken[each] >= state.match.options.max_turns for each in playing):
        return _end_hand(state, End.TURN_CAP, None, told)
    following = min(playing, key=lambda each: (each - seat - 1) % seats)
    return Step(state.at(Phase.PLAY, Turn(following, None, taken), state.table), told)


def _end_hand(state: State, end: End, guesser: Seat | None, told: tuple[Told, ...]) -> Step:
    match, secret = state.match, state.secret
    scores = _scores(state.match, state.table, guesser)
    if secret.by_arena:
        scores = tuple(0 if seat == match.dealer else score for seat, score in enumerate(scores))
    totals = tuple(had + won for had, won in zip(match.totals, scores, strict=True))
    refuted = (
        Told(GuessRefuted(seat, witness.line, witness.card, witness.legal))
        for seat, witness in state.attempts.witnesses
    )
    scored = Told(HandScored(match.hand, end, secret.rule, secret.by_arena, scores, totals))
    told = (*told, *refuted, scored)
    after = replace(
        match,
        hand_scores=(*match.hand_scores, scores),
        totals=totals,
        previous_rule=secret.rule,
    )
    if len(after.hand_scores) >= (match.options.hands or len(match.seats)):
        return Step(replace(state, match=after, phase=Phase.OVER), told)
    return begin_hand(replace(after, hand=match.hand + 1), *told)


def _scores(match: Match, table: Table, guesser: Seat | None) -> tuple[int, ...]:
    sizes, office, layout = tuple(map(len, table.cards.hands)), table.office, table.layout
    if match.options.variant == Variant.EXPRESS:
        return express_scores(sizes, match.dealer, guesser)
    if office.prophet is None:
        return eleusis_scores(sizes, match.dealer, None)
    right = len(layout.mainline) - 1 - right_up_to(layout, office.marker)
    wrong = cards_played(layout) - office.marker - right
    prophecy = Prophecy(office.prophet, office.marker, right, wrong)
    return eleusis_scores(sizes, match.dealer, prophecy)
