"""The leak gate over streams: resumed ones, taken over a restart, and all that is said on them."""

import zlib

import pytest

from arena.games.catalogue import GAMES, game_by_id
from arena.live.session.asks import AskSender
from arena.live.session.messages import IncomingMessages
from arena.live.session.session import Session
from arena.referee.match_runner import MatchRunner
from cardarena.v1 import play_pb2
from tests.leaks.sessions import pairs
from tests.leaks.test_leaks import NOTHING_HIDDEN
from tests.live.cuts import quick_disk
from tests.referee.matches import nearly_three
from tests.rows import slow_unless_of_each_kind

HIDING = [game for game in GAMES if game.id not in NOTHING_HIDDEN]
PAIRS = 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with quick_disk(monkeypatch):
        yield tmp_path


@pytest.mark.parametrize("game", slow_unless_of_each_kind(HIDING), ids=lambda game: game.id)
def test_what_is_hidden_does_not_show_on_any_stream(folder, monkeypatch, game):
    compared, _, differences = pairs(folder, monkeypatch, game, nearly_three(game), PAIRS)
    assert not differences, differences[0]
    assert compared == PAIRS


# Leaks that are planted.

DIGEST = [0]


def bits():
    """Two bits of everything that the states of the match have held."""
    return DIGEST[0] % 4


def watched(monkeypatch):
    take = MatchRunner._take_step

    def taking(self, step):
        DIGEST[0] = zlib.crc32(repr(step.state).encode(), DIGEST[0])
        return take(self, step)

    begin = MatchRunner.begin

    def beginning(self, past=(), used=()):
        DIGEST[0] = 0
        begin(self, past, used)

    monkeypatch.setattr(MatchRunner, "_take_step", taking)
    monkeypatch.setattr(MatchRunner, "begin", beginning)


def in_welcome(monkeypatch):
    frames = Session._welcome

    def with_drain(*given):
        drain = play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=bits()))
        return [*frames(*given), drain.SerializeToString()]

    monkeypatch.setattr(Session, "_welcome", with_drain)


def in_refusals(monkeypatch):
    refuse = IncomingMessages._refuse
    monkeypatch.setattr(
        IncomingMessages,
        "_refuse",
        lambda self, number, reason, text, **how: refuse(
            self, number, reason, text + "." * bits(), **how
        ),
    )


def in_what_is_withdrawn(monkeypatch):
    withdraw = AskSender.withdraw
    monkeypatch.setattr(
        AskSender,
        "withdraw",
        lambda self, ask, number, fault, reason: withdraw(
            self, ask, number, fault, reason + "." * bits()
        ),
    )


def in_the_clock(monkeypatch):
    element = AskSender._element

    def timed(self, entry, used_s=0.0):
        return element(self, entry, used_s + bits() / 1000 if used_s else 0.0)

    monkeypatch.setattr(AskSender, "_element", timed)


def in_the_end(monkeypatch):
    unseat = Session.unseat

    def telling(self, number, end):
        end.replay_id += "." * bits()
        unseat(self, number, end)

    monkeypatch.setattr(Session, "unseat", telling)


# fmt: off
PLANTS = [
    (in_welcome,            "sixty_six",  "in what follows a welcome"),
    (in_refusals,           "sixty_six",  "in the length of a refusal"),
    (in_what_is_withdrawn,  "jam",        "in why an ask was withdrawn"),
    (in_the_clock,          "jam",        "in the clock of an ask told again"),
    (in_the_end,            "pineapple",  "in the end of a match"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "game_id", "why"),
    PLANTS,
    ids=[row[-1] for row in PLANTS],
)
def test_a_leak_on_a_stream_is_found(folder, monkeypatch, plant, game_id, why):
    watched(monkeypatch)
    plant(monkeypatch)
    game = game_by_id(game_id)
    _, _, differences = pairs(folder, monkeypatch, game, game.seats[0], 6)
    assert differences
