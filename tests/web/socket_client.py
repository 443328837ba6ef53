"""The fixed bot of the conformance kit over a WebSocket, as a client of the kit."""

import argparse
import json
import sys
import time
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from arena.web.sockets.bot import SocketLimits
from tests.web.bot_socket import opened

sys.path.append(str(Path(__file__).parents[2] / "clients" / "conformance" / "stdio"))
import fixed_bot


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address")
    parser.add_argument("--token")
    parser.add_argument("--sleep-ms", type=int, default=0)
    given, _ = parser.parse_known_args()
    hello = {"token": given.token, "max_matches": 64, "ask_forced": True, "version": "kit"}
    asked = {}
    with opened(SocketLimits(guests=True), given.address) as websocket:
        websocket.send(json.dumps({"hello": hello}))
        while True:
            try:
                ((kind, message),) = json.loads(websocket.recv()).items()
            except ConnectionClosed as closed:
                return 0 if closed.rcvd.code == 1001 else 2
            if kind == "match_start":
                asked[message["match"]] = 0
                say(f"started {message['match']}")
            elif kind == "match_end":
                how = message["ending"].removeprefix("ENDING_").lower()
                say(f"ended {message['match']} {how.replace('unspecified', 'missed')}")
            elif kind == "log":
                sys.stderr.write(f"{message}\n")
            elif kind == "ask":
                asked[message["match"]] += 1
                time.sleep(given.sleep_ms / 1000)
                answer = fixed_bot.answer(message, asked[message["match"]])
                websocket.send(json.dumps(answer))


if __name__ == "__main__":
    sys.exit(main())
