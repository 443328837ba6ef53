"""The removal of defences from the command line: `scripts/mutate-defences`."""

import argparse
import sys
import time
from functools import partial

from tests.defences.defence import FILE, defences
from tests.defences.threats import ROOT, named_by_rows
from tests.defences.trial import SEEN, Trials
from tests.mutation.reporting import Progress, markdown, sampled, write_json

DAY_S = 86_400
EPILOG = """\
examples:
  scripts/mutate-defences                    every defence, one at a time
  scripts/mutate-defences --only 5 --only 9  those of two rows of docs/security.md
  scripts/mutate-defences --only 5 --name budget   of these, the ones so called
  scripts/mutate-defences --short            one of each row; tomorrow the next
  scripts/mutate-defences --short --turn 3   the same again
  scripts/mutate-defences --list             what would be removed, and what should see it
  scripts/mutate-defences --json table.json  the report for a program; - is standard output

Exits with 1 if a defence can be removed and no test that its row names fails by an
assertion, or if what is to be removed is not there.
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/mutate-defences",
        description="Remove the defences of docs/security.md, and see whether its tests notice.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", type=int, action="append", metavar="ROW", help="of this threat")
    parser.add_argument("--name", default="", metavar="TEXT", help="those with this in their name")
    parser.add_argument("--short", action="store_true", help="one of each row, but for slow ones")
    parser.add_argument(
        "--turn",
        type=int,
        default=int(time.time()) // DAY_S,
        metavar="N",
        help="which of each row is tried by --short (default: the number of the day)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="run no other test of the row than the one that should see it; so does --short",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, always the same")
    parser.add_argument("--seed", default="1", help="which sample it is (default 1)")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="at once (default 1)")
    parser.add_argument(
        "--unproven", action="store_true", help="do not run the tests unharmed before"
    )
    parser.add_argument("--json", metavar="FILE", help="write the report there too")
    parser.add_argument("--list", action="store_true", help="list the defences; remove none")
    given = parser.parse_args()
    known = {defence.row for defence in defences()}
    for row in given.only or ():
        if row not in known:
            text = ", ".join(map(str, sorted(known)))
            parser.error(f"no defence of row {row} is in {FILE.name}; it has those of rows {text}")
    return given


def of_turn(found, turn):
    """One defence of each row that has a quick one: the next with each turn, in a circle."""
    quick = {}
    for defence in found:
        if not defence.slow:
            quick.setdefault(defence.row, []).append(defence)
    return [of_row[turn % len(of_row)] for of_row in quick.values()]


def chosen(given):
    found = [
        defence
        for defence in defences()
        if (not given.only or defence.row in given.only) and given.name in defence.name
    ]
    if given.short:
        found = of_turn(found, given.turn)
    return sampled(found, given.sample, given.seed)


def listing(found):
    """What is removed and what sees it, as lines of Markdown."""
    cells = ((each.row, each.name, f"`{each.seen_by}`") for each in found)
    yield from markdown(("#", "removed", "seen by"), ("---:", "---", "---"), cells)


def table(verdicts):
    """The report as lines of Markdown."""
    cells = (
        (
            each.defence.row,
            each.defence.name,
            each.defence.files,
            each.fate,
            each.by,
            f"{each.took_s:.1f}",
        )
        for each in verdicts
    )
    head = ("row", "removed", "from", "fate", "tests that failed, or what happened", "s")
    yield from markdown(head, ("---:", "---", "---", "---", "---", "---:"), cells)


def report(verdicts):
    """The report as mappings."""
    return [
        {
            "row": each.defence.row,
            "removed": each.defence.name,
            "edits": [vars(edit) for edit in each.defence.edits],
            "fate": each.fate,
            "tests": list(each.tests),
            "why": each.why,
            "took_s": round(each.took_s, 1),
        }
        for each in verdicts
    ]


def main():
    given = arguments()
    found = chosen(given)
    if given.list:
        print("\n".join(listing(found)))
        return
    say = partial(print, file=sys.stderr, flush=True)
    if given.short:
        say(f"turn {given.turn}")
    trials = Trials(ROOT, given.processes)
    if not given.unproven:
        tests = sorted({defence.seen_by for defence in found})
        say(f"{len(tests)} tests, with every defence in its place")
        if failed := trials.unharmed(tests):
            say("\n".join(["these fail without that anything is removed:", *failed]))
            sys.exit(1)
    verdicts, progress = [], Progress(len(found))
    named = {} if given.short or given.strict else named_by_rows()
    for verdict in trials.run(found, named):
        verdicts.append(verdict)
        to_go = progress.done()
        say(f"  {progress.at}, {to_go}: {verdict.fate}: {verdict.defence}")
        if verdict.fate != SEEN:
            say(f"    {verdict.why}")
    verdicts.sort(key=lambda each: found.index(each.defence))
    if given.json != "-":
        print("\n".join(table(verdicts)))
    if given.json:
        write_json(report(verdicts), given.json)
    survived = [each for each in verdicts if each.fate != SEEN]
    say(f"{len(verdicts)} defences were removed; {len(survived)} that no test has seen")
    sys.exit(bool(survived))


if __name__ == "__main__":
    main()
