"""A trial: one defence is removed, and the tests that its threat names are run."""

import queue
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.defences.checkout import Checkout, Outcome
from tests.defences.defence import Defence

TIMEOUT_S = 400.0
"""No test that a row names takes as long, also beside much other work."""
SEEN, SURVIVED, STALE = "seen", "SURVIVED", "STALE"


@dataclass(frozen=True)
class Verdict:
    """What became of a defence that was removed."""

    defence: Defence
    fate: str
    """`seen` if a test failed by assertion; `SURVIVED` if none did; `STALE` if nothing was removed."""
    tests: tuple[str, ...] = ()
    """Those that failed by assertion."""
    why: str = ""
    """What the first of them said, or what happened instead."""
    took_s: float = 0.0

    @property
    def by(self):
        return " ".join(self.tests) or self.why


def tried(defence, checkout, named):
    """Remove a defence, and run the test that should see it; else the others in `named`."""
    rest = [test for test in named if test != defence.seen_by.partition("[")[0]]
    took_s, instead = 0.0, []
    try:
        with checkout.without(defence):
            for tests in ([defence.seen_by], rest):
                if not tests:
                    continue
                outcome = checkout.run(tests, TIMEOUT_S)
                took_s += outcome.took_s
                if outcome.seen:
                    failed = tuple(each.test for each in outcome.asserted)
                    return Verdict(defence, SEEN, failed, outcome.asserted[0].what, took_s)
                instead.append(_instead(outcome))
    except ValueError as error:
        return Verdict(defence, STALE, why=str(error))
    return Verdict(defence, SURVIVED, why="; ".join(instead), took_s=took_s)


def _instead(outcome: Outcome):
    if not outcome.in_time:
        return "no end"
    if outcome.broke:
        first = outcome.broke[0]
        return f"no assertion, but {first.what} in {first.test}"
    return f"{len(outcome.passed)} tests passed" if outcome.passed else "no test was run"


class Trials:
    """Tries defences, each in a copy of the checkout."""

    def __init__(self, root, processes=1):
        self._root = root
        self._processes = processes

    def unharmed(self, tests):
        """Run tests with every defence in its place; what should not have failed, in lines."""
        with tempfile.TemporaryDirectory(prefix="defences-") as folder:
            checkout = Checkout(self._root, Path(folder))
            outcome = checkout.run(tests, TIMEOUT_S * 2)
            failed = [f"{each.test}: {each.what}" for each in (*outcome.asserted, *outcome.broke)]
            if not outcome.in_time:
                failed.append("they do not end")
            elif not failed and not outcome.passed:
                failed.append(f"no test was run: {checkout.output[-400:]}")
            return failed

    def run(self, found, named):
        """Yield the verdict on each defence, in the order in which they come.

        `named` has further tests by row, for what the first one does not see.
        """
        with tempfile.TemporaryDirectory(prefix="defences-") as folder:
            free = queue.SimpleQueue()
            for number in range(self._processes):
                (Path(folder) / str(number)).mkdir()
                free.put(Checkout(self._root, Path(folder) / str(number)))

            def one(defence):
                checkout = free.get()
                try:
                    return tried(defence, checkout, named.get(defence.row, ()))
                finally:
                    free.put(checkout)

            with ThreadPoolExecutor(self._processes) as threads:
                waiting = [threads.submit(one, defence) for defence in found]
                try:
                    for each in as_completed(waiting):
                        yield each.result()
                finally:
                    threads.shutdown(cancel_futures=True)
