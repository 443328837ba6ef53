"""What every game keeps to, whatever its rules are: checked on random play of each."""

import dataclasses
import random
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.catalogue import GAMES, BadOptions, UnknownGame, game_by_id
from arena.games.contract import (
    MAX_OFFERED,
    IllegalMove,
    Listed,
    places_of,
    require_to_act,
)
from arena.games.notation import Notation
from arena.games.options import build_options
from tests.games.random_play import with_effect
from tests.walks import EVERY_SITTING, Walk

EVERY_GAME = pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])


# Moves.


@EVERY_SITTING
def test_a_seat_to_act_has_moves_and_its_fallback_is_one_of_them(game, seats):
    rules, chance = game.rules, random.Random(7)
    for turn in Walk(game, seats, seed=3):
        state = turn.after
        acting = rules.to_act(state)
        assert list(acting) == sorted(set(acting)), "in seat order, each once"
        assert set(acting) <= set(range(seats))
        for seat in acting:
            moves = rules.moves(state, seat)
            offered = moves.offered
            assert 1 <= len(offered) <= MAX_OFFERED
            assert len(set(offered)) == len(offered), "each once"
            assert all(move in moves for move in offered)
            # Texts of rules are without end: those are counted as far as they are offered.
            assert (
                moves.count() == len(offered) if moves.complete else moves.count() >= len(offered)
            )
            assert rules.fallback(state, seat) in moves
            assert moves.sample(chance.randrange) in moves
            assert "no move" not in moves


@EVERY_SITTING
def test_moves_follow_from_the_view_alone(game, seats):
    """Two moments that look alike to a seat offer it the same moves, in the same order."""
    seen, rules = {}, game.rules
    for seed in range(2):
        for turn in Walk(game, seats, seed=seed):
            for seat in rules.to_act(turn.after):
                view = rules.view(turn.after, seat)
                offered = rules.moves(turn.after, seat).offered
                assert seen.setdefault((seat, view), offered) == offered


@EVERY_SITTING
def test_the_spectators_view_tells_who_is_to_act(game, seats):
    seen, rules = {}, game.rules
    for seed in range(2):
        for turn in Walk(game, seats, seed=seed):
            view = rules.view(turn.after, None)
            acting = rules.to_act(turn.after)
            assert seen.setdefault(view, acting) == acting


@EVERY_SITTING
def test_every_offered_move_can_be_played(game, seats):
    walk = Walk(game, seats, seed=5)
    rules = game.rules
    for turn in walk:
        state, acting = turn.after, rules.to_act(turn.after)
        for seat in acting:
            for move in rules.moves(state, seat).offered[:8]:
                chosen = tuple(
                    (player, move if player == seat else rules.fallback(state, player))
                    for player in acting
                )
                assert rules.step(state, chosen, walk.deals).state != state


# Steps.


@EVERY_SITTING
def test_a_step_is_a_function_of_its_arguments(game, seats):
    walk = Walk(game, seats, seed=11)
    for turn in walk:
        if turn.before is not None:
            again = game.rules.step(turn.before, turn.chosen, walk.deals)
            assert again == (turn.after, turn.events)


@EVERY_SITTING
def test_the_same_seed_gives_the_same_match(game, seats):
    one, other = (list(Walk(game, seats, seed=13)) for _ in range(2))
    assert one == other


@EVERY_SITTING
def test_choices_are_taken_from_exactly_the_seats_that_were_asked(game, seats):
    walk = Walk(game, seats, seed=17)
    for turn in walk:
        if turn.before is None:
            continue
        before = game.rules.view(turn.before, None)
        (seat, move), *others = turn.chosen
        stranger = (seat + 1) % seats if not others else seats
        for wrong in (
            (),
            tuple(others),
            ((stranger, move), *others),
            (*turn.chosen, (stranger, move)),
            tuple(reversed(turn.chosen)) if others else (),
        ):
            with pytest.raises(IllegalMove):
                game.rules.step(turn.before, wrong, walk.deals)
        assert game.rules.view(turn.before, None) == before


