"""An arena in a process of its own: `python -m tests.server.serving FOLDER`.

Prints its address when it listens, and how it ended.
"""

import sys
from pathlib import Path

import trio

from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(arena):
    say(arena.address)
    await trio.sleep_forever()


if __name__ == "__main__":
    try:
        serve(ServerSettings(Path(sys.argv[1])), Tokens(guests=True), main)
    except KeyboardInterrupt:
        say("interrupted")
    else:
        say("drained")
