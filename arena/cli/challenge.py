"""`arena challenge`: unrated matches of a bot against a bot that accepts them."""

import click

from arena.cli.arena_client import Server, owner_options
from arena.cli.comparisons import print_comparison, print_received, print_stopped, requested
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
  arena challenge --received
  arena challenge --decline 12

\b
A bot accepts as many challenges a day as `accepts_challenges` of the game in its bot.toml
says. The arena's own bots, and bots that have won a competition of the game, accept always.
`arena comparisons` lists the challenges that you made, and cancels them.
"""
)
@click.argument("bot", metavar="BOT", required=False)
@click.argument("opponent", metavar="OPPONENT", required=False)
@click.option("--game", type=GameType(), help="The game that they play.")
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
@click.option("--received", is_flag=True, help="List other owners' challenges of your bots.")
@click.option(
    "--decline",
    type=click.IntRange(1),
    metavar="ID",
    help="Stop a challenge of one of your bots, which then ends undecided.",
)
@terms_options
@json_option
@owner_options
def challenge(
    *,
    bot: str | None,
    opponent: str | None,
    game: Game | None,
    seats: int | None,
    deal_sets: int,
    follow: bool,
    received: bool,
    decline: int | None,
    chosen: ChosenTerms,
    as_json: bool,
    server: Server,
) -> None:
    """Challenge OPPONENT, another owner's bot or one of the arena's own, with your submitted BOT.

    The arena plays matches in which both see the same cards from the same seats. They are not rated. The same challenge
    on the same day (UTC) shows its progress, and adds deal-sets if it requests more.
    """
    if received or decline is not None:
        if (received and decline is not None) or bot or game:
            raise click.UsageError("give --received or --decline ID alone")
        if decline is None:
            print_received(server, as_json=as_json)
        else:
            print_stopped(server, decline, as_json=as_json)
        return
    if not (bot and opponent and game):
        raise click.UsageError(
            "name your bot, the opponent and --game, or give --received or --decline ID"
        )
    terms = chosen.of(game, seats, seeded=False, shortest=True)
    request = comparisons_pb2.CreateComparisonRequest(
        first=bot,
        second=opponent,
        terms=terms_message(terms),
        max_deal_sets=deal_sets,
        challenge=True,
    )
    print_comparison(requested(server, request, follow=follow, quiet=as_json), as_json=as_json)
