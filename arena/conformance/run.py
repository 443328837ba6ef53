"""Plays many cases, some at a time, and says how it went."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

from arena.conformance.cases import Case
from arena.conformance.play import Verdict, judge

KIT: Final = "Card Arena contract 1"


def run(
    cases: Sequence[Case],
    command: Sequence[str],
    folder: Path,
    *,
    jobs: int,
    told: Callable[[Verdict], None],
) -> tuple[Verdict, ...]:
    """Plays the cases.

    Args:
      cases: In the order in which they are reported.
      command: The client under test.
      folder: Where the recorded asks are.
      jobs: How many are played at a time.
      told: Is told of each as it is over; called on this thread.

    Raises:
      BadCase: if a case is wrong.
      OSError: if the client cannot be started.
    """
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="case") as pool:
        waiting: set[Future[Verdict]] = set()
        found: dict[str, Verdict] = {}
        try:
            for case in sorted(cases, key=lambda case: not case.long):
                waiting.add(pool.submit(judge, case, command, folder))
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for each in done:
                    verdict = each.result()
                    found[verdict.case.id] = verdict
                    told(verdict)
        finally:
            for each in waiting:
                each.cancel()
    return tuple(found[case.id] for case in cases)


def result_line(verdicts: Sequence[Verdict]) -> str:
    """The result in one line: PASS if every case passed."""
    passed = sum(verdict.passed for verdict in verdicts)
    word = "PASS" if passed == len(verdicts) else "FAIL"
    return f"{word} {passed}/{len(verdicts)}"


def badge_line(verdicts: Sequence[Verdict], date: str) -> str:
    """The line for a README, in Markdown; it claims no more than was tried."""
    return f"**{KIT}: {result_line(verdicts)}** (`arena conformance`, {date})"
