"""Eleusis and Eleusis Express, for three to eight seats: one makes a rule, the others find it by playing.

The dealer sends a rule in the language of `arena.games.cel`. It has no cards and scores as much as the best seat.
Rulings are numbered R1 to R5 and E1 to E17 for Eleusis, X1 to X9 for Eleusis Express.

| variant   | a hand                                                                    |
|-----------|---------------------------------------------------------------------------|
| `eleusis` | rule; then turns: play, judgement if there is a prophet, prophet's option |
| `express` | rule; then turns: play a single card, guesses after a right one           |
"""

from dataclasses import replace
from typing import Final

from arena.games.cards import Card
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    SentEvent,
    Step,
    Work,
    require_to_act,
    with_entry,
)
from arena.games.eleusis.cards import DEALT, cards_played, deal, in_hand_order, right_up_to, undealt
from arena.games.eleusis.hidden_rule import draws_of, judge_guess, validate
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
from arena.games.eleusis.messages import (
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
    Guessers,
    GuessRefuted,
    HandBegan,
    HandScored,
    Judge,
    Judged,
    Move,
    NoPlay,
    NoPlayCalled,
    Options,
    Pass,
    Passed,
    Phase,
    Play,
    Played,
    ProphetDeclared,
    Rule,
    RuleRefused,
    RuleReplaced,
    Variant,
    Verdict,
    View,
)
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
from arena.games.eleusis.work import EXAMPLES, work_of_guess, work_of_trial
from arena.games.options import check_match

SEATS: Final[range] = range(3, 9)
TRIES: Final = 2
"""The number of rules that a dealer may send; then the arena chooses one (R4)."""
_LIGHT_COST: Final = 20_000
"""A cost that certainly takes less than 5 ms."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Ask the first dealer for a rule.

    Raises `BadOptions` unless there are 3 to 8 seats and `hands` is a multiple of them.
    """
    check_match("Eleusis", SEATS, seats, options.hands)
    everybody = tuple(Seat(number) for number in range(seats))
    return begin_hand(Match(options, everybody, 0, (), (0,) * seats, ""))


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play one move. Raises `IllegalMove` if the move is illegal."""
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
            return _pass(state)


def to_act(state: State) -> tuple[Seat, ...]:
    """Return the dealer, the seat whose turn it is, or the prophet."""
    match state.phase:
        case Phase.OVER:
            return ()
        case Phase.RULE:
            return (state.match.dealer,)
        case Phase.JUDGE:
            prophet = state.table.office.prophet
            assert prophet is not None
            return (prophet,)
        case Phase.GUESS_OPTION:
            assert state.turn.guesser is not None
            return (state.turn.guesser,)
        case _:
            return (state.turn.seat,)


def moves(state: State, seat: Seat) -> Moves:
    """Return the legal moves; strings of cards and texts are legal without being listed."""
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
    """Return what a seat may know; a spectator sees no hand and no rule."""
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
    """Return the first card of the hand, the judgement `right`, a pass, or an empty rule (E15)."""
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
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> Work | bool:
    """Return the work of validating a rule, comparing a guess, or judging with an expensive rule."""
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


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.phase is not Phase.OVER:
        return None
    match = state.match
    return Result.of(match.totals, match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the difference of the highest and lowest possible scores in Express.

    Return None in Eleusis, where strings, prophets and penalties allow scores a hundred times those that occur.
    """
    if options.variant != Variant.EXPRESS:
        return None
    return (options.hands or seats) * (MOST_OF_EXPRESS + options.max_turns)


def _opinions(state: State) -> Listed:
    if isinstance(state.turn.pending, Play):
        return JUDGE_PLAY
    return opinions(_shown(state))


def _shown(state: State) -> tuple[Card, ...]:
    """Return the cards that the prophet judges."""
    pending = state.turn.pending
    if isinstance(pending, NoPlay):
        return in_hand_order(state.table.cards.hands[state.turn.seat])
    return pending.cards if isinstance(pending, Play) else ()


def begin_hand(match: Match, *events: SentEvent) -> Step:
    seats = len(match.seats)
    turn = Turn(match.players[0], None, (0,) * seats)
    state = State(match, Secret(), Phase.RULE, turn, undealt(seats), Attempts())
    return Step(state, (*events, SentEvent(HandBegan(match.hand, match.dealer))))


def _set_rule(state: State, text: str, deals: Deals) -> Step:
    """Validate the rule (R4). If two rules are refused, the arena chooses an example."""
    match, tried = state.match, state.secret.refused + 1
    validation = validate(text, draws_of(deals, match.hand, f"validate {tried}"))
    if validation.verdict is Verdict.ACCEPTED:
        return _deal(state, Secret(text, tried - 1, dearest=validation.dearest), (), deals)
    only = (match.dealer,)
    refused = SentEvent(RuleRefused(validation.verdict, validation.reason), only)
    secret = Secret("", tried, validation.verdict, validation.reason)
    if tried < TRIES:
        return Step(replace(state, secret=secret), (refused,))
    rule = EXAMPLES[draws_of(deals, match.hand, "example").below(len(EXAMPLES))]
    replaced = SentEvent(RuleReplaced(rule), only)
    return _deal(state, replace(secret, rule=rule, by_arena=True), (refused, replaced), deals)


def _deal(state: State, secret: Secret, events: tuple[SentEvent, ...], deals: Deals) -> Step:
    match = state.match
    table = deal(match, deals)
    hands = table.cards.hands
    size = DEALT[match.options.variant]
    dealt = SentEvent(Dealt(table.layout.mainline[0], size, len(table.cards.stock)))
    drawn = (
        SentEvent(Drawn(player, in_hand_order(hands[player])), (player,))
        for player in match.players
    )
    after = State(match, secret, Phase.PLAY, state.turn, table, state.attempts)
    return Step(after, (*events, dealt, *drawn))


