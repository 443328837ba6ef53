"""The chaos suite from the command line: `scripts/chaos [--only NAME] [--quick]`."""

import asyncio
import json
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from tests.attack import scenarios
from tests.chaos.case import Violation
from tests.chaos.report import Report
from tests.chaos.scenarios import SCENARIOS as FAULTS

SCENARIOS = {**FAULTS, **scenarios.SCENARIOS}
PLAIN_COLUMNS = 100
"""Width where the output is not a terminal."""
SHOWN = 10
"""Violations of a scenario that are written out."""

_out = Console() if sys.stdout.isatty() else Console(width=PLAIN_COLUMNS)
_err = Console(stderr=True)


def play(name, seed, quick, given):
    """One scenario's report, with `given` in place of its size. Whatever it stumbles over is
    a violation.
    """
    scenario = SCENARIOS[name]
    size = {**(scenario.quick if quick else scenario.full), **given}
    try:
        return asyncio.run(scenario.play(seed, **size))
    except Exception as error:
        _err.print(traceback.format_exc(), markup=False, highlight=False)
        what = f"{type(error).__name__}: {error}"
        return Report(violations=[Violation("the scenario comes to its end", what)])


def command(name, seed, quick, given=None):
    """What repeats a scenario."""
    sizes = "".join(f" --size {what}={size:g}" for what, size in (given or {}).items())
    return f"scripts/chaos --only {name} --seed {seed}{sizes}{' --quick' if quick else ''}"


def sizes_of(sizes, names):
    """For each scenario the sizes that are its own.

    Raises:
      click.BadParameter: if one is no number, or belongs to no scenario that is run.
    """
    for size in sizes:
        what, _, number = size.partition("=")
        try:
            value = float(number)
        except ValueError:
            raise click.BadParameter(f"{size!r} is not WHAT=N", param_hint="--size") from None
        own = [name for name in names if isinstance(SCENARIOS[name].full.get(what), int | float)]
        if not own:
            raise click.BadParameter(f"no scenario has a size {what!r}", param_hint="--size")
        yield from ((name, {what: int(value) if value.is_integer() else value}) for name in own)


def show(name, report, took_s, repeat):
    """Print what a scenario found, and what did not hold."""
    table = Table(title=f"{name}  ({took_s:.0f} s)", title_justify="left")
    table.add_column("figure", ratio=1)
    for head in ("value", "unit", "target", "met"):
        table.add_column(head, justify="right", no_wrap=True)
    for figure in report.figures:
        value = f"{figure.value:,.3f}" if isinstance(figure.value, float) else f"{figure.value:,}"
        met = {None: "", True: "yes", False: "NO"}[figure.met]
        table.add_row(figure.what, value, figure.unit, figure.target, met)
    _out.print(table)
    if report.held:
        return
    for broken, times in Counter(each.invariant for each in report.violations).items():
        _out.print(f"BROKEN  {broken}: {times} times", markup=False)
    for violation in report.violations[:SHOWN]:
        _out.print(f"  {violation.where}", markup=False, highlight=False)
    _out.print(f"repeat it with: {repeat}", markup=False)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  scripts/chaos --quick
  scripts/chaos --only killed-server --seed 7
  scripts/chaos --only killed-server --size kills=25
  scripts/chaos --attack
  scripts/chaos --soak --minutes 60
  scripts/chaos --connections 10000
  scripts/chaos --json > chaos.json
""",
)
@click.option("--only", "names", type=click.Choice(sorted(SCENARIOS)), multiple=True,
              help="Run this scenario; may be repeated.")  # fmt: skip
@click.option("--attack", is_flag=True, help="Run the floods.")
@click.option("--soak", is_flag=True, help="Run the day on a mock clock and the soak.")
@click.option("--minutes", type=float, help="How long the soak is.  [default: 10]")
@click.option("--connections", type=int, metavar="N", help="Hold so many idle streams open.")
@click.option("--size", "sizes", multiple=True, metavar="WHAT=N",
              help="In place of a scenario's own size, as kills=25; may be repeated.")  # fmt: skip
@click.option("--quick", is_flag=True, help="The short form, as in scripts/test.")
@click.option("--seed", type=int, help="Of all that is random; drawn if it is not given.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON instead.")
@click.option("--list", "listed", is_flag=True, help="Say what there is, and run nothing.")
def main(names, attack, soak, minutes, connections, sizes, quick, seed, as_json, listed):
    """Kill, freeze, cut and fill up a real arena, and check what it promises.

    Exits with 1 if an invariant was broken. A target that was missed is shown.
    """
    if listed:
        for scenario in SCENARIOS.values():
            _out.print(f"{scenario.name}: {scenario.about}", markup=False, highlight=False)
        return
    seed = int(time.time()) % 1_000_000 if seed is None else seed
    given = {}
    if attack:
        names += scenarios.ATTACK
    if soak:
        names += scenarios.SOAK
    if minutes is not None:
        given["soak"] = {"minutes": minutes}
    if connections is not None:
        names += scenarios.CONNECTIONS
        given["connections"] = {"streams": connections}
    names = tuple(dict.fromkeys(names))
    for name, size in sizes_of(sizes, names or SCENARIOS):
        given.setdefault(name, {}).update(size)
    found = {}
    for name in names or SCENARIOS:
        _err.print(f"{name} ...", markup=False, highlight=False)
        began_s = time.monotonic()
        report = play(name, seed, quick, given.get(name, {}))
        repeat = command(name, seed, quick, given.get(name))
        took_s = time.monotonic() - began_s
        found[name] = {
            "seed": seed,
            "seconds": round(took_s, 1),
            "figures": [asdict(figure) for figure in report.figures],
            "violations": [asdict(violation) for violation in report.violations],
            "repeat": repeat,
        }
        if not as_json:
            show(name, report, took_s, repeat)
    if as_json:
        click.echo(json.dumps({"quick": quick, "scenarios": found}, indent=2))
    sys.exit(1 if any(each["violations"] for each in found.values()) else 0)


if __name__ == "__main__":
    main(prog_name="scripts/chaos")