@EVERY_SITTING
def test_a_move_that_is_not_among_the_legal_ones_is_refused(game, seats):
    walk, rules, refused = Walk(game, seats, seed=18), game.rules, 0
    every_move = list(dict.fromkeys(walk.moves()))
    for turn in walk:
        for place, (seat, _) in enumerate(turn.chosen):
            legal = rules.moves(turn.before, seat)
            for move in [move for move in every_move if move not in legal][:5]:
                chosen = list(turn.chosen)
                chosen[place] = (seat, move)
                with pytest.raises(IllegalMove):
                    rules.step(turn.before, tuple(chosen), walk.deals)
                refused += 1
    assert refused > 0


def frozen(value):
    """Whether nothing about a value can be changed: frozen, slotted, nested in tuples."""
    if isinstance(value, tuple):
        return all(map(frozen, value))
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        slotted = not hasattr(value, "__dict__")
        params = value.__dataclass_params__
        # Hashed by fields that may change: only `arena.games.frozen.Frozen` makes such classes, and type checkers report assignments.
        fixed = params.frozen or params.unsafe_hash
        return fixed and slotted and all(frozen(getattr(value, field.name)) for field in fields)
    return value is None or isinstance(value, (int, str))


@EVERY_SITTING
def test_states_views_moves_and_events_cannot_be_changed(game, seats):
    for turn in Walk(game, seats, seed=19):
        assert frozen(turn.after)
        assert all(frozen(event) for event, _ in turn.events)
        assert all(frozen(move) for _, move in turn.chosen)
        assert all(frozen(game.rules.view(turn.after, who)) for who in (None, 0))


@EVERY_SITTING
def test_events_name_seats_that_there_are(game, seats):
    for turn in Walk(game, seats, seed=23):
        for event, sent_to in turn.events:
            assert sent_to is None or (sent_to and set(sent_to) <= set(range(seats)))
            if sent_to is not None and hasattr(event, "seat"):
                assert sent_to == (event.seat,), "what one seat gets is about it"


@EVERY_SITTING
def test_a_seat_is_dealt_the_cards_that_its_view_shows(game, seats):
    walk = Walk(game, seats, seed=27)
    for turn in walk:
        for event, sent_to in turn.events:
            if type(event).__name__ == "Dealt" and sent_to is not None and game.family != "soko":
                view = game.rules.view(turn.after, event.seat)
                held = getattr(view, "held", None) or getattr(view, "to_place", None)
                if held is None:
                    continue  # a new game may name a seat's cards otherwise
                assert set(event.cards) <= set(held)


# The end.


@EVERY_SITTING
def test_there_is_a_result_when_and_only_when_nobody_is_to_act(game, seats):
    rules, hands = game.rules, [0]
    for turn in Walk(game, seats, seed=29, whole=True):
        over = not rules.to_act(turn.after)
        result = rules.result(turn.after)
        assert (result is not None) == over
        hands.append(rules.hand_number(turn.after))
        scores = rules.hand_scores(turn.after)
        assert len(scores) == hands[-1] + over, "of each completed hand"
    assert scores == result.hand_scores
    assert all(after - before in (0, 1) for before, after in pairwise(hands))
    assert hands[-1] == seats - 1  # `hands` was set to the number of seats
    assert len(result.hand_scores) == seats
    assert all(len(scores) == seats for scores in result.hand_scores)
    sums = tuple(map(sum, zip(*result.hand_scores, strict=True)))
    assert result.scores == sums
    assert result.places == places_of(result.scores)


@EVERY_SITTING
def test_seat_0_deals_first_and_the_deal_moves_on_with_every_hand(game, seats):
    """In a match of two rounds in which no seat leaves or comes into Fantasyland."""
    if game.family == "klaberjass":
        return  # the winner of a hand deals the next (R13)
    rules, dealers, begun = game.rules, {}, set()
    for turn in Walk(game, seats, 29, {"hands": 2 * seats}, whole=True):
        if rules.to_act(turn.after):
            view = rules.view(turn.after, None)
            dealers.setdefault(view.hand, set()).add(view.dealer)
            for event in (event for event, _ in turn.events if hasattr(event, "dealer")):
                assert (event.hand, event.dealer) == (view.hand, view.dealer)
                begun.add(event.hand)
    assert dealers == {hand: {hand % seats} for hand in range(2 * seats)}
    assert begun == dealers.keys(), "an event tells each"


