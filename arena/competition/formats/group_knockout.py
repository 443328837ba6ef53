"""Knockout at larger tables: the upper half of each group advances, until one table is left."""

from collections.abc import Sequence

from arena.competition.rounds import DrawError, Group


def draw_round(seeds: Sequence[str], seats: int) -> tuple[tuple[Group, ...], Group]:
    """The groups of a round, and the byes; `seeds` are the bots that are still in, best first.

    Raises:
      DrawError: if they do not fill one table.
    """
    if len(seeds) < seats:
        raise DrawError(f"a table of {seats} seats needs {seats} bots; {len(seeds)} are in")
    byes = len(seeds) % seats
    return snake(seeds[byes:], (len(seeds) - byes) // seats), tuple(seeds[:byes])


def through(
    rankings: Sequence[Sequence[str]], byes: Sequence[str], seeds: Sequence[str], seats: int
) -> Group:
    """The bots that advance after a round, in order of seed; after the last table, its winner.

    `rankings` are the groups, best bot first. If fewer than a table would be left, the next bots by place and
    then seed advance too.
    """
    seed = {name: at for at, name in enumerate(seeds)}
    if len(rankings) == 1 and not byes:
        return (rankings[0][0],)
    going = [*byes, *(bot for ranking in rankings for bot in ranking[: len(ranking) // 2])]
    others = sorted(
        (place, seed[bot], bot)
        for ranking in rankings
        for place, bot in enumerate(ranking)
        if place >= len(ranking) // 2
    )
    going += [bot for _, _, bot in others[: max(0, seats - len(going))]]
    return tuple(sorted(going, key=seed.__getitem__))


def snake(seeds: Sequence[str], groups: int) -> tuple[Group, ...]:
    """Groups of about the same strength, dealt in snake order."""
    dealt: list[list[str]] = [[] for _ in range(groups)]
    for at, name in enumerate(seeds):
        turn, place = divmod(at, groups)
        dealt[groups - 1 - place if turn % 2 else place].append(name)
    return tuple(map(tuple, dealt))
