"""Two worlds: one match played at random, and the same match with hidden cards changed.

World A is played by random legal moves. For a seat and a moment of it, cards
that are hidden from the seat change places in the pack; then the same moves
are made again. Whatever reaches the seat up to that moment (views, events,
moves offered, who is asked, all as encoded bytes) must be the same. Worlds in
which a move is not legal any more are skipped and counted.
"""

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice

from arena.games.contract import IllegalMove
from arena.games.eleusis.messages import Rule
from arena.games.eleusis.work import EXAMPLES
from arena.local.turns import turns
from arena.referee.wire.games import codec_of
from arena.testing.deals import RecordedDeals, SeededDeals, StackedDeals
from tests.games.random_play import pick
from tests.leaks.knowledge import HIDDEN, LASTING, RULE_TOLD, SECRET_MOVES, SHOWN_OF

LOTS = ("validate", "guess")
"""Labels of shuffles by which rules of Eleusis are tried out, not dealt."""
LATER = ("rebuild", "pack", "recycle")
"""Labels of shuffles in the middle of a hand."""
TRIES = 4
"""Tries for each pair: at some moments there are no two cards to swap."""
OTHER_MOVES = 12
"""Moves that are drawn to find one of which others see the same."""
FOLLOWED = 25
"""Steps that are looked at after another rule was thought of."""
MAX_STEPS = 400
"""Steps of world A that are looked at; long matches are cut there."""


@dataclass
class World:
    """A match as it was played: `steps[i]` led from `states[i]` to `states[i + 1]`."""

    game: object
    options: object
    seats: int
    states: list
    told: list
    steps: list
    orders: list
    """By step, the shuffles made in it; the first belongs to the start."""
    seen: dict = field(default_factory=dict)
    """What reached a seat in a state, kept by (state, seat)."""


@dataclass
class Tally:
    """Pairs of worlds compared, by seat and phase, and those that could not be."""

    pairs: Counter = field(default_factory=Counter)
    skipped: int = 0
    differences: list = field(default_factory=list)

    def pairs_of(self, seat):
        return sum(count for (who, _), count in self.pairs.items() if who == seat)

    @property
    def skip_rate(self):
        tried = self.pairs.total() + self.skipped
        return self.skipped / tried if tried else 0.0


def play_world(game, options, seats, seed):
    """A match of random legal moves, at most `MAX_STEPS` of it."""
    draw = random.Random(f"{game.id} {seats} {seed}")
    noted = RecordedDeals(SeededDeals(f"leaks {game.id} {seed}"))
    world = World(game, options, seats, [], [], [], [])

    def choose(state, seat):
        return pick(game, game.rules.moves(state, seat), draw)

    for turn in islice(turns(game.rules, options, seats, noted, choose), MAX_STEPS + 1):
        world.states.append(turn.after)
        world.told.append(turn.events)
        if turn.chosen:
            world.steps.append(turn.chosen)
        world.orders.append(orders_of(noted))
        noted.shuffles.clear()
    return world


def orders_of(noted):
    """The orders that deals have given, by hand and label."""
    return {(each.hand, each.label): each.order for each in noted.shuffles}


class Emissions:
    """The bytes that reach a seat, or a spectator, in one state. Leaks can be planted here."""

    def __init__(self, game, plant=None):
        self._rules = game.rules
        self._codec = codec_of(game)
        self._plant = plant

    def of(self, state, told, seat):
        rules, codec = self._rules, self._codec
        events = [
            codec.event(event)
            for event, audience in told
            if audience is None or (seat is not None and seat in audience)
        ]
        acting = rules.to_act(state)
        view = rules.view(state, seat)
        if seat in acting:
            moves = rules.moves(state, seat)
            seen = codec.ask(view, events, moves)
        else:
            seen = b"".join((codec.view(view), *events))
        emission = (acting, rules.hand_number(state), seen)
        return self._plant(emission, state) if self._plant else emission


def compare(world, emissions, seat, cut, draw, tally, *, swaps=1):
    """Compare world A with a world in which cards hidden from `seat` at `cut` are swapped."""
    game = world.game
    state = world.states[cut]
    hand = game.rules.hand_number(state)
    deals = [
        at
        for at in range(cut + 1)
        if any(number == hand for number, _ in dealing(world.orders[at]))
    ]
    if not deals:
        return
    dealt = draw.choice(deals)
    hidden = Counter(HIDDEN[game.family](state, seat))
    copies = copies_in_play(world.orders[: cut + 1], hand)
    changed = swapped_orders(dealing(world.orders[dealt]), hidden, copies, draw, swaps)
    if changed is None:
        return
    other = replay(world, dealt, cut, changed)
    if other is None:
        tally.skipped += 1
        return
    phase = phase_of(game, state, seat)
    note(world, emissions, seat, dealt, other, phase, tally, changed)


