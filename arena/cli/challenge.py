"""`arena challenge`: unrated matches of a bot against a bot that accepts them."""

import click

from arena.cli.arena_client import Server, owner_options
from arena.cli.comparisons import print_comparison, requested
from arena.cli.options import ChosenTerms, GameType, json_option, terms_options
from arena.games.game import Game
from arena.referee.wire.terms import terms_message
from cardarena.v1 import comparisons_pb2


@click.command(
    epilog="""\b
Examples:
  arena challenge my-bot rival --game klaberjass
  arena challenge my-bot house-search-20ms --game loo --seats 6
  arena challenge my-bot@7 rival --game soko --deal-sets 32 --follow

\b
A bot accepts as many challenges a day as `accepts_challenges` of the game in its bot.toml
says. The arena's own bots, and bots that have won a competition of the game, accept always.
`arena comparisons` lists challenges too, and cancels them.
"""
)
@click.argument("bot", metavar="BOT")
@click.argument("opponent", metavar="OPPONENT")
@click.option("--game", required=True, type=GameType(), help="The game that they play.")
@click.option(
    "--seats",
    type=int,
    help="Seats at a table; the arena's own bots fill the others.  [default: the fewest of the game]",
)
@click.option(
    "--deal-sets",
    default=16,
    type=click.IntRange(1, 64),
    help="Largest number of deal-sets; fewer are played where fewer decide.",
)
@click.option("--follow", is_flag=True, help="Wait until it has ended.")
@terms_options
@json_option
@owner_options
def challenge(
    *,
    bot: str,
    opponent: str,
    game: Game,
    seats: int | None,
    deal_sets: int,
    follow: bool,
    chosen: ChosenTerms,
    as_json: bool,
    server: Server,
) -> None:
    """Challenge OPPONENT, another owner's bot or one of the arena's own, with your submitted BOT.

    The arena plays matches in which both see the same cards from the same seats. They are not rated. The same challenge
    on the same day (UTC) shows how far it is, and adds deal-sets if it asks for more.
    """
    terms = chosen.of(game, seats, seeded=False, shortest=True)
    request = comparisons_pb2.CreateComparisonRequest(
        first=bot,
        second=opponent,
        terms=terms_message(terms),
        max_deal_sets=deal_sets,
        challenge=True,
    )
    print_comparison(requested(server, request, follow=follow, quiet=as_json), as_json=as_json)
