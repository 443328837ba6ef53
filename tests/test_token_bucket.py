"""A token bucket: what may be taken, in which order of takes and waits."""

import pytest

from arena.token_bucket import TokenBucket

MOST, PER_S = 3, 2.0

# fmt: off
# What happens to a full bucket: a number waits so many seconds, a word takes.
TAKES = [
    (["yes", "yes", "yes", "no"],                       "as many in one go as it holds"),
    (["yes", "yes", "yes", 0.5, "yes", "no"],           "one more after the time of one"),
    (["yes", "yes", "yes", 0.4, "no", 0.1, "yes"],      "a part of a token waits for the rest"),
    (["yes", "yes", "yes", "no", 0.5, "yes", "no"],     "a take that fails costs nothing"),
    ([99, "yes", "yes", "yes", "no"],                   "never more than it holds"),
    (["yes", "yes", "yes", -9, "no", 0.5, "yes", "no"], "a clock that is set back adds and takes nothing"),
    (["leaving 2", "no leaving 2", "yes", "yes", "no"], "who must leave some gets none of the last"),
]
# fmt: on


@pytest.mark.parametrize(("steps", "why"), TAKES, ids=[row[1] for row in TAKES])
def test_what_a_bucket_gives(steps, why):
    now_s = 100.0
    bucket = TokenBucket(MOST, PER_S, lambda: now_s)
    for at, step in enumerate(steps):
        if isinstance(step, str):
            leave = float(step.rpartition(" ")[2]) if "leaving" in step else 0.0
            assert bucket.take(leave) is (not step.startswith("no")), at
        else:
            now_s += step
