"""The rows of a ladder: which deal-sets of a bot count for its row, and whether it has met the others.

A bot has one row. By default it is the row of its current version, with the deal-sets since this version began to play.
A bot that changes its version starts with no deal-sets, also if it returns to an earlier version. So an owner cannot
submit a bot twenty times and keep the luckiest result.

A bot that is connected only together with certain others chooses its opponents. So a bot is ranked only if it has met
the others about as often as they played.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.contests.plan import LadderRow
from arena.results.deal_sets import HOUSE, DealSet, bot_of

EARLIER: Final = " (earlier)"
"""The suffix of the name of a version that plays again, for its deal-sets before another version played."""

LEAST_MET: Final = 0.6
"""The least `Meetings.share` of a ranked bot."""


def with_rows(
    deal_sets: Sequence[DealSet], row: LadderRow
) -> tuple[tuple[DealSet, ...], frozenset[str]]:
    """Name the players of complete deal-sets after their rows.

    Args:
      deal_sets: In the order of their draw.
      row: What has a row.

    Returns:
      The deal-sets with these names, and the players that may be ranked: one for each bot.
    """
    current: dict[str, str] = {}
    changed: set[str] = set()
    named = []
    for deal_set in reversed(deal_sets):
        names = {HOUSE: HOUSE}
        for player in deal_set.bots:
            bot = bot_of(player)
            if row is LadderRow.ALL_VERSIONS:
                names[player] = current[bot] = bot
                continue
            if current.setdefault(bot, player) != player:
                changed.add(bot)
            again = bot in changed and current[bot] == player
            names[player] = player + EARLIER if again else player
        named.append(_renamed(deal_set, names))
    return tuple(reversed(named)), frozenset(current.values()) - {HOUSE}


def _renamed(plan: DealSet, names: Mapping[str, str]) -> DealSet:
    return replace(
        plan,
        bots=tuple(names[bot] for bot in plan.bots),
        matches=tuple(
            replace(match, bots=tuple(names[bot] for bot in match.bots)) for match in plan.matches
        ),
    )


@dataclass(frozen=True, slots=True)
class Meetings:
    """The bots that the player of a row has met since its first deal-set."""

    met: int
    """The number of different bots."""
    opponents: int
    """The number of bots of other owners that have played since then."""
    share: float
    """How evenly its meetings are spread over the opponents, from 0 to 1, relative to how often these played.

    It is the sum over all opponents of the smaller of two shares, that of the player's meetings and that of all
    deal-sets, divided by the largest sum that so many meetings allow.
    """


def meetings(
    plans: Sequence[DealSet], players: Collection[str], owner_of: Mapping[str, str]
) -> dict[str, Meetings]:
    """Return the meetings of each player.

    Args:
      plans: Complete deal-sets in the order of their draw.
      players: Those of `with_rows`.
      owner_of: The owner of each bot; meetings of bots of one owner are not counted.
    """
    first = {bot: at for at in reversed(range(len(plans))) for bot in plans[at].bots}
    met: dict[str, Counter[str]] = defaultdict(Counter)
    played: Counter[str] = Counter()
    of_player = {}
    for at in reversed(range(len(plans))):
        bots = set(plans[at].bots) - {HOUSE}
        played.update(map(bot_of, bots))
        for player in bots & set(players):
            together = {
                bot for match in plans[at].matches if player in match.bots for bot in match.bots
            }
            met[player].update(bot_of(bot) for bot in together - {player, HOUSE})
            if first[player] == at:
                owner = owner_of.get(bot_of(player))
                others = {
                    bot: number for bot, number in played.items() if owner_of.get(bot) != owner
                }
                met_others = Counter({bot: met[player][bot] for bot in others})
                share = _share(met_others, others)
                of_player[player] = Meetings(len(+met_others), len(others), share)
    return of_player


def _share(met: Counter[str], others: Mapping[str, int]) -> float:
    total, all_played = met.total(), sum(others.values())
    if not total or not all_played:
        return 0.0
    due = {bot: number / all_played for bot, number in others.items()}
    spread = sum(min(met[bot] / total, share) for bot, share in due.items())
    most = sum(min(1 / total, share) for share in sorted(due.values())[-total:])
    return spread / (most if total < len(due) else 1.0)
