"""Measures whether a bot is stronger than the others at its table, in every game: `scripts/strength`.

The bot is the sample bot of the game, or the house bot of a level; the others are sample bots, house bots of a level, pick any
of the offered moves, or always the first.

Each trial is a tournament as `arena tournament` plays it: a real server, bots
that dial in as processes of their own, and complete deal-sets, so that the
luck of the deal cancels. The margin is what the bot scores in a match ahead of
the mean of the others at its table, with its 95 % interval.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from arena.games.catalogue import GAMES
from arena.house.levels import STEPS
from arena.rating import student_t

_MOVE_S = 600
"""So long that no bot is late on a busy machine: what is measured is how it plays."""

SAMPLE_BOTS = Path(__file__).resolve().parent.parent / "sample_bots"
SAMPLE = "sample"
"""The sample bot of the game."""
OTHERS = {"random": "random_bot.py", "first": "first_bot.py"}
"""Who may sit in all other seats, beside the sample bot."""
HOUSE = tuple(f"house:{level}" for level in STEPS)

BETTER = "better"


@dataclass(frozen=True, slots=True)
class Trial:
    """One sample bot at one game, against the same bot in all other seats."""

    game: str
    bot: str
    """A file of sample_bots."""
    seats: int = 2
    deal_sets: int = 20
    options: Mapping[str, object] = field(default_factory=dict)


_CHOSEN = (
    Trial("abstrac", "abstrac.py"),
    Trial("abstrac_suit", "abstrac.py"),
    Trial("abstrac_unfettered", "abstrac.py"),
    Trial("abstrac_fiftytwo", "abstrac.py"),
    Trial("democracy", "democracy.py", seats=3, options={"hands": 3}),
    Trial("chinese_poker", "chinese_poker.py", options={"hands": 4}),
    Trial("arlington", "arlington.py", seats=3, options={"hands": 3}),
    Trial("jam", "jam.py", options={"hands": 2}),
    Trial("open_face_chinese_poker", "open_face_chinese_poker.py", options={"hands": 2}),
    Trial("klaberjass", "klaberjass.py", options={"hands": 6}),
    Trial("sixty_six", "sixty_six.py", options={"hands": 4}),
    Trial("loo", "loo.py", seats=5, options={"hands": 5}),
    Trial("oklahoma_rummy", "oklahoma_rummy.py", options={"hands": 4}),
    Trial("eleusis", "eleusis.py", seats=4, options={"hands": 4}),
    Trial("eleusis_express", "eleusis.py", seats=4, options={"hands": 4}),
    Trial("soko", "soko.py", options={"hands": 10}),
    Trial("pineapple", "pineapple.py", options={"hands": 6}),
    Trial("crazy_pineapple", "pineapple.py", options={"hands": 6}),
    Trial("crazy_pineapple_hi_lo", "pineapple.py", options={"hands": 6}),
)


def _trials():
    """A trial of every game; where none was chosen above, of two deals by each seat."""
    chosen = {trial.game: trial for trial in _CHOSEN}
    for game in GAMES:
        seats = game.seats[0]
        default = Trial(game.id, f"{game.family}.py", seats, options={"hands": 2 * seats})
        yield chosen.get(game.id, default)


TRIALS = tuple(_trials())


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a trial."""

    game: str
    bot: str
    seats: int
    margin: float | None
    """Points a match ahead of the mean of the others; None if nothing can be told."""
    half_width_95: float | None
    p: float | None
    """The chance of such a margin, by a t test of one side, if the bot were as strong as the others."""
    deal_sets: int
    faults: Mapping[str, int]
    verdict: str
    """`better`, or what is wrong."""


def main() -> int:
    """Run the trials that the command line names; 1 if a bot is not surely better."""
    arguments = _arguments()
    trials = [each for each in TRIALS if not arguments.games or each.game in arguments.games]
    try:
        findings = measure(trials, arguments)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except subprocess.CalledProcessError:
        return 1  # the command said why
    Console().print(_table(findings, arguments))
    if arguments.json:
        said = {
            "seed": arguments.seed,
            "bot": arguments.bot,
            "against": arguments.against,
            "trials": [asdict(each) for each in findings],
        }
        try:
            arguments.json.write_text(json.dumps(said, indent=2) + "\n", "utf-8")
        except OSError as error:
            print(f"strength: cannot write {arguments.json}: {error.strerror}", file=sys.stderr)
            return 1
    return 0 if all(each.verdict == BETTER for each in findings) else 1


def measure(trials: Sequence[Trial], arguments: argparse.Namespace) -> list[Finding]:
    """Play the trials one after the other."""
    with tempfile.TemporaryDirectory(prefix="arena-strength-") as folder:
        found = []
        for trial in trials:
            words = _tournament(trial, arguments)
            command = [sys.executable, "-m", "arena", *words, "--data", folder]
            played = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            found.append(finding(trial, json.loads(played.stdout)["games"][0]))
    return found


