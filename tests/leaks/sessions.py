"""Two worlds on the wire: all that a bot's streams carry, over cuts and restarts of the arena.

The worlds of `tests.leaks.worlds` are played by bots over streams, once with the packs as they
were and once with cards changed that are hidden from one seat. Whatever reaches that seat's bot
must be the same: welcomes, asks with their clocks, refusals, withdrawn asks, ends of matches.
"""

import random
from collections import Counter

from arena.referee.deal import KeyedDeals
from arena.referee.wire.games import codec_of
from arena.testing.deals import StackedDeals
from arena.testing.orders import match_order
from cardarena.v1 import game_pb2, play_pb2
from tests.leaks.knowledge import HIDDEN
from tests.leaks.worlds import copies_in_play, dealing, play_world, replay, swapped_orders
from tests.live.cuts import CutOff, Killed, Player, World
from tests.live.cuts import orders_of as orders_between

LONGEST = 40
"""Steps of a match that are played here, before it is stopped."""
CUTS = {9: CutOff, 23: Killed, 38: CutOff, 61: Killed, 90: CutOff, 140: Killed}
"""What happens, by boundary."""


class Replaying(Player):
    """A bot that makes the moves of a world, and then says nothing more.

    Where a move is the one that is played for a bot at fault, it does wrong. The bot that is
    looked at asks for refusals as well.
    """

    def __init__(self, seat, world, cut, *, looked_at):
        super().__init__(f"b{seat}", self._moves_on)
        self._looked_at = looked_at
        self._moves = {}
        codec, rules, decisions = codec_of(world.game), world.game.rules, Counter()
        for state, chosen in zip(world.states, world.steps[:cut], strict=False):
            for who, move in chosen:
                decisions[who] += 1
                if who == seat:
                    wrong = decisions[who] % 3 == 0 and move == rules.fallback(state, who)
                    encoded = codec.game_move(move)
                    self._moves[decisions[who]] = None if wrong else encoded

    def _moves_on(self, ask):
        decision = ask.ask_id & 0xFFFFF
        if self._looked_at:
            unknown = play_pb2.Answer(ask_id=ask.ask_id + (decision << 21), index=1)
            again = play_pb2.Answer(ask_id=ask.ask_id - 1, index=300 + decision)
            self.say(answers=play_pb2.Answers(answers=[unknown, again][: decision % 3]))
        if decision not in self._moves:
            return None
        if self._moves[decision] is None:
            return play_pb2.Answer(ask_id=ask.ask_id, index=400)
        move = game_pb2.GameMove.FromString(self._moves[decision])
        return play_pb2.Answer(ask_id=ask.ask_id, move=move)


def other_packs(world, seat, cut, draw):
    """Shuffles of a world that looks the same to `seat` up to `cut`; None if there is none."""
    game, state = world.game, world.states[cut]
    hand = game.rules.hand_number(state)
    dealt = [
        at
        for at in range(cut + 1)
        if any(number == hand for number, _ in dealing(world.orders[at]))
    ]
    if not dealt:
        return None
    at = draw.choice(dealt)
    hidden = Counter(HIDDEN[game.family](state, seat))
    copies = copies_in_play(world.orders[: cut + 1], hand)
    changed = swapped_orders(
        dealing(world.orders[at]), hidden, copies, draw, draw.choice((1, 3, 52))
    )
    if changed is None or replay(world, at, cut, changed) is None:
        return None
    return changed


def played(folder, monkeypatch, world, seat, cut, changed):
    """Play a world over streams up to `cut`; the bot that sits at `seat`, and all decisions."""

    def deals(key):
        return StackedDeals(changed, KeyedDeals(key))

    game, seats, seed = world.game, world.seats, world.seed
    players = [Replaying(at, world, cut, looked_at=at == seat) for at in range(seats)]
    (order,) = orders_between(game.id, players, 1, {}, seed=seed)
    order = match_order(
        game.id,
        [player.name for player in players],
        world.given,
        time_control=order.terms.time_control,
        seed=seed,
        match_id=order.deal_set,
    )
    with monkeypatch.context() as patch:
        patch.setattr("arena.live.matches.starting.KeyedDeals", deals)
        patch.setattr("arena.records.read.KeyedDeals", deals)
        there = World(folder, players, [order], CUTS)
        there.ends_idle = True
        there.run()
    return players[seat], there.decided


def pairs(folder, monkeypatch, game, seats, wanted):
    """Compare pairs of worlds of a game; the pairs compared and skipped, and the differences."""
    given = {"hands": seats}
    compared, skipped, differences = 0, 0, []
    for number in range(3):
        world = play_world(game, game.options(given, seats), seats, number)
        world.seed, world.given = f"leaks {game.id} {number}", given
        draw = random.Random(f"sessions {game.id} {seats} {number}")
        for _ in range(8 * wanted):
            if compared >= wanted:
                return compared, skipped, differences
            seat = draw.randrange(seats)
            last = min(len(world.steps), LONGEST)
            cut = draw.randrange(min(4, last - 1), last)
            changed = other_packs(world, seat, cut, draw)
            if changed is None:
                continue
            folders = (folder / f"{number}-{compared}-{skipped}-{name}" for name in "ab")
            told, decided = zip(
                *(
                    played(each, monkeypatch, world, seat, cut, change)
                    for each, change in zip(folders, ({}, changed), strict=True)
                ),
                strict=True,
            )
            if decided[0] != decided[1]:
                skipped += 1
                continue
            compared += 1
            one, other = (player.frames for player in told)
            if one != other:
                differences.append((game.id, seat, cut, changed, first_difference(one, other)))
    return compared, skipped, differences


def first_difference(one, other):
    """The first two messages that differ."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return [play_pb2.ArenaMessage.FromString(each) for each in (a, b)]
    return len(one), len(other)