def _play(state: State, move: Play | NoPlay, deals: Deals) -> Step:
    player = state.turn.seat
    if isinstance(move, Play):
        event = SentEvent(Played(player, move.cards))
    else:
        hand = in_hand_order(state.table.cards.hands[player])
        event = SentEvent(NoPlayCalled(player, hand))
    if state.table.office.prophet is None:
        return _resolve(state, move, None, (event,), deals)
    turn = Turn(player, move, state.turn.taken)
    return Step(state.at(Phase.JUDGE, turn, state.table), (event,))


def _judge(state: State, move: Judge, deals: Deals) -> Step:
    play, prophet = state.turn.pending, state.table.office.prophet
    assert play is not None
    assert prophet is not None
    event = SentEvent(Judged(prophet, move.opinion, move.card))
    return _resolve(state, play, move, (event,), deals)


def _resolve(
    state: State,
    play: Play | NoPlay,
    judged: Judge | None,
    events: tuple[SentEvent, ...],
    deals: Deals,
) -> Step:
    player, outcome = state.turn.seat, carry_out(state, play, judged, deals)
    before = state.turn.taken
    taken = with_entry(before, player, before[player] + 1)
    after = state.at(Phase.PLAY, Turn(player, None, taken), outcome.table)
    events += outcome.events
    if outcome.end is not None:
        return _end_hand(after, outcome.end, None, events)
    if is_express(state):
        # There is no guess after a card that the arena moved (X9).
        if isinstance(play, Play) and outcome.right:
            return _ask_guesser(after, player, events)
    elif _may_declare(after, player):
        return Step(after.at(Phase.PROPHET_OPTION, after.turn, after.table), events)
    return _next_turn(after, events)


def _ask_guesser(state: State, seat: Seat, events: tuple[SentEvent, ...]) -> Step:
    turn = Turn(state.turn.seat, None, state.turn.taken, seat)
    return Step(state.at(Phase.GUESS_OPTION, turn, state.table), events)


def _pass(state: State) -> Step:
    (player,) = to_act(state)
    events = (SentEvent(Passed(player)),)
    guessing = state.phase is Phase.GUESS_OPTION
    return _next_guesser(state, events) if guessing else _next_turn(state, events)


def _next_guesser(state: State, events: tuple[SentEvent, ...]) -> Step:
    """Ask the next seat for a guess: clockwise from the one that played, each once (X2)."""
    players, guesser = state.match.players, state.turn.guesser
    assert guesser is not None
    following = players[(players.index(guesser) + 1) % len(players)]
    if state.match.options.guessers == Guessers.PLAYER or following == state.turn.seat:
        return _next_turn(state, events)
    return _ask_guesser(state, following, events)


def _may_declare(state: State, seat: Seat) -> bool:
    """Return whether a seat may declare itself prophet, also after a wrong play (E4).

    Two other seats must be left to play.
    """
    office = state.table.office
    if office.prophet is not None or seat in office.former or seat in office.expelled:
        return False
    return len(active(state.match, office)) >= 3


def _declare(state: State) -> Step:
    """Make the seat the prophet, with the marker on the last card played (E5)."""
    player, marker = state.turn.seat, cards_played(state.table.layout)
    office = replace(state.table.office, prophet=player, marker=marker)
    after = replace(state, table=replace(state.table, office=office))
    return _next_turn(after, (SentEvent(ProphetDeclared(player, marker)),))


def _guess(state: State, text: str, deals: Deals) -> Step:
    match, player, attempts = state.match, state.turn.guesser, state.attempts
    assert player is not None
    draws = draws_of(deals, match.hand, f"guess {attempts.count + 1}")
    judged = judge_guess(state.secret.rule, text, state.table.layout.mainline, draws)
    events = (SentEvent(Guessed(player, text, judged.accepted)),)
    if judged.accepted:
        return _end_hand(state, End.GUESS, player, events)
    after = replace(state, attempts=with_guess(attempts, player, text, judged.witness))
    return _next_guesser(after, events)


def _next_turn(state: State, events: tuple[SentEvent, ...]) -> Step:
    taken, seat, seats = state.turn.taken, state.turn.seat, len(state.match.seats)
    playing = active(state.match, state.table.office)
    if all(taken[player] >= state.match.options.max_turns for player in playing):
        return _end_hand(state, End.TURN_CAP, None, events)
    following = min(playing, key=lambda each: (each - seat - 1) % seats)
    return Step(state.at(Phase.PLAY, Turn(following, None, taken), state.table), events)


def _end_hand(state: State, end: End, guesser: Seat | None, events: tuple[SentEvent, ...]) -> Step:
    match, secret = state.match, state.secret
    scores = _scores(state.match, state.table, guesser)
    if secret.by_arena:
        scores = tuple(0 if seat == match.dealer else score for seat, score in enumerate(scores))
    totals = tuple(had + won for had, won in zip(match.totals, scores, strict=True))
    refuted = (
        SentEvent(GuessRefuted(player, witness.line, witness.card, witness.legal))
        for player, witness in state.attempts.witnesses
    )
    scored = SentEvent(HandScored(match.hand, end, secret.rule, secret.by_arena, scores, totals))
    events = (*events, *refuted, scored)
    after = replace(
        match, hand_scores=(*match.hand_scores, scores), totals=totals, previous_rule=secret.rule
    )
    if len(after.hand_scores) >= (match.options.hands or len(match.seats)):
        return Step(replace(state, match=after, phase=Phase.OVER), events)
    return begin_hand(replace(after, hand=match.hand + 1), *events)


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