@EVERY_SITTING
def test_nothing_is_played_after_the_end(game, seats):
    walk = Walk(game, seats, seed=31, whole=True)
    *_, last = walk
    with pytest.raises(IllegalMove):
        game.rules.step(last.after, last.chosen, walk.deals)


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ((3, 2, 1), (1, 2, 3)),
        ((1, 2, 3), (3, 2, 1)),
        ((2, 2, 1), (1, 1, 3)),
        ((0, 5, 0), (2, 1, 2)),
        ((0, 0), (1, 1)),
        ((-1, -2), (1, 2)),
    ],
    ids=["in order", "backwards", "a shared first", "a shared second", "a draw", "below zero"],
)
def test_places_follow_from_scores(scores, places):
    assert places_of(scores) == places


def test_only_the_seats_that_were_asked_are_taken_in_seat_order():
    assert require_to_act(((0, "a"), (2, "b")), (0, 2)) == ("a", "b")
    for wrong in ([(2, "b"), (0, "a")], [(0, "a")], [(0, "a"), (1, "b")], []):
        with pytest.raises(IllegalMove):
            require_to_act(tuple(wrong), (0, 2))


@pytest.mark.parametrize("count", [1, MAX_OFFERED, MAX_OFFERED + 1])
def test_listed_moves_offer_the_first_of_them(count):
    moves = Listed(tuple(range(count)))
    assert moves.offered == tuple(range(min(count, MAX_OFFERED)))
    assert moves.complete == (count <= MAX_OFFERED)
    assert {moves.sample(lambda n, at=at: at % n) for at in range(count)} == set(moves)


# Notation.


@EVERY_SITTING
def test_notation_reads_what_it_writes(game, seats):
    move_notation, event_notation = Notation(game.messages.Move), Notation(game.messages.Event)
    lines = {}
    for seed in range(2):
        for notation, values in (
            (move_notation, Walk(game, seats, seed).moves()),
            (event_notation, Walk(game, seats, seed).events()),
        ):
            for value in values:
                line = notation.write(value)
                assert "\n" not in line
                assert notation.read(line) == value
                assert lines.setdefault(line, value) == value, "one line, one meaning"


# Options.


def option_values(setting):
    if isinstance(setting.default, bool):
        return st.booleans()
    if isinstance(setting.default, int):
        return st.integers(setting.minimum, setting.maximum)
    if not setting.choices:
        numbers = st.lists(st.integers(setting.minimum, setting.maximum), min_size=1, max_size=6)
        return numbers.map(lambda several: ",".join(map(str, several)))
    return st.sampled_from(setting.choices)


