"""Floods and silences beside a bot that only wants to play."""

import asyncio
import json
import time
from dataclasses import dataclass

from tests.attack.culprits import ATTACKS, STRANGERS, stranger
from tests.attack.machine import Peak, use_of
from tests.attack.victim import MOVE_MS, Victim
from tests.chaos.case import Violation
from tests.chaos.processes import Child
from tests.chaos.report import Figure, Report, percentile
from tests.chaos.trial import Trial

ADDED_MS = 20.0
FAR_TOO_LATE_MS = float(MOVE_MS)
"""Added by an attack, this is a violation on any machine: all the time that a move has. A flood that
nothing stands against adds seconds."""
STRAGGLERS = 1
"""Attempts that may be cut off late, or not before the end, where the machine has much else to do."""
CALM_S = 1.0
"""A victim's wait without an attack is measured for no longer than this."""
GROWN_MB = 5.0
CUT_S = 1.0
BEYOND_S = 1.0
SETTLE_S = 1.5
"""What an attack leaves behind is looked at so long after its end."""
CLOSED_WITHIN_S = 15.0
"""A busy machine comes round to closing an attacker's connections within this."""
KEPT_FILES, KEPT_THREADS = 4, 8
"""What an arena may have opened and begun for itself meanwhile, as a database's log and threads of
gRPC's pool: few, however many attempts there were."""


@dataclass(frozen=True)
class Expected:
    """What becomes of an attacker."""

    cut_s: float | None = CUT_S
    """None if the transport has no way to cut it off; then it must not matter."""
    lasts_s: float = 0.0
    """How long the attack needs at least."""


SLOW = Expected(cut_s=6.0, lasts_s=7.0)  # limits of 5 s, and what the attacker takes to notice
NOT_CUT = Expected(cut_s=None)

EXPECTED = {
    "messages": Expected(),
    "out-of-turn": Expected(),
    "garbage": Expected(),
    "oversized": Expected(),
    "bombs": Expected(),
    "silent": SLOW,
    "headers-only": SLOW,
    "half-messages": SLOW,
    "never-reads": NOT_CUT,
    "resets": Expected(),
    "pings": Expected(),
    "unread-pings": Expected(),
    "settings-flood": NOT_CUT,
    "priorities": Expected(lasts_s=8.0),  # not cut off, it makes time-outs within so long
    "window-updates": Expected(),
    "goaways": Expected(),
    "unknown-frames": Expected(),
    "continuations": NOT_CUT,
    "newcomers": NOT_CUT,
    "takeovers": NOT_CUT,
}


async def floods(seed, *, seconds, attacks=tuple(EXPECTED), strangers=0, settle_s=SETTLE_S):
    """Attack an arena in every way known, and see how a bot fares that plays on it.

    With `strangers` each comes from an address that the arena takes for another machine's, as most would.
    """
    report = Report()
    trial = Trial(seed=seed)
    trial.server.strangers = STRANGERS if strangers else ""
    async with trial, Victim(trial.server.address) as victim:
        await victim.measured(min(seconds, CALM_S))  # until everything is loaded
        for name in attacks:
            await _attack(name, trial, victim, seconds, settle_s, report)
        log = (trial.data / "arena.log").read_text("utf-8")
    incidents = [line for line in log.splitlines() if '"level": "error"' in line]
    report.violations += [Violation("no error of the arena's own", line) for line in incidents]
    report.violations += [Violation("the victim is not blamed", each) for each in victim.faults]
    return report


def lasting_s(expected, seconds):
    """How long an attack lasts where each is to last so many seconds: longer than it may go on before it is cut off.

    A shorter one would end by itself on a busy machine, and not tell whether it would have been cut off.
    """
    return max(
        seconds, expected.lasts_s, 0.0 if expected.cut_s is None else expected.cut_s + BEYOND_S
    )


async def _attack(name, trial, victim, seconds, settle_s, report):
    expected, pid = EXPECTED[name], trial.server.child.pid
    calm_ms = percentile(await victim.measured(min(seconds, CALM_S)), 99) * 1e3
    before = use_of(pid)
    lasts_s = lasting_s(expected, seconds)
    log = trial.server.log.with_name(f"{name}.log")
    given = (name, trial.server.address, lasts_s)
    if trial.server.strangers:
        given += (stranger(list(ATTACKS).index(name)),)
    culprit = Child("tests.attack.culprits", *given, log=log)
    try:
        async with Peak(pid) as peak:
            await culprit.says(r"begins")
            waits_s = await victim.measured(lasts_s)
            outcome = json.loads((await culprit.says(r"\{.*\}"))[0])
            await asyncio.sleep(settle_s)
    finally:
        culprit.kill()
    after = use_of(pid)
    closed_by_s = time.monotonic() + CLOSED_WITHIN_S
    while _files(after) > _files(before) + KEPT_FILES and time.monotonic() < closed_by_s:
        await asyncio.sleep(SETTLE_S)
        after = use_of(pid)
    added_ms = percentile(waits_s, 99) * 1e3 - calm_ms
    grown_mb = (peak.rss_kb - before.rss_kb) / 1024
    kept_mb = (after.rss_kb - before.rss_kb) / 1024
    report.add(
        Figure(f"{name}: attempts", outcome["attempts"]),
        Figure("- messages or frames sent", outcome["sent"]),
        Figure("- victim's wait when calm, 99th percentile", calm_ms, "ms"),
        Figure.at_most("- added by the attack", added_ms, "ms", ADDED_MS),
        Figure("- memory at its peak", grown_mb, "MB more"),
        Figure.at_most("- memory afterwards", kept_mb, "MB more", GROWN_MB),
        Figure.at_most("- files left open", _files(after) - _files(before), "", KEPT_FILES),
    )
    if expected.cut_s is not None:
        longest_s = outcome["longest_s"]
        report.add(Figure.at_most("- cut off after, longest", longest_s, "s", expected.cut_s))
        if outcome["uncut"] > STRAGGLERS or not outcome["cut"]:
            where = f"{name}: {outcome['uncut']} of {outcome['attempts']} attempts"
            report.violations.append(Violation("an attacker is cut off", where))
    if added_ms > FAR_TOO_LATE_MS:
        where = f"{name}: {added_ms:.0f} ms more than the {calm_ms:.0f} ms of a calm arena"
        report.violations.append(Violation("the victim is answered during an attack", where))
    if not waits_s:
        report.violations.append(Violation("the victim plays on", name))
    if _files(after) > _files(before) + KEPT_FILES:
        where = f"{name}: {_files(after) - _files(before)} more"
        report.violations.append(Violation("files are closed after an attack", where))
    if after.threads > before.threads + KEPT_THREADS:
        where = f"{name}: {before.threads} before, {after.threads} after"
        report.violations.append(Violation("threads end after an attack", where))


def _files(use):
    """Connections and files, without what threads wake one another with."""
    return use.fds - use.wakers


assert EXPECTED.keys() == ATTACKS.keys()
