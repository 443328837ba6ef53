"""Whether leaving pays: bots that leave against twins of theirs that stay, over the same deal-sets.

    python -m tests.results.leavers [GAME…] [--deal-sets N]

prints for each game and each way to leave what the staying twin scores, what the leaver
does, and the chance that the twin is the better, from the table's own errors. Leavers know
what will come: each has played the match to its end as its twin would, and chooses by that.
No real bot can choose better where to leave.

How many deal-sets each game plays is fixed in `PLAN`, before anybody has seen a result: who plays on
until a row looks right proves nothing.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import trio
from trio.testing import MockClock

from arena.games.catalogue import GAMES, game_by_id
from arena.live.matches.results import match_outcome
from arena.referee.seat import Answer
from arena.referee.spec import Outcome
from arena.results.deal_sets import round_robin
from arena.results.ranking import standings
from arena.testing.referee import Reply, Scripted, play, plays_first_move, seeded_spec

STAYS, LEAVES = "stays", "leaves"
OPPONENTS = "any", "first"
HANDS = {2: 4, 3: 3, 5: 5}
"""For each number of seats: everybody deals as often."""
PLAN = {
    **{game.id: 20 for game in GAMES},
    "open_face_chinese_poker": 40,
    "soko": 40,
    **dict.fromkeys(("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"), 60),
    **dict.fromkeys(("loo", "oklahoma_rummy"), 12),
    **dict.fromkeys(("eleusis", "eleusis_express"), 8),
}
"""Deal-sets for each group, by game: more where a match is decided by few hands, fewer where it is long."""
CRASH = Reply(Answer())
"""An answer that chooses nothing, as is sent for a bot that raised an exception."""
QUIT = Reply(leaves=True)


@dataclass(frozen=True)
class Ahead:
    """How a match goes for a seat whose bot stays, known before it is played."""

    hands: tuple[float, ...]
    """The bot's lead over the mean of the others, hand by hand."""

    @classmethod
    def of(cls, outcome: Outcome, seat: int) -> "Ahead":
        others = len(outcome.scores) - 1
        return cls(
            tuple(
                scores[seat] - (sum(scores) - scores[seat]) / others
                for scores in outcome.hand_scores
            )
        )

    def behind(self, hand: int) -> bool:
        """Whether it is behind when this hand begins."""
        return sum(self.hands[:hand]) < 0

    def bad(self, hand: int) -> bool:
        """Whether the hand will be lost."""
        return hand < len(self.hands) and self.hands[hand] < 0


def crashes_always(ahead, hand):
    return CRASH


def quits_when_behind(ahead, hand):
    return QUIT if ahead.behind(hand) else None


def quits_what_it_loses(ahead, hand):
    return QUIT if sum(ahead.hands) < 0 else None


def crashes_on_bad_deals(ahead, hand):
    return CRASH if ahead.bad(hand) else None


WAYS = {
    "crashes always": crashes_always,
    "quits when behind": quits_when_behind,
    "quits what it loses": quits_what_it_loses,
    "crashes on bad deals": crashes_on_bad_deals,
}


@dataclass(frozen=True)
class Found:
    """What leaving came to."""

    game: str
    way: str
    stays: float
    """The official score of the bot that stays."""
    leaves: float
    forfeited: float
    """The share of its tables at which the leaver forfeited."""
    forfeit_points: float
    better: float
    """The chance that the one that stays is the better."""


def plays_any(match_id, seat):
    """Plays any of the offered moves; the same ones each time the match is played."""

    def script(ask):
        draw = random.Random(f"{match_id} {seat} {ask.decision}")
        return Reply(Answer(index=draw.randrange(len(ask.moves.offered))))

    return script


def script_of(bot, match, seat):
    return plays_first_move if bot == "first" else plays_any(match.id, seat)


def leaving(way, ahead, otherwise):
    def script(ask):
        rules = ask.record.asker.spec.terms.game.rules
        return way(ahead, rules.hand_number(ask.record.asker.state)) or otherwise(ask)

    return script


async def played(game, match, boards, way):
    spec = seeded_spec(game.id, len(match.bots), {"hands": HANDS[len(match.bots)]}, seed=boards)
    scripts = [script_of(bot, match, seat) for seat, bot in enumerate(match.bots)]
    outcome = await play(spec, [Scripted(script) for script in scripts])
    if LEAVES in match.bots:
        seat = match.bots.index(LEAVES)
        scripts[seat] = leaving(way, Ahead.of(outcome, seat), scripts[seat])
        outcome = await play(spec, [Scripted(script) for script in scripts])
    found = match_outcome(outcome)
    assert found.has_result
    return found


def trial(game, way, deal_sets):
    """A round robin of a bot that stays, its twin that leaves, and others."""
    seats = game.seats[0]
    others = [*OPPONENTS, *(f"any-{number}" for number in range(2, seats - 1))]
    plan = round_robin([STAYS, LEAVES, *others], seats=seats, deal_sets=deal_sets, seed=way)

    async def all_matches():
        return {
            match.id: await played(game, match, f"{way}/{deal_set.number}", WAYS[way])
            for deal_set in plan
            for match in deal_set.matches
        }

    outcomes = trio.run(all_matches, clock=MockClock(autojump_threshold=0))
    table = standings(plan, outcomes)
    places = {row.bot: at for at, row in enumerate(table.rows)}
    stays, leaves = (table.rows[places[bot]] for bot in (STAYS, LEAVES))
    return Found(
        game.id,
        way,
        stays.score,
        leaves.score,
        leaves.forfeited,
        table.forfeit_points,
        table.better[places[STAYS]][places[LEAVES]],
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.results.leavers")
    parser.add_argument("games", nargs="*", metavar="GAME")
    parser.add_argument(
        "--deal-sets", type=int, metavar="N", help="for each group, in place of the plan"
    )
    told = parser.parse_args(arguments)
    games = [game_by_id(name) for name in told.games] or list(GAMES)
    print("| game | way to leave | deal-sets | stays | leaves | left | W | p |")
    print("|---|---|---|---|---|---|---|---|")
    paid = 0
    for game, way in ((game, way) for game in games for way in WAYS):
        deal_sets = told.deal_sets or PLAN[game.id]
        found = trial(game, way, deal_sets)
        chance = 1 - found.better
        paid += chance >= 0.01
        told_chance = "< .0001" if chance < 1e-4 else f"{chance:.4f}".lstrip("0")
        print(
            f"| {found.game} | {way} | {deal_sets} | {found.stays:+.1f} | {found.leaves:+.1f} "
            f"| {found.forfeited:.0%} | {found.forfeit_points:.1f} | {told_chance} |",
            flush=True,
        )
    return paid


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
