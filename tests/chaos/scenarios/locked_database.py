"""Another program locks the database of a tournament for longer than anybody waits for it."""

import asyncio
import json
import sqlite3
import tempfile
import time
from pathlib import Path

from arena.records.verify import verify_file
from tests.chaos.case import Violation
from tests.chaos.evidence import JournalTail
from tests.chaos.processes import ROOT, Child, until
from tests.chaos.report import Figure, Report

BOT = ROOT / "sample_bots" / "random_bot.py"


async def locked_database(seed, *, locked_s=8.0, deal_sets=60):
    """Lock it for so long, as soon as the first results are in."""
    with tempfile.TemporaryDirectory(prefix="cardarena-chaos-") as folder:
        data = Path(folder) / "data"
        out = Path(folder) / "standings"
        game = ("tournament", "democracy", f"a={BOT}", f"b={BOT}", "-o", "hands=2", "--json")
        size = ("--deal-sets", deal_sets, "--seed", f"locked {seed}", "--data", data)
        tournament = Child("tests.chaos.server", *game, *size, log=out)
        try:
            await until(lambda: _results(data) > 0, "the first result")
            locked_matches = await _lock(data, locked_s)
            began_s = time.monotonic()
            code = await tournament.ended()
            took_s = time.monotonic() - began_s
        finally:
            tournament.kill()
        words = tournament.words()
        violations = _violations(data, words, code, deal_sets)
        results = _results(data)
    return Report(violations=violations).add(
        Figure("database locked for", locked_s, "s"),
        Figure("matches that ended meanwhile", locked_matches),
        Figure(
            "results, of as many planned",
            results,
            "",
            f"= {2 * deal_sets}",
            results == 2 * deal_sets,
        ),
        Figure("from the unlocking to the end", took_s, "s"),
    )


async def _lock(data, locked_s):
    """Hold the write lock; how many matches ended under it, by their journal."""
    before = _closed(data)
    connection = sqlite3.connect(data / "arena.db", timeout=10, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(locked_s)
        connection.execute("ROLLBACK")
    finally:
        connection.close()
    return _closed(data) - before


def _closed(data):
    books = JournalTail(data / "journal").look().books
    return sum(book.closed is not None for book in books.values())


def _results(data):
    """Results in the database; none while it is not there yet."""
    path = data / "arena.db"
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        return connection.execute(
            "SELECT count(*) FROM matches WHERE status = 'finished'"
        ).fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # its tables are being made
    finally:
        connection.close()


def _violations(data, words, code, deal_sets):
    name = "a locked database costs no match and no result"
    if code != 0:
        return [Violation(name, f"the tournament exited with {code}: {words[-300:]}")]
    standings = json.loads(words[words.index("{") :])
    found = []
    if standings["games"][0]["deal_sets"] != {
        "complete": deal_sets,
        "planned": deal_sets,
        "within_teams": 0,
    }:
        found.append(
            Violation(name, f"of {deal_sets} deal-sets: {standings['games'][0]['deal_sets']}")
        )
    faults = [row["faults"] for row in standings["games"][0]["rows"]]
    if any(faults):
        found.append(Violation(name, f"bots were blamed: {faults}"))
    return found + list(_differing(data))


def _differing(data):
    """Results in the database that are not those of the replays, recomputed."""
    name = "the results in the database are those of the replays"
    connection = sqlite3.connect(data / "arena.db")
    try:
        rows = connection.execute("SELECT id, scores FROM matches").fetchall()
    finally:
        connection.close()
    for match_id, scores in rows:
        verdict = verify_file(data / "replays" / f"{match_id}.replay")
        if not verdict.ok:
            yield Violation(name, f"match {match_id}: {verdict.problem}")
        elif list(verdict.verified.outcome.scores) != json.loads(scores):
            yield Violation(name, f"match {match_id}: {scores} in the database")
