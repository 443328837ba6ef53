"""The sample bots: each file can be copied as it is, and plays whole matches by the rules.

That they are stronger than random is measured by scripts/strength.
"""

import ast
import importlib.util
import random
import sys
from dataclasses import astuple
from itertools import pairwise, permutations
from pathlib import Path
from statistics import mean, stdev

import pytest

import cardarena
from arena.games import poker
from arena.games.abstrac.scoring import deal_points, half_points, take_limit
from arena.games.arlington.sets import is_set, points_of, set_of
from arena.games.cards import JOKER, PACK_52, pack
from arena.games.catalogue import GAMES, game_by_id
from arena.games.cel import Rule
from arena.games.chinese.hands import SURRENDERED, is_foul, pair_units, strengths
from arena.games.chinese.settings import candidates
from arena.games.democracy.scoring import trick_winner
from arena.games.eleusis.hidden_rule import Draws, validate
from arena.games.eleusis.messages import Verdict
from arena.referee.deal import KeyedDeals
from arena.referee.terms import MatchTerms
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_message
from arena.testing.deals import SeededDeals
from bench.strength import TRIALS
from cardarena import _choice
from cardarena.v1.play_pb2 import Ask, Clock, MatchEnd, MatchStart, Player
from tests.rows import fewest_seats, slow_unless

FOLDER = Path(__file__).resolve().parent.parent / "sample_bots"
FILES = sorted(path.name for path in FOLDER.glob("*.py"))
SAMPLES = pytest.mark.deep("sample bots")
PLAY_EVERYTHING = ["random_bot.py", "first_bot.py"]

SEATED = [(game.id, seats) for game in GAMES for seats in game.seats]
EXPERTS = [
    (trial.bot, trial.game, seats) for trial in TRIALS for seats in game_by_id(trial.game).seats
]