def note(world, emissions, seat, begin, other, phase, tally, why):
    """Compare what reached the seat in both worlds, state by state."""
    tally.pairs[seat, phase] += 1
    for at, (state, told) in enumerate(other, begin):
        ours = world.seen.get((at, seat))
        if ours is None:
            ours = world.seen[at, seat] = emissions.of(world.states[at], world.told[at], seat)
        if ours != emissions.of(state, told, seat):
            tally.differences.append((world.game.id, seat, phase, at, why))
            return


def dealing(orders):
    """The shuffles that deal cards: others draw lots for the arena's own tests."""
    return {key: order for key, order in orders.items() if not key[1].startswith(LOTS)}


def copies_in_play(orders, hand):
    """How often each face was dealt in a hand so far; a rebuilt stock adds none."""
    copies = Counter()
    for each in orders:
        for (number, label), order in dealing(each).items():
            if number == hand and not label.startswith(("rebuild", "recycle")):
                copies.update(order)
    return copies


def swapped_orders(orders, hidden, copies, draw, swaps):
    """The shuffles with hidden cards in each other's places; None if there are not two.

    A face of which a twin is not hidden stays where it is.
    """
    candidates = {}
    for key, order in orders.items():
        places = defaultdict(list)
        for place, card in enumerate(order):
            if hidden[card] and hidden[card] >= copies[card]:
                places[card].append(place)
        movable = [place for at in places.values() for place in at]
        if len(movable) >= 2:
            candidates[key] = movable
    if not candidates:
        return None
    key = draw.choice(sorted(candidates))
    order = list(orders[key])
    chosen = draw.sample(candidates[key], min(len(candidates[key]), swaps + 1))
    first = order[chosen[0]]
    for place, following in itertools.pairwise(chosen):
        order[place] = order[following]
    order[chosen[-1]] = first
    return {key: tuple(order)}


def replay(world, begin, cut, changed):
    """States and events from step `begin` to `cut` with other shuffles; None if impossible."""
    rules = world.game.rules
    deals = StackedDeals(changed, Fixed(world.orders))
    try:
        if begin == 0:
            state, told = rules.start(world.options, world.seats, deals)
        else:
            state, told = rules.step(world.states[begin - 1], world.steps[begin - 1], deals)
        seen = [(state, told)]
        for at in range(begin, cut):
            # Should other seats be asked in this world, the step refuses: a skip, unless
            # the seat was to see that already, which the comparison finds.
            state, told = rules.step(state, world.steps[at], deals)
            seen.append((state, told))
    except IllegalMove:
        return None
    return seen


class Fixed:
    """The shuffles of a world, as they were."""

    def __init__(self, orders):
        self._orders = {key: order for each in orders for key, order in each.items()}

    def shuffle(self, hand, label, cards):
        order = self._orders.get((hand, label))
        if order is None or sorted(order) != sorted(cards):
            raise IllegalMove("the other world shuffles what this one did not")
        return order


def compare_secret(world, emissions, seat, draw, tally):
    """Compare with a world in which another seat made another secret move at one step."""
    game = world.game
    is_secret = SECRET_MOVES.get(game.family)
    places = [
        (at, who)
        for at, chosen in enumerate(world.steps if is_secret else ())
        for who, move in chosen
        if who != seat and is_secret(move)
    ]
    if not places:
        return
    at, who = draw.choice(places)
    hand = game.rules.hand_number(world.states[at])
    shown_of = SHOWN_OF.get(game.family, lambda move: None)
    made = dict(world.steps[at])[who]
    legal = game.rules.moves(world.states[at], who)
    alike = [legal.sample(draw.randrange) for _ in range(OTHER_MOVES)]
    alike = [move for move in alike if is_secret(move) and shown_of(move) == shown_of(made)]
    if not alike or game.rules.hand_number(world.states[at + 1]) != hand:
        return
    chosen = tuple((each, alike[0] if each == who else move) for each, move in world.steps[at])
    other = replay_on(world, at, chosen, Fixed(world.orders))
    if not other:
        tally.skipped += 1
        return
    phase = phase_of(game, world.states[at + 1], seat)
    note(world, emissions, seat, at + 1, other, phase, tally, (at, who))


def replay_on(world, at, chosen, deals):
    """What follows if `chosen` is played at step `at`, for as long as its secret lasts."""
    game = world.game
    try:
        steps = [game.rules.step(world.states[at], chosen, deals)]
        lasting = LASTING.get(game.family)
        while lasting and at + 1 < len(world.steps):
            at += 1
            if phase_of(game, world.states[at], None) != lasting:
                break
            if phase_of(game, world.states[at + 1], None) != lasting:
                break
            steps.append(game.rules.step(steps[-1].state, world.steps[at], deals))
    except IllegalMove:
        return []
    return steps


