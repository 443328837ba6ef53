"""A long search: `python -m tests.fuzz --minutes 10 [--only NAME]... [--seed N]`."""

import logging
import sys
import time
import traceback

import click

from tests.fuzz import recorded, session_model, sockets
from tests.fuzz.targets import MODEL, TARGETS

NAMES = (*TARGETS, MODEL)


def search(name, seed, until_s):
    """Search one target; the number of rounds."""
    if name == MODEL:
        return session_model.search_until(seed, until_s)
    return TARGETS[name].search(seed, until_s)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--minutes", type=float, default=10.0, show_default=True, help="In all.")
@click.option("--only", "names", type=click.Choice(NAMES), multiple=True,
              help="Fuzz this; may be repeated.")  # fmt: skip
@click.option("--seed", type=int, help="Of all that is random; drawn if it is not given.")
@click.option("--record", is_flag=True, help="Make the recorded files anew, and search nothing.")
@click.option("--list", "listed", is_flag=True, help="Say what there is, and search nothing.")
def main(minutes, names, seed, record, listed):
    r"""Search for inputs that break a promise of the arena's.

    What is found is kept in tests/fuzz/corpus, where scripts/test tries it ever
    after. Exits with 1 if something was found.

    \b
    Examples:
      python -m tests.fuzz --minutes 10
      python -m tests.fuzz --minutes 2 --only replay --only journal --seed 7
    """
    if record:
        recorded.record()
        return
    if listed:
        for target in TARGETS.values():
            click.echo(f"{target.name}: {target.about}")
        click.echo(f"{MODEL}: any order of words, losses and restarts, against a model")
        return
    logging.disable(logging.CRITICAL)
    seed = int(time.time()) % 1_000_000 * 1000 if seed is None else seed
    names, failed = names or NAMES, False
    for name in names:
        began_s = time.monotonic()
        try:
            rounds = search(name, seed, began_s + 60 * minutes / len(names))
        except Exception as error:
            failed = True
            click.echo(f"{name}: FOUND with --seed {seed}")
            traceback.print_exception(error, limit=-4)
        else:
            click.echo(f"{name}: nothing in {rounds} rounds, seed {seed}")
    sockets.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(prog_name="python -m tests.fuzz")