def load(file):
    spec = importlib.util.spec_from_file_location(f"sample_{Path(file).stem}", FOLDER / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bot_of(module):
    kinds = [value for value in vars(module).values() if isinstance(value, type)]
    (bot,) = (kind for kind in kinds if issubclass(kind, cardarena.Bot))
    return bot


class Seated:
    """A bot at its seat, asked by messages as the arena sends them."""

    def __init__(self, bot, start):
        self.start = start
        self.bot = bot()
        self.bot.start = start
        self.bot.started()

    def choose(self, codec, view, moves, told):
        events = [codec.event(event) for event in told]
        message = Ask(ask_id=1, match=1, seat=self.start.seat, clock=Clock(move_ms=10_000))
        message.MergeFromString(codec.ask(view, events, moves))
        # The clock stands still: what a bot chooses must not hang on how quick this machine is.
        ask = cardarena.Ask(message, self.start, codec.family, before=None, now_s=lambda: 0.0)
        answer = _choice.answer(ask, self.bot.move(ask))
        assert len(answer.note) <= _choice.MAX_NOTE_CHARS
        if answer.WhichOneof("choice") == "index":
            return moves.offered[answer.index]
        return codec.read_move(answer.move)


def play(bots, game_id, options, seed):
    """Play a match in this process, and return its result. An illegal move fails."""
    game, seats = game_by_id(game_id), range(len(bots))
    codec, rules = codec_of(game), game.rules
    options = game.options(options, len(bots))
    table = []
    for seat, bot in enumerate(bots):
        start = MatchStart(
            match=1,
            terms=terms_message(MatchTerms(game, options, len(bots))),
            seat=seat,
            players=[Player(seat=other, name=f"bot {other}") for other in seats],
        )
        table.append(Seated(bot, start))
    deals = SeededDeals(seed)
    state, told = rules.start(options, len(bots), deals)
    untold = [[] for _ in seats]
    while True:
        for event, who in told:
            for seat in seats if who is None else who:
                untold[seat].append(event)
        asked = rules.to_act(state)
        if not asked:
            break
        chosen = []
        for seat in asked:
            view, moves = rules.view(state, seat), rules.moves(state, seat)
            move = table[seat].choose(codec, view, moves, untold[seat])
            assert move in moves, f"{bots[seat].__name__} chose {move}"
            untold[seat] = []
            chosen.append((seat, move))
        state, told = rules.step(state, tuple(chosen), deals)
    result = rules.result(state)
    for seated in table:
        end = MatchEnd(match=1, scores=result.scores, places=result.places, ending=1)
        seated.bot.ended(cardarena.End(end, seated.start, before=None))
    return result


@pytest.mark.parametrize("file", FILES)
def test_importing_a_bot_does_not_run_it(file, monkeypatch):
    def run(*arguments, **named):
        raise AssertionError("it ran")

    monkeypatch.setattr(cardarena, "run", run)
    assert issubclass(bot_of(load(file)), cardarena.Bot)


@pytest.mark.parametrize("file", FILES)
def test_a_bot_needs_nothing_but_the_sdk(file):
    imported = set()
    for node in ast.walk(ast.parse((FOLDER / file).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"cardarena"}


def test_the_first_example_is_short():
    assert len((FOLDER / "random_bot.py").read_text("utf-8").splitlines()) <= 16


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.game)
def test_a_trial_fits_its_game_and_its_bot(trial):
    game = game_by_id(trial.game)
    game.rules.start(game.options(trial.options, trial.seats), trial.seats, KeyedDeals(bytes(32)))
    assert trial.game in bot_of(load(trial.bot)).games


@pytest.mark.parametrize(("game", "seats"), slow_unless(fewest_seats, SEATED, SAMPLES))
def test_the_bots_that_play_everything_do(game, seats):
    random.seed(f"{game} {seats}")
    bots = [bot_of(load(PLAY_EVERYTHING[seat % 2])) for seat in range(seats)]
    assert len(play(bots, game, {"hands": seats}, "everything").hand_scores) == seats


@pytest.mark.parametrize(
    ("file", "game", "seats"),
    slow_unless(lambda file, game, seats: fewest_seats(game, seats), EXPERTS, SAMPLES),
)
def test_a_games_own_bot_plays_whole_matches(file, game, seats, monkeypatch):
    module = load(file)
    for limit in ("MAX_POSITIONS", "MAX_DEALS"):  # also plays where a search ends early
        if hasattr(module, limit):
            monkeypatch.setattr(module, limit, 1)
    random.seed(f"{game} {seats}")
    bots = [bot_of(module)] * (seats - 1) + [bot_of(load("random_bot.py"))]
    assert len(play(bots, game, {"hands": seats}, "own").hand_scores) == seats


# What the bots know of the rules by themselves is what the rules say.


@pytest.mark.parametrize(
    ("file", "own", "ours", "size"),
    [
        ("pineapple.py", "high", poker.standard, 7),
        ("pineapple.py", "low", lambda hand: poker.eight_or_better(hand) or 0, 7),
        ("soko.py", "strength", poker.soko, 5),
    ],
    ids=["pineapple", "low of hi-lo", "soko"],
)
def test_poker_bots_order_hands_as_the_rules_do(file, own, ours, size):
    value, chance = getattr(load(file), own), random.Random(1)
    hands = [chance.sample(PACK_52, size) for _ in range(5_000)]
    # A suit's cards alone hold the flushes and what hides in them; a hand without a low is ().
    hands += [chance.sample(PACK_52[chance.randrange(4) :: 4], size) for _ in range(500)]
    rated = sorted((ours(hand), value(hand) or ()) for hand in hands)
    assert all((a < b) == (x < y) for (a, x), (b, y) in pairwise(rated))


def heap_of(bot, cards):
    return sum(bot.BIT[card] for card in cards)


@pytest.mark.parametrize(
    ("margin", "cards", "points"),
    [
        ("margin", (JOKER, *pack("9TJQKA")), deal_points),
        ("half_margin", PACK_52[::2], lambda a, b: (half_points(a), half_points(b))),
    ],
    ids=["deal with misere and joker", "half of the 52-card game"],
)
def test_abstrac_bot_scores_as_the_rules_do(margin, cards, points):
    bot, chance = load("abstrac.py"), random.Random(1)
    for _ in range(500):
        shuffled = (
            chance.sample(PACK_52, 26) if margin == "half_margin" else chance.sample(cards, 25)
        )
        taken = chance.randrange(27)
        mine, theirs = shuffled[:taken], shuffled[taken:]
        ours, others = points(mine, theirs)
        found = getattr(bot, margin)(heap_of(bot, mine), heap_of(bot, theirs), 0)
        assert found == ours - others, (mine, theirs)


def best_margin(variant, row, mine, theirs, previous):
    """The margin under perfect play, by trying everything."""
    if not row:
        ours, others = deal_points(mine, theirs)
        if variant == "fiftytwo":
            ours, others = half_points(mine), half_points(theirs)
        return ours - others
    return max(
        -best_margin(variant, row[count:], theirs, mine + row[:count], count)
        for count in range(1, take_limit(variant, row, previous) + 1)
    )


@pytest.mark.parametrize("variant", ["basic", "suit", "unfettered", "fiftytwo"])
def test_abstrac_bot_finds_the_best_take(variant):
    bot, chance = load("abstrac.py"), random.Random(2)
    game = "abstrac" if variant == "basic" else f"abstrac_{variant}"
    for _ in range(20):
        row = tuple(chance.sample(pack("9TJQKA"), 9))
        search = bot.Search(game, row)
        found, count, depth = search.best_take(0, 0, 0, min(search.first_limit(), 9), lambda: 9.0)
        assert found == best_margin(variant, row, (), (), 0)
        assert found == -best_margin(variant, row[count:], (), row[:count], count)
        assert depth >= len(row)


def test_democracy_bot_knows_its_chances():
    bot, chance = load("democracy.py"), random.Random(3)
    jokers = (JOKER, JOKER)
    whole = pack(bot.RANKS, jokers=2)
    for _ in range(300):
        # Few ranks, so that trumps, ties, jokers and both 5 and 6 of trump come often.
        few = [card for card in whole if card[0] in "56K" or card in jokers]
        upcard, card, *unseen = chance.sample(few, 8)
        others = chance.choice([1, 2, 3])
        deals = list(permutations(unseen, others))
        winners = [trick_winner(upcard, (card, *deal)) for deal in deals]
        tied = [
            winner is None and bot.plain_rank(card) == max(map(bot.plain_rank, (card, *deal)))
            for winner, deal in zip(winners, deals, strict=True)
        ]
        wins, ties = bot.chances(card, bot.trump_of(upcard), unseen, others)
        assert wins == pytest.approx(winners.count(0) / len(deals)), (upcard, card, unseen)
        assert ties == pytest.approx(sum(tied) / len(deals)), (upcard, card, unseen)


@pytest.mark.parametrize("seats", slow_unless(lambda seats: seats == 2, [2, 3, 4, 5, 6], SAMPLES))
def test_democracy_bot_counts_the_cards_it_has_not_seen(seats):
    decisions = []

    class Counting(bot_of(load("democracy.py"))):
        def move(self, ask):
            move, view = super().move(ask), ask.view
            hidden = view.hand_size * (seats - 1) + view.pool + view.undealt
            decisions.append((len(self.unseen), hidden))
            return move

    play([Counting] * seats, "democracy", {"hands": seats}, "counted")
    assert [found for found, _ in decisions] == [hidden for _, hidden in decisions]


def test_arlington_bot_scores_sets_as_the_rules_do():
    bot, chance = load("arlington.py"), random.Random(6)
    sets = 0
    for _ in range(5000):
        suit, rank = chance.choice("cdhs"), chance.choice("2JQKA")
        near = [card for card in PACK_52 if suit in card or rank in card] + ["Ks", "Qh", "2h"]
        group = set_of({*chance.sample(near, chance.randint(1, 4))})
        group += (JOKER,) * chance.choice([0, 0, 1, 2])
        sets += is_set(group)
        assert bot.points(group) == (points_of(group) if is_set(group) else 0), group
    assert sets > 1000


def test_chinese_poker_bot_orders_hands_as_the_rules_do():
    bot, chance = load("chinese_poker.py"), random.Random(4)
    # Half of the hands are of few cards, so that the rare classes come too.
    few = [card for card in PACK_52 if card[1] == "s" or card[0] in "2A"]
    hands = [chance.sample(few if number % 2 else PACK_52, 5) for number in range(4000)]
    hands += [hand[:3] for hand in hands[:1000]]
    values = []
    for hand in hands:
        row = sorted(hand, key=bot.PACK.index, reverse=True)
        values.append(
            (bot.strength(row), poker.standard(row) if len(row) == 5 else poker.front(row))
        )
    values.sort()
    for (low, low_by_rules), (high, high_by_rules) in pairwise(values):
        assert (low < high) == (low_by_rules < high_by_rules)
        assert (low == high) == (low_by_rules == high_by_rules)


def test_chinese_poker_bot_sets_well_without_a_foul():
    bot, chance = load("chinese_poker.py"), random.Random(5)
    for _ in range(5):
        held = chance.sample(PACK_52, 13)
        rows, made = bot.best_setting(held)
        assert sorted(card for row in rows for card in row) == sorted(held)
        assert not is_foul(strengths(*rows))
        for good in candidates(held, 8):
            numbers = tuple(map(bot.strength, (good.front, good.middle, good.back)))
            assert bot.against_opponents(numbers) <= made


@SAMPLES
def test_chinese_poker_bot_makes_more_than_the_first_setting_offered():
    """Of opponents who take the first themselves, and like it never give up."""
    bot, chance = load("chinese_poker.py"), random.Random(6)

    def first(hand):
        return strengths(*astuple(candidates(hand, 1)[0]))

    opponents = [first(chance.sample(PACK_52, 13)) for _ in range(300)]
    margins = []
    for _ in range(150):
        hand = chance.sample(PACK_52, 13)
        rows, made = bot.best_setting(hand)
        ours = SURRENDERED if made < -bot.SURRENDER_UNITS else strengths(*rows)
        plain = first(hand)
        margins.append(
            mean(pair_units(ours, other) - pair_units(plain, other) for other in opponents)
        )
    error = stdev(margins) / len(margins) ** 0.5
    assert mean(margins) > 1.96 * error, f"{mean(margins):+.3f} ± {1.96 * error:.3f} units a hand"


def test_eleusis_bot_reads_its_candidates_as_the_arena_does():
    bot, chance = load("eleusis.py"), random.Random(7)
    for text, rule in bot.RULES:
        for length in (1, 2, 9):
            line = chance.choices(PACK_52, k=length)
            faces = [bot.FACES[card] for card in line]
            legal = {card for card in PACK_52 if rule(bot.FACES[card], faces[-1], faces)}
            assert legal == set(Rule.parse(text).legal(line)), (text, line)


@pytest.mark.parametrize("number", slow_unless(lambda number: number == 0, range(12), SAMPLES))
def test_eleusis_bot_deals_rules_that_are_accepted(number):
    dealt = load("eleusis.py").DEALT
    assert len(dealt) > 60
    text = dealt[number * len(dealt) // 12]
    for seed in range(2):
        order = random.Random(seed).sample(PACK_52, 52)
        assert validate(text, Draws(order)).verdict is Verdict.ACCEPTED