class WithLots:
    """The shuffles of a world; lots, by which a rule is tried out, are drawn as needed."""

    def __init__(self, world):
        self._fixed = Fixed(world.orders)
        self._lots = SeededDeals("lots")

    def shuffle(self, hand, label, cards):
        deals = self._lots if label.startswith(LOTS) else self._fixed
        return deals.shuffle(hand, label, cards)


def compare_rule(world, emissions, seat, draw, tally):
    """Compare with a world in which the dealer of Eleusis thought of another rule.

    It says the same in other words, or is another one; then the worlds are the same to a
    seat until all learn of a card what the other rule denies.
    """
    rules = world.game.rules
    places = [
        at
        for at, ((who, move), *_) in enumerate(world.steps)
        if isinstance(move, Rule) and who != seat and world.states[at + 1].phase == "play"
    ]
    if not places:
        return
    at = draw.choice(places)
    ((dealer, move),) = world.steps[at]
    hand = rules.hand_number(world.states[at])
    text = draw.choice(
        [f"({move.text}) && true", *(each for each in EXAMPLES if each != move.text)]
    )
    deals = WithLots(world)
    other = [rules.step(world.states[at], ((dealer, Rule(text)),), deals)]
    if other[0].state.phase != "play":
        tally.skipped += 1
        return
    for later in range(at + 1, min(len(world.steps), at + FOLLOWED)):
        after = world.states[later + 1]
        if rules.hand_number(after) != hand or after.phase == "over":
            break  # the rule is told
        step = rules.step(other[-1].state, world.steps[later], deals)
        if rule_told(step.events) != rule_told(world.told[later + 1]):
            break
        other.append(step)
    note(world, emissions, seat, at + 1, other, "rule", tally, text)


def rule_told(told):
    """What all learn of the rule from these events."""
    return [event for event, _ in told if type(event).__name__ in RULE_TOLD]


def differs_in_own_cards(world, emissions, seat, draw):
    """Whether a seat sees it when a card of its own changes places with a hidden one.

    None if the seat had no cards of its own just after a deal.
    """
    game = world.game
    deals = [
        at
        for at, orders in enumerate(world.orders)
        if any(not label.startswith(LATER) for _, label in dealing(orders))
    ]
    dealt = draw.choice(deals)
    state = world.states[dealt]
    hidden = set(HIDDEN[game.family](state, seat))
    own = set(HIDDEN[game.family](state, None)) - hidden
    for key, order in dealing(world.orders[dealt]).items():
        # All cards of a face change places with all of another: nobody can tell twins apart.
        faces = Counter(order)
        mine = [card for card in order if card in own]
        if not mine:
            continue
        a = draw.choice(mine)
        theirs = [card for card in order if card in hidden and faces[card] == faces[a]]
        if not theirs:
            continue
        b = draw.choice(theirs)
        swapped = [{a: b, b: a}.get(card, card) for card in order]
        other = replay(world, dealt, dealt, {key: tuple(swapped)})
        if other is None:
            continue
        ours = emissions.of(state, world.told[dealt], seat)
        return ours != emissions.of(*other[0], seat)
    return None


def phase_of(game, state, seat):
    return str(getattr(game.rules.view(state, seat), "phase", ""))


def gate(game, options, seats, *, pairs, worlds, plant=None, emissions=None):
    """Compare at least `pairs` pairs for every seat, spread over `worlds` matches; by default what is sent.

    Moments are drawn so that every phase gets its share.
    """
    emissions, tally = emissions or Emissions(game, plant), Tally()
    everybody = (*range(seats), None)
    for seed in range(worlds):
        world = play_world(game, options, seats, seed)
        draw = random.Random(f"pairs {game.id} {seats} {seed}")
        by_phase = defaultdict(list)
        for at, state in enumerate(world.states):
            by_phase[phase_of(game, state, None)].append(at)
        for seat in everybody:
            for phase, moments in by_phase.items():
                wanted = tally.pairs[seat, phase] + -(-pairs // worlds)
                for _ in range(TRIES * -(-pairs // worlds)):
                    swaps = draw.choice((1, 1, 2, 52))
                    compare(world, emissions, seat, draw.choice(moments), draw, tally, swaps=swaps)
                    if tally.pairs[seat, phase] >= wanted:
                        break
                compare_secret(world, emissions, seat, draw, tally)
            if game.family == "eleusis" and seed == 0:
                compare_rule(world, emissions, seat, draw, tally)
    return tally
