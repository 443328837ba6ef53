"""Notes of a match over real sockets: for the owner of the bot alone."""

import io
import shutil
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from arena.games.contract import Seat
from arena.records.bot_notes import notes_path
from arena.records.notes_file import NotesFile
from arena.records.read import Replay
from arena.store import BotKind
from cardarena.v1 import bots_pb2, replay_pb2
from cardarena.v1.replay_pb2_grpc import ReplayServiceStub
from tests.bots.test_submissions import NOW, open_desk, refusal
from tests.records.matches import Bot, record

SECRET = "I hold two jacks"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with open_desk(tmp_path_factory.mktemp("arena")) as desk:
        yield desk


@pytest.fixture(scope="module")
def replays(desk):
    with grpc.insecure_channel(desk.address) as channel:
        yield ReplayServiceStub(channel)


@pytest.fixture(scope="module")
def people(desk, tmp_path_factory):
    """The tokens of those who ask. Ann has `bot 0`, which noted its cards and `bot 2`, which is younger than the match; eve has `bot 1`."""
    ann, eve = desk.owner("ann"), desk.owner("eve")
    desk.create(ann, "bot 0", bots_pb2.BOT_KIND_REMOTE)
    desk.create(eve, "bot 1", bots_pb2.BOT_KIND_REMOTE)
    later = NOW + timedelta(hours=1)
    desk.registry.create_bot("bot 2", "ann", BotKind.REMOTE, now=later)
    tokens = bots_pb2.CreateTokenRequest(bot="bot 0")
    bot = desk.call(desk.bots.CreateToken, tokens, ann).token
    for match_id in ("open", "sealed"):
        bots = [Bot(seat, note=SECRET) for seat in range(3)]
        played = tmp_path_factory.mktemp(match_id)
        record(played, "soko", bots, {"hands": 3}, match_id=match_id)
        for folder in ("replays", "notes"):
            shutil.copytree(played / folder, desk.folder / folder, dirs_exist_ok=True)
    (desk.folder / "replays" / "sealed.replay").unlink()
    assert notes_path(desk.folder / "notes", "sealed", Seat(0)).is_file()
    return {
        "ann": ann,
        "eve": eve,
        "organiser": desk.organiser,
        "bot": bot,
        "guest": "guest:stranger",
    }


def asked(desk, replays, token, match_id, seat):
    request = replay_pb2.GetReplayRequest(replay_id=match_id, notes_of_seat=seat)
    return b"".join(answer.piece for answer in desk.call(replays.GetReplay, request, token))


def test_an_owner_reads_what_the_own_bot_noted(desk, replays, people):
    file = io.BytesIO(asked(desk, replays, people["ann"], "open", 0))
    notes = NotesFile.read(file, Path("notes"))
    replay = Replay.open(desk.folder / "replays" / "open.replay")
    assert {*notes.of_seat(replay, Seat(0)).values()} == {SECRET}


# fmt: off
REFUSED = [
    # who          match     seat  reason             why
    ("ann",        "open",   1,    "NOT_YOURS",       "the bot is another owner's"),
    ("ann",        "open",   2,    "NOT_YOURS",       "a guest had the name when it played"),
    ("ann",        "open",   3,    "NOT_YOURS",       "there is no such seat"),
    ("ann",        "sealed", 0,    "UNKNOWN_REPLAY",  "the deal-set is not over"),
    ("eve",        "open",   0,    "NOT_YOURS",       "another owner"),
    ("eve",        "open",   99,   "NOT_YOURS",       "another owner, no seat"),
    ("organiser",  "open",   0,    "NOT_YOURS",       "an organiser"),
    ("bot",        "open",   0,    "NOT_YOURS",       "the bot's own token, which its machine has"),
    ("guest",      "open",   0,    "BAD_TOKEN",       "a guest"),
    ("no key",     "open",   0,    "NO_TOKEN",        "no key"),
]
# fmt: on


@pytest.mark.parametrize(
    ("who", "match_id", "seat", "reason", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_others_are_refused(desk, replays, people, who, match_id, seat, reason, why):
    token = people.get(who, "")
    assert refusal(lambda: asked(desk, replays, token, match_id, seat))[1] == reason
