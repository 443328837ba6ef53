"""`arena competition overall`: bots ranked across games, from the games that they play."""

import functools
from collections.abc import Mapping, Sequence

import click

from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.referee.wire.enums import word_of
from arena.results.overall import (
    LEAST_GAMES,
    GameScore,
    OverallStandings,
    newest_scores,
    overall_standings,
    rank_of_standings,
)


@click.command(
    epilog="""\b
Examples:
  arena competition overall
  arena competition overall spring autumn --least-games 2
  arena competition overall --json | jq '.rows[0]'
"""
)
@click.argument("names", nargs=-1, metavar="[COMPETITION]...")
@click.option(
    "--least-games",
    type=click.IntRange(1),
    default=LEAST_GAMES,
    show_default=True,
    help="Give no place to bots that are ranked in fewer games.",
)
@json_option
@read_options
def overall(
    *, client: CompetitionClient, names: Sequence[str], least_games: int, as_json: bool
) -> None:
    """Rank bots across games: the mean of a bot's scores in the games that it plays, in spreads of each game.

    Each game counts alike, and a game that a bot does not enter costs nothing. The scores of a game are those of its
    ladder that runs, or otherwise of the newest competition that ranks two bots in it, those by skill first; either all
    competitions count or the named ones. Bots in few games, and those with an interval wider than ± 2, are listed below
    without a place.
    """
    every = [client.show(name) for name in names] or client.all()
    every.sort(
        key=lambda one: (
            rank_of_standings(word_of(one, "format"), word_of(one, "state")),
            -one.created_unix_ms,
        )
    )
    games = newest_scores(
        (
            # Lists of competitions do not have their games.
            [game.game for game in client.show(one.name).games],
            functools.partial(client.standings, one.name),
        )
        for one in every
    )
    standings = overall_standings(games, least_games=least_games)
    if as_json:
        print_json({"games": list(games)} | standings.as_json())
    elif any(standings):
        _print(standings, games)
    else:
        say("No two bots are ranked in a game yet.")


def _print(standings: OverallStandings, games: Mapping[str, Sequence[GameScore]]) -> None:
    table = [
        (
            place,
            row.bot,
            f"{row.score:+.2f}",
            "" if row.half_width is None else f"{row.half_width:.2f}",
            f"{row.presence} of {len(games)}",
            ", ".join(f"{game} {score:+.2f}" for game, score in row.by_game.items()),
        )
        for place, row in (
            *enumerate(standings.placed, 1),
            *(("", row) for row in standings.without_place),
        )
    ]
    print_table(("", "bot", "score", "± 95 %", "games", "by game"), table, wrapped=("by game",))
