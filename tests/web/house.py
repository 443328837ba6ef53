"""A folder as an arena leaves it, with all that pages must not show, and a server of its pages."""

import asyncio
import shutil
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from arena.contests.plan_text import public_text
from arena.records.read import Replay
from arena.referee.spec import FaultKind
from arena.results.deal_sets import MatchOutcome, round_robin
from arena.results.record import Round
from arena.results.states import Action
from arena.store import BotKind, CompetitionEntry, CompetitionTexts, StoredMatch, open_store
from arena.validation import toml_text
from arena.web.app import Web, application
from arena.web.event_hub import EventHub
from arena.web.live_pages import LivePages
from arena.web.serve import limits as limits_of
from arena.web.serve import protocol

RECORDED = Path(__file__).parents[1] / "fuzz" / "corpus" / "recorded"
AT = 1_795_176_000_000
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>"
SECRET_SEED = "canary-of-the-seed-3c91"
SECRET_COMMAND = "/home/canary/of/a/path/bot.py"
SECRET_EVIDENCE = "canary of evidence 77aa"
SEALED_SCORE = 987_123
CANARIES = (SECRET_SEED, SECRET_COMMAND, SECRET_EVIDENCE, str(SEALED_SCORE))
TERMS = {
    "game": "democracy",
    "rules_version": 1,
    "options": {"hands": 2, "suits": "all", "wild": False},
    "seats": 2,
    "time_control": {"move_ms": 1000, "bank_ms": 0},
    "fault_limit": 10,
    "away_limit_ms": 60_000,
    "seeded": True,
}
BOTS = ["ann", HOSTILE, "bob b."]
CONFIG = toml_text(
    {
        "name": "autumn",
        "kind": "tournament",
        "format": "round_robin",
        "game": TERMS["game"],
        "seats": TERMS["seats"],
        "options": {"hands": 40},  # so that no margin is beyond the bound
        "deal_sets": 4,
        "fair": False,
        "seed": SECRET_SEED,
        "bots": dict.fromkeys(BOTS, SECRET_COMMAND),
    }
)
SEALED_SETS = 1
REMOVED = "removed-1"


def plan_of(deal_sets=4):
    return round_robin(BOTS, seats=2, deal_sets=deal_sets, seed=SECRET_SEED, tournament="autumn")


def build(folder):
    """The folder; the replays that can be watched, by what they are."""
    replays = folder / "replays"
    replays.mkdir(parents=True)
    watched = {}
    with open_store(folder / "arena.db") as store:
        plan, competitions = plan_of(), store.competitions()
        texts = CompetitionTexts(CONFIG, public_text(CONFIG))
        competitions.create("autumn", texts, [TERMS], organiser="org", now=NOW)
        for bot in BOTS:
            entry = CompetitionEntry(bot, bot, BotKind.COMMAND, SECRET_COMMAND, f"{bot} 1")
            competitions.enter("autumn", entry, who="org", now=NOW)
        groups = tuple(dict.fromkeys(tuple(sorted(each.bots)) for each in plan))
        competitions.control("autumn", Action.START, who="org", now=NOW)
        competitions.keep_round("autumn", 0, Round(1, groups, (), ""), plan)
        matches = store.matches()
        closed, sealed = plan[:-SEALED_SETS], plan[-SEALED_SETS:]
        ended = []
        for deal_set in closed:
            ended += [ended_match(each, deal_set, at) for at, each in enumerate(deal_set.matches)]
        ended.append(ended_match(sealed[0].matches[0], sealed[0], 0, SEALED_SCORE))
        matches.record(ended)
        matches.mark_published([each.id for deal_set in closed for each in deal_set.matches])
        for name, id_ in (("fair", "m1"), ("faulty", "m2")):
            watched[name] = id_
            file = replays / f"{id_}.replay"
            shutil.copyfile(RECORDED / f"{name}.replay", file)
            replay = Replay.open(file)
            scores = tuple(replay.closed.scores)
            outcome = MatchOutcome(
                id_, scores, tuple(replay.closed.places), "completed", faults_in(replay),
                hands=2, decisions=len(replay.decided), evidence=SECRET_EVIDENCE,
            )  # fmt: skip
            matches.record(
                [StoredMatch(outcome, replay.opened.terms.game, replay.names, "", AT + 9_000)]
            )
        outcome = MatchOutcome(
            REMOVED, (1, -1), (1, 2), "completed", ({}, {}), hands=1, decisions=2
        )
        matches.record([StoredMatch(outcome, "abstrac", ("ann", "bob b."), "", AT + 8_000)])
        matches.mark_published(["m1", "m2", REMOVED])
    return {**watched, "sealed": sealed[0].matches[0].id}


def faults_in(replay):
    """By seat, how often each kind of fault was made."""
    made = [Counter() for _ in replay.names]
    for each in replay.decided:
        if each.fault:
            made[each.seat][FaultKind(each.fault).name.lower()] += 1
    return tuple(map(dict, made))


def ended_match(match, deal_set, at, score=0):
    lead = score or (12 if match.bots[0] == "ann" else -5) + at + deal_set.number
    places = (1, 2) if lead > 0 else (2, 1)
    outcome = MatchOutcome(
        match.id, (lead, -lead), places, "completed", ({}, {"timeout": 1}), hands=2, decisions=9,
        evidence=SECRET_EVIDENCE,
    )  # fmt: skip
    return StoredMatch(
        outcome, "democracy", match.bots, deal_set.id, AT + deal_set.number * 1000 + at
    )


class Running:
    """Pages served by a thread, drawn in a thread: what is tested is what they say."""

    def __init__(self, folder, source, limits=None, places=None):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._workers = ThreadPoolExecutor(1)
        self.web = Web(folder, workers=self._workers)
        self.hub = self._loop = None
        self._source, self._limits = source, limits
        config = uvicorn.Config(
            self._app, lifespan="off", log_config=None, access_log=False, ws="none", http=protocol(places or limits_of(1_024)[0]), interface="asgi3",
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._inner = None
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run)

    async def _app(self, scope, receive, send):
        if self._inner is None:
            self._loop = asyncio.get_running_loop()
            self.hub = EventHub(self._source(), self._limits)
            self._inner = application(self.web, LivePages(self.web, self.hub).routes())
        await self._inner(scope, receive, send)

    def soon(self, call):
        """Have something done on the server's loop."""
        self._loop.call_soon_threadsafe(call)

    def _run(self):
        asyncio.run(self._server.serve([self._socket]))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(20)
        self.web.close()
        self._workers.shutdown()
        self._socket.close()
