"""Plays cases in parallel, and summarises the results."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from arena.conformance.cases import Case
from arena.conformance.play import CaseResult, judge

KIT: Final = "Card Arena contract 1"


def run(
    cases: Sequence[Case],
    command: Sequence[str],
    folder: Path,
    *,
    jobs: int,
    on_done: Callable[[CaseResult], None],
) -> tuple[CaseResult, ...]:
    """Play the cases.

    Args:
      cases: In the order in which they are reported.
      command: The client under test.
      folder: The folder of the recorded asks.
      jobs: The number of cases that are played at a time.
      on_done: Called with each result, on this thread.

    Raises:
      BadCase: if a case is wrong.
      OSError: if the client cannot be started.
    """
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="case") as pool:
        found: dict[str, CaseResult] = {}
        longest_first = sorted(cases, key=lambda case: not case.long)
        waiting = [pool.submit(judge, case, command, folder) for case in longest_first]
        try:
            for each in as_completed(waiting):
                verdict = each.result()
                found[verdict.case.id] = verdict
                on_done(verdict)
        finally:
            pool.shutdown(cancel_futures=True)
    return tuple(found[case.id] for case in cases)


def result_line(verdicts: Sequence[CaseResult]) -> str:
    """The result in one line: PASS if every case passed."""
    passed = sum(verdict.passed for verdict in verdicts)
    word = "PASS" if passed == len(verdicts) else "FAIL"
    return f"{word} {passed}/{len(verdicts)}"


def badge_line(verdicts: Sequence[CaseResult], date: str) -> str:
    """The line for a README, in Markdown."""
    return f"**{KIT}: {result_line(verdicts)}** (`arena conformance`, {date})"
