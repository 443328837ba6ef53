"""Golden matches: whole matches by `tests.goldens.bots`, of which all that shows is digested.

`matches.toml` lists the matches of every game; `<game>.digests` holds what they
were. A step's mark is two hex digits and a hand's digest twelve, so that a
difference is named by match, hand and step without the text of all matches:

    match bot=rare seats=2 seed=7 hands=4
    hand 0 3fa2c1d4e5f6 0a1b2c3d
    result scores=(7, 4) places=(1, 2) hand_scores=(...)
"""

import dataclasses
import hashlib
import random
import tomllib
from enum import Enum
from functools import cache
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import get_args

from arena.games.cards import CANONICAL
from arena.games.contract import BadOptions, IllegalMove, work_of
from arena.testing.deals import SeededDeals
from tests.goldens.bots import bots

FOLDER = Path(__file__).parent
MOST_STEPS = 2_000
"""A match is cut here; none of the list is as long."""
POOL = 200
"""Moves seen in a match from which others are tried."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """One match of the list."""

    bot: str
    seats: int
    seed: int
    options: tuple[tuple[str, object], ...] = ()
    slow: bool = False
    """Whether a run that names nothing leaves it out."""

    def __str__(self):
        words = {"bot": self.bot, "seats": self.seats, "seed": self.seed, **dict(self.options)}
        return "match " + " ".join(f"{name}={value}" for name, value in words.items())


@dataclasses.dataclass(frozen=True)
class Seen:
    """All that showed of one step."""

    hand: int
    text: str
    """A line for each thing: who is asked what, chosen, refused, told and viewed."""

    @property
    def mark(self):
        return hashlib.sha256(self.text.encode()).hexdigest()[:2]


def _digested(events):
    """The events of a step as text. The digests are made of it, so it never changes."""
    sent = [f"Told(event={event.event!r}, seats={event.sent_to!r})" for event in events]
    return f"({', '.join(sent)}{',' * (len(sent) == 1)})"


class Played:
    """A match step by step, and its result when all were taken."""

    def __init__(self, game, plan):
        self.game, self.plan = game, plan
        self.result = None
        self._draw = random.Random(f"{game.id} {plan}")
        self._pool = {}
        kinds = get_args(game.messages.Move) or (game.messages.Move,)
        self._bare = [kind() for kind in kinds if not dataclasses.fields(kind)]

    def __iter__(self):
        game, plan, rules = self.game, self.plan, self.game.rules
        deals = SeededDeals(f"golden {plan.seed}")
        players = bots(plan.bot, plan.seats, self._draw)
        try:
            options = game.options(dict(plan.options), plan.seats)
            state, events = rules.start(options, plan.seats, deals)
        except BadOptions as error:
            yield Seen(0, f"bad options: {error}")
            return
        yield Seen(0, "\n".join([_digested(events), *self._shown(state)]))
        chosen = ()
        for _ in range(MOST_STEPS):
            acting = rules.to_act(state)
            if not acting:
                self.result = rules.result(state)
                late = _refusal(rules, state, chosen, deals)
                yield Seen(rules.hand_number(state), f"after the end: {late}")
                return
            lines = []
            chosen = tuple((seat, players[seat].choose(rules, state, seat)) for seat in acting)
            for at, (seat, move) in enumerate(chosen):
                lines += self._asked(state, seat, move)
                lines += self._refused(state, chosen, at, deals)
            hand = rules.hand_number(state)
            state, events = rules.step(state, chosen, deals)
            yield Seen(hand, "\n".join([*lines, _digested(events), *self._shown(state)]))

    def _shown(self, state):
        rules = self.game.rules
        yield f"hand {rules.hand_number(state)} to act {rules.to_act(state)} {rules.result(state)}"
        for seat in (*range(self.plan.seats), None):
            yield f"view {seat} {rules.view(state, seat)}"

    def _asked(self, state, seat, move):
        rules = self.game.rules
        legal = rules.moves(state, seat)
        offered = legal.offered
        for each in offered if len(offered) < POOL else self._draw.sample(offered, 8):
            self._pool[each] = None
        yield f"ask {seat} {legal.count()} {legal.complete} {rules.fallback(state, seat)}"
        yield " ".join(map(written, offered))
        yield f"sample {legal.sample(random.Random(seat).randrange)}"
        yield f"chosen {move} {move in legal} {work_of(rules, state, seat, move)}"

    def _refused(self, state, chosen, at, deals):
        """What becomes of moves that may be illegal: others of the match, and spoiled ones."""
        rules, draw = self.game.rules, self._draw
        seat, move = chosen[at]
        legal = rules.moves(state, seat)
        while len(self._pool) > POOL:
            del self._pool[draw.choice(list(self._pool))]
        pool = list(self._pool)
        tried = [draw.choice(pool), draw.choice(pool)]
        tried += [spoiled(move, pool, draw), spoiled(draw.choice(pool), pool, draw)]
        if self._bare:
            tried.insert(draw.randrange(4), draw.choice(self._bare))
        refused = None
        for attempt in tried:
            inside = attempt in legal
            yield f"try {attempt} {inside}"
            refused = refused if inside or refused else attempt
        if refused is not None:
            spoiled_choice = (*chosen[:at], (seat, refused), *chosen[at + 1 :])
            yield f"refused {_refusal(rules, state, spoiled_choice, deals)}"
        wrong = (*chosen[:at], ((seat + 1) % self.plan.seats, move), *chosen[at + 1 :])
        yield f"of another seat: {_refusal(rules, state, wrong, deals)}"


def _refusal(rules, state, chosen, deals):
    """What is said of a step that the rules do not allow."""
    try:
        rules.step(state, chosen, deals)
    except IllegalMove as error:
        return error
    raise AssertionError(f"{chosen} is illegal, and was played")


@cache
def written(move):
    return repr(move)


def spoiled(move, pool, draw):
    """The move with one field changed to another value of its type."""
    fields = dataclasses.fields(move)
    if not fields:
        return draw.choice(pool)
    name = draw.choice(fields).name
    value = getattr(move, name)
    alike = [getattr(candidate, name) for candidate in pool if type(candidate) is type(move)]
    if not alike or draw.random() < 0.7:
        alike = [_changed(value, draw)]
    return dataclasses.replace(move, **{name: draw.choice(alike)})


def _changed(value, draw):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice((value - 1, value + 1, value + 2, 0, 1_000_000))
    if isinstance(value, Enum):
        return draw.choice(list(type(value)))
    if isinstance(value, str):
        return draw.choice(list(CANONICAL)) if value in CANONICAL else f"{value} "
    if isinstance(value, tuple):
        return _changed_list(value, draw)
    return value


def _changed_list(values, draw):
    if not values:
        return (draw.choice(list(CANONICAL)),) if draw.random() < 0.5 else values
    at = draw.randrange(len(values))
    before, one, after = values[:at], values[at], values[at + 1 :]
    return draw.choice(
        (
            before + after,
            (*values, one),
            values[::-1],
            values[1:] + values[:1],
            (*before, _changed(one, draw), *after),
        )
    )


@cache
def plans():
    """The golden matches of every game."""
    listed = tomllib.loads((FOLDER / "matches.toml").read_text("utf-8"))
    return {game_id: tuple(map(plan_of, rows)) for game_id, rows in listed.items()}


def plan_of(row):
    named = {name: row[name] for name in ("bot", "seats", "seed", "slow") if name in row}
    return Plan(
        **named, options=tuple((name, value) for name, value in row.items() if name not in named)
    )


def digests(played):
    """What `<game>.digests` holds of a match, line by line, as it is played."""
    yield str(played.plan)
    for hand, group in groupby(played, attrgetter("hand")):
        steps = list(group)
        digest = hashlib.sha256("\n".join(seen.text for seen in steps).encode()).hexdigest()[:12]
        yield f"hand {hand} {digest} {''.join(seen.mark for seen in steps)}"
    yield f"result {played.result}"


def stored(game):
    """The digests on file, by the match's own line."""
    path = digests_path(game)
    text = path.read_text("utf-8") if path.exists() else ""
    blocks = [block.splitlines() for block in text.split("\n\n")[1:]]
    return {lines[0]: lines for lines in blocks if lines}


