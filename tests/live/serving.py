"""An arena in a process of its own: `python -m tests.live.serving FOLDER [DESCRIPTORS]`.

Prints its address when it listens, and how it ended. It may have at most so many descriptors.
"""

import resource
import sys
from pathlib import Path

import trio

from arena.app.arena_process import ServerSettings, serve
from arena.bots.tokens import Tokens


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(arena):
    say(arena.address)
    await trio.sleep_forever()


if __name__ == "__main__":
    for most in map(int, sys.argv[2:]):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        serve(ServerSettings(Path(sys.argv[1])), Tokens(guests=True), main)
    except KeyboardInterrupt:
        say("interrupted")
    else:
        say("drained")