def finding(trial: Trial, standings: Mapping[str, Any]) -> Finding:
    """The margin and verdict of a trial, from its game's standings."""
    (row,) = (row for row in standings["rows"] if row["bot"] == MEASURED)
    # Skill counts from the mean of all at the table; the bot's own share comes off that mean.
    scale = trial.seats / (trial.seats - 1)
    margin = None if row["score"] is None else row["score"] * scale
    half_width = None if row["half_width_95"] is None else row["half_width_95"] * scale
    return Finding(
        game=trial.game,
        bot=trial.bot,
        seats=trial.seats,
        margin=margin,
        half_width_95=half_width,
        p=_p(margin, half_width, row["deal_sets"]),
        deal_sets=row["deal_sets"],
        faults=row["faults"],
        verdict=_verdict(margin, half_width, row["faults"], standings["problem"]),
    )


MEASURED = "measured"
"""The name of the bot in its tournament."""


def _p(margin: float | None, half_width: float | None, deal_sets: int) -> float | None:
    if margin is None or not half_width or deal_sets < 2:
        return None
    freedom = deal_sets - 1
    return 1 - student_t.cdf(margin / half_width * student_t.quantile(0.975, freedom), freedom)


def _verdict(
    margin: float | None, half_width: float | None, faults: Mapping[str, int], problem: str
) -> str:
    if margin is None or half_width is None:
        return problem or "too few deal-sets to tell"
    if margin + half_width < 0:
        return "worse"
    if margin - half_width <= 0:
        return "not told apart"
    return "commits faults" if faults else BETTER


def _tournament(trial: Trial, arguments: argparse.Namespace) -> list[str]:
    """The command that plays a trial."""
    sample, against = str(SAMPLE_BOTS / trial.bot), arguments.against
    other = against if against in HOUSE else str(SAMPLE_BOTS / OTHERS.get(against, trial.bot))
    bots = [f"{MEASURED}={sample if arguments.bot == SAMPLE else arguments.bot}"]
    bots += [f"other-{number}={other}" for number in range(1, trial.seats)]
    options = [word for name, value in trial.options.items() for word in ("-o", f"{name}={value}")]
    deal_sets = str(arguments.deal_sets or trial.deal_sets)
    sizes = ["--seats", str(trial.seats), "--deal-sets", deal_sets, "--seed", arguments.seed]
    return ["tournament", trial.game, *bots, *sizes, *options, "--move", str(_MOVE_S), "--json"]


def _table(findings: Sequence[Finding], arguments: argparse.Namespace) -> Table:
    bots = "sample bots" if arguments.bot == SAMPLE else arguments.bot
    table = Table(title=f"{bots} against {arguments.against}", title_justify="left", box=box.SIMPLE)
    table.add_column("game", no_wrap=True)
    for column in ("seats", "margin ± 95 %", "p", "deal-sets"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict")
    for each in findings:
        told = each.margin is not None and each.half_width_95 is not None
        margin = f"{each.margin:+.2f} ± {each.half_width_95:6.2f}" if told else ""
        p = "" if each.p is None else "< .0001" if each.p < 0.0001 else f"{each.p:.4f}"
        table.add_row(each.game, str(each.seats), margin, p, str(each.deal_sets), each.verdict)
    return table


def _arguments() -> argparse.Namespace:
    games = [trial.game for trial in TRIALS]
    parser = argparse.ArgumentParser(
        prog="scripts/strength",
        description="Plays the sample bot of each game, or the house bot, against others over complete "
        "deal-sets. Ends with 1 unless the 95 % interval of each margin lies above zero.",
        epilog="examples: scripts/strength abstrac democracy --deal-sets 50 --json strength.json; "
        "scripts/strength loo --bot house:search-200ms --against house:search-20ms",
    )
    # No `choices`: with nargs="*" argparse holds the empty default against them.
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(games)}")
    parser.add_argument(
        "--bot", choices=(SAMPLE, *HOUSE), default=SAMPLE, help="who is measured (sample)"
    )
    parser.add_argument("--deal-sets", type=int, metavar="N", help="for each game")
    parser.add_argument("--seed", default="strength", help="fixes the deals (strength)")
    parser.add_argument(
        "--against",
        choices=(*OTHERS, SAMPLE, *HOUSE),
        default="random",
        help="who sits in the other seats (random)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings there too")
    arguments = parser.parse_args()
    for game in arguments.games:
        if game not in games:
            parser.error(f"no trial of {game!r}; there are {', '.join(games)}")
    if arguments.deal_sets is not None and arguments.deal_sets < 2:
        parser.error("an interval needs at least 2 deal-sets")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
