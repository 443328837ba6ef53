"""The conformance kit as the SDKs' tests use it: what only waits goes on beside all else."""

import threading

from arena.testing.conformance.cases import load
from arena.testing.conformance.play import judge, result_line, run
from tests.sdk.languages import ROOT

KIT = ROOT / "clients" / "conformance"
CASES = load(KIT)
SHORT = tuple(case for case in CASES if not case.long)
LONG = tuple(case for case in CASES if case.long)

TRIES = 3
"""A busy machine hides a fault, as what comes too late is not seen; it never makes one up."""

_BUILDING = threading.Lock()


def case_of(case_id):
    """A case by its id."""
    (found,) = [case for case in CASES if case.id == case_id]
    return found


def begun(client, beside):
    """The verdicts to come of the cases that take long, because they watch an idle stream.

    Args:
      client: A client's command.
      beside: The threads they are played on.
    """
    return [beside.submit(judge, case, client, KIT) for case in LONG]


def passes_every_case(client, long, jobs=4):
    """Plays the cases that are left, many at a time: most wait for something."""
    verdicts = run(SHORT, client, KIT, jobs=jobs, on_done=lambda verdict: None)
    verdicts += tuple(each.result() for each in long)
    failed = [f"{each.case.id}: {each.sentence}" for each in verdicts if not each.passed]
    assert failed == [], "\n".join(failed)
    assert result_line(verdicts) == f"PASS {len(CASES)}/{len(CASES)}"


def judged(rows, planted, beside):
    """The verdict to come of each planted fault, by the case that must find it.

    Clients are built one after the other, and each is judged while the next one is built.

    Args:
      rows: Of each fault what `planted` is given, and at the end the case's id.
      planted: Builds a client with a fault in it, and gives its command.
      beside: The threads they are built and judged on.
    """
    long = {case.id for case in LONG}
    first = sorted(rows, key=lambda row: row[-1] not in long)
    return {row[-1]: beside.submit(_judged, planted, row) for row in first}


def _judged(planted, row):
    *fault, found_by = row
    with _BUILDING:
        client = planted(*fault)
    for _ in range(TRIES):
        verdict = judge(case_of(found_by), client, KIT)
        if not verdict.passed:
            break
    return verdict
