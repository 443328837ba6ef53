"""The fixed bot of the conformance kit in JSON lines; `client.py` starts it behind the bridge.

`clients/conformance/README.md` says what it does. Its standard output belongs to the bridge, so the kit's lines
go to the bridge's own standard output, which the first argument names.
"""

import json
import sys
import time
from pathlib import Path

RAISES_AT = 999
SEED_AT = 998
PAD = "\N{PLAYING CARD ACE OF SPADES}"


def main(kit: Path, sleep_s: float) -> None:
    """Plays, and prints to the file `kit` what the kit wants to read."""
    asked: dict[int, int] = {}
    with kit.open("a") as out:
        for line in sys.stdin:
            ((kind, message),) = json.loads(line).items()
            if kind == "match_start":
                asked[message["match"]] = 0
                print(f"started {message['match']}", file=out, flush=True)
            elif kind == "match_end":
                how = message["ending"].removeprefix("ENDING_").lower()
                how = "missed" if how == "unspecified" else how
                print(f"ended {message['match']} {how}", file=out, flush=True)
            elif kind == "ask":
                asked[message["match"]] += 1
                time.sleep(sleep_s)
                print(json.dumps(answer(message, asked[message["match"]])), flush=True)


def answer(ask: dict, count: int) -> dict:
    """The answer to the ask that is the `count`-th of its match."""
    number = int(ask["ask_id"])
    if number % 1000 == RAISES_AT:
        print("the fixed bot's mistake", file=sys.stderr, flush=True)
        return {"ask_id": ask["ask_id"], "failed": True, "note": "the fixed bot's mistake"}
    (game,) = (value for value in ask.values() if isinstance(value, dict) and "moves" in value)
    note = f"{count}{PAD * (number // 1000)}"
    if number % 1000 == SEED_AT:
        note = f"{ask['seed']:08x}"
    return {"ask_id": ask["ask_id"], "index": number % len(game["moves"]), "note": note}


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
