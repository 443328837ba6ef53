"""The fixed bot in JSON lines behind `cardarena bridge`, as a client of the conformance kit."""

import argparse
import os
import sys
from pathlib import Path

from cardarena.__main__ import main

FIXED_BOT = Path(__file__).with_name("fixed_bot.py")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sleep-ms", type=int, default=0)
    parser.add_argument("--max-matches", default="64")
    given, rest = parser.parse_known_args()
    bot = [sys.executable, str(FIXED_BOT), f"/proc/{os.getpid()}/fd/1", str(given.sleep_ms / 1000)]
    options = ["--ask-forced", "--version", "kit", "--max-matches", given.max_matches]
    main(["bridge", *options, *rest, "--", *bot])
