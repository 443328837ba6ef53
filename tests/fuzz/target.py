"""What is fuzzed: a way to make inputs, a check for them, and files of inputs to replay."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from tests.fuzz.wild import mutated

CORPUS = Path(__file__).parent / "corpus"
ROUND = 200
"""Inputs between two looks at the clock in a long run."""
_PHASES = (Phase.generate, Phase.shrink)


@dataclass(frozen=True)
class Target:
    """Something that takes bytes from strangers."""

    name: str
    about: str
    check: Callable[[bytes], None]
    """Raises if the arena does not keep its promises for this input."""
    inputs: Callable[[], st.SearchStrategy[bytes]]
    """Makes inputs. Called once, when they are wanted."""
    short: int = 60
    """Inputs in scripts/test."""
    slow: bool = False
    """Each input takes long, as over sockets: rounds are short."""
    samples: Callable[[], dict[str, bytes]] = dict
    """Inputs by name that are tried in every run, and are made rather than kept as files."""
    made: list[st.SearchStrategy[bytes]] = field(default_factory=list)

    def strategy(self):
        if not self.made:
            kept = [*self.kept().values()]
            made = self.inputs()
            self.made.append(st.one_of(made, made, made, mutated(kept)) if kept else made)
        return self.made[0]

    def kept(self):
        """Inputs by name that are tried in every run: samples, and the files of what was found."""
        files = sorted((CORPUS / self.name).glob("*"))
        return self.samples() | {path.name: path.read_bytes() for path in files}

    def run(self, *, examples, seed=None, found=lambda data: None):
        """Check made-up inputs; with a seed other ones than last time.

        `found` is told of each input that fails, the simplest last.
        """

        def attempt(data):
            try:
                self.check(data)
            except Exception:
                found(data)
                raise

        run = hypothesis.given(self.strategy())(attempt)
        run = hypothesis.settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=seed is None,
            phases=_PHASES,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )(run)
        if seed is not None:
            run = hypothesis.seed(seed)(run)
        run()

    def search(self, seed, until_s):
        """Check inputs until the time is up; the number of rounds.

        An input that fails is saved in the corpus before its error is raised.
        """
        rounds, worst = 0, []
        while time.monotonic() < until_s:
            try:
                examples = ROUND // 10 if self.slow else ROUND
                self.run(examples=examples, seed=seed + rounds, found=worst.append)
            except Exception as error:
                if worst:
                    error.add_note(f"the input is kept in {self.save(worst[-1])}")
                raise
            rounds += 1
        return rounds

    def save(self, data):
        """Keep an input that failed; the path of its file."""
        folder = CORPUS / self.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"found-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        return path


def packed(parts):
    """Several inputs as one: each with its length before it."""
    return b"".join(len(part).to_bytes(3, "big") + part for part in parts)


def unpacked(data):
    """The parts of one input, whatever it is: what is torn counts as it stands."""
    parts, at = [], 0
    while at + 3 <= len(data):
        size = int.from_bytes(data[at : at + 3], "big")
        parts.append(data[at + 3 : at + 3 + size])
        at += 3 + size
    return parts


def check_sentence(error, most=800):
    """An error says what is wrong, and does not go on for ever."""
    assert 0 < len(str(error)) <= most, str(error)