def spelled(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@EVERY_GAME
@settings(max_examples=25)
@given(data=st.data())
def test_options_say_what_was_given_as_values_or_as_text(game, data):
    chosen = data.draw(
        st.fixed_dictionaries({}, optional={s.name: option_values(s) for s in game.settings})
    )
    chosen = with_effect(game, chosen)
    options = game.options(chosen, game.seats[0])
    for setting in game.settings:
        assert getattr(options, setting.name) == chosen.get(setting.name, setting.default)
    texts = {name: spelled(value) for name, value in chosen.items()}
    assert game.options(texts, game.seats[0]) == options
    every = game.values(options)
    assert chosen.keys() <= every.keys()
    assert build_options(game.messages.Options, every, game.preset) == options


@EVERY_GAME
def test_an_option_without_effect_beside_another_is_refused_in_a_sentence(game):
    for setting in game.settings:
        for name, good in setting.needs.items():
            other = next(option for option in game.settings if option.name == name)
            wrong = next(
                value for value in (*other.choices, 0, 1, 2, True, False) if value not in good
            )
            met = {item: values[0] for item, values in setting.needs.items()}
            given = met | {name: wrong, setting.name: setting.default}
            sentence = rf"{setting.name}=.* has no effect with {name}={wrong}: it needs {name}="
            with pytest.raises(BadOptions, match=sentence):
                game.options(given, game.seats[0])
            assert setting.name not in game.values(game.options({name: wrong}, game.seats[0]))


@pytest.mark.parametrize(
    ("game_id", "given", "sentence"),
    [
        ("abstrac", {"target": 1}, "has no effect with hands=2: it needs hands=0"),
        ("klaberjass", {"hands": 2, "target": 5}, "has no effect with hands=2: it needs hands=0"),
        ("jam", {"hands": 2, "rubbers": 2}, "has no effect with hands=2: it needs hands=0"),
        (
            "pineapple",
            {"structure": "nolimit", "small_bet": 5},
            "small_bet=5 has no effect with structure=nolimit: it needs structure=fixed",
        ),
        (
            "pineapple",
            {"structure": "nolimit", "min_bet": 5},
            "min_bet=5 has no effect with big_blind=2: it needs big_blind=0",
        ),
        (
            "soko",
            {"structure": "pot", "max_raises": 3},
            "max_raises=3 has no effect with structure=pot: it needs structure=spread",
        ),
    ],
)
def test_contradictory_options_are_refused(game_id, given, sentence):
    with pytest.raises(BadOptions, match=f"{sentence}$"):
        game_by_id(game_id).options(given, 2)


@EVERY_GAME
def test_an_option_out_of_its_limits_is_refused_by_name(game):
    for setting in game.settings:
        wrong = ["one", 1.5, None, (), [1]]
        if isinstance(setting.default, bool):
            wrong += ["", 2, "perhaps"]
        elif isinstance(setting.default, int):
            wrong += ["", setting.minimum - 1, setting.maximum + 1, True, "1.0"]
        elif setting.choices:
            wrong += ["", 0, setting.choices[0].upper() + "?"]
        else:
            wrong += [7, "1,,2", "1;2", f"{setting.maximum + 1}", f"1,{setting.minimum - 1}"]
        for value in wrong:
            with pytest.raises(BadOptions, match=setting.name):
                game.options({setting.name: value}, game.seats[0])


@EVERY_GAME
def test_a_preset_is_not_for_users_to_choose(game):
    for name, value in game.preset.items():
        with pytest.raises(BadOptions, match=f"there is no option '{name}'"):
            game.options({name: value}, game.seats[0])
        assert getattr(game.options({}, game.seats[0]), name) == value


@EVERY_GAME
def test_an_option_that_does_not_exist_is_named_with_those_that_do(game):
    with pytest.raises(BadOptions, match=r"there is no option 'hand'; the options are: .*hands"):
        game.options({"hand": 2}, game.seats[0])


@EVERY_GAME
def test_the_number_of_seats_is_one_of_the_games(game):
    for seats in {0, 1, 7, 100} - set(game.seats):
        with pytest.raises(BadOptions, match=f"not {seats}$"):
            game.options({}, seats)


@EVERY_SITTING
def test_every_seat_deals_equally_often(game, seats):
    if game.family == "abstrac":
        return  # its source allows any number of hands
    with pytest.raises(BadOptions, match="not a multiple"):
        Walk(game, seats, 1, {"hands": seats + 1}).__iter__().__next__()


@pytest.mark.parametrize("limited", [True, False], ids=["ended by its limit", "won"])
@pytest.mark.parametrize(
    "game",
    [game for game in GAMES if any(option.name == "max_hands" for option in game.settings)],
    ids=lambda game: game.id,
)
def test_a_race_that_its_limit_ends_says_so(game, limited):
    target = next(option for option in game.settings if option.name == "target")
    options = {"hands": 0, "max_hands": 1000, "target": 1}
    if limited:
        options |= {"max_hands": 1, "target": target.maximum}
    *_, last = Walk(game, game.seats[0], 1, options, whole=True)
    assert game.rules.result(last.after).ended_by_limit is limited


@EVERY_SITTING
def test_a_match_for_practice_is_one_hand(game, seats):
    *_, last = Walk(game, seats, 1, {"hands": 1}, whole=True)
    assert len(game.rules.result(last.after).hand_scores) == 1


# The catalogue.


def test_every_game_has_its_own_id():
    ids = [game.id for game in GAMES]
    assert len(set(ids)) == len(ids)
    assert all(game_by_id(game.id) is game for game in GAMES)


def test_an_unknown_game_is_answered_with_those_there_are():
    with pytest.raises(UnknownGame, match=r"no game 'bridge'; the games are: abstrac, .*democracy"):
        game_by_id("bridge")


@EVERY_GAME
def test_a_game_is_described(game):
    assert game.id in game.describe() or game.title in game.describe()
    assert game.summary.endswith(".")
    assert game.rules_version >= 1
    assert game.title
    assert all(setting.meaning for setting in game.settings)
    assert game.settings[0].name == "hands"
    assert get_args(game.messages.Event), "a game tells more than one kind of event"