def head(game):
    """The first lines of a file of digests: the game, its options' limits, what it refuses."""
    lines = [f"game {game.id}", f"family {game.family}", f"rules_version {game.rules_version}"]
    lines += [f"seats {game.seats}", *map(str, game.settings)]
    low, high = game.seats[0], game.seats[-1]
    for given, seats in (({}, low - 1), ({}, high + 1), ({"hands": low + 1}, low)):
        try:
            game.rules.start(game.options(given, low), seats, SeededDeals("refused"))
        except BadOptions as error:
            lines.append(f"{given} at {seats} seats: {error}")
        else:
            lines.append(f"{given} at {seats} seats")
    return "\n".join(lines) + "\n"


def digests_path(game):
    return FOLDER / f"{game.id}.digests"


def difference(game, plan, expected):
    """Where a match is not as its digests say; None if it is."""
    result = digests(Played(game, plan))
    for old, new in zip_longest(expected, result, fillvalue="nothing"):
        if old != new:
            return f"{game.id}, {plan}: {_where(old, new)}"
    return None


def _where(old, new):
    if not (old.startswith("hand") and new.startswith("hand")):
        return f"was {old}\nis  {new}"
    _, hand, _, before = old.split()
    _, _, _, after = new.split()
    at = next(
        (at for at in range(0, len(before), 2) if before[at : at + 2] != after[at : at + 2]), 0
    )
    return f"hand {hand} differs at its step {at // 2}"
