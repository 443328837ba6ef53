"""The same message has the same answer over a network and in a folder, with the same rows of access."""

import sys

import grpc
import pytest

from arena.api.admission.access import CALLS
from arena.app import local_channel as module
from arena.app.local_channel import local_channel
from arena.contests.competition_service import CompetitionService
from arena.store import StoreError
from cardarena.v1 import competitions_pb2 as messages
from cardarena.v1 import standings_pb2
from cardarena.v1.competitions_pb2_grpc import CompetitionServiceStub
from cardarena.v1.standings_pb2_grpc import StandingsServiceStub
from tests.contests.played import toml

BOTS = f'\n[bots]\nann = "{sys.executable} -V"\nbob = "{sys.executable} -VV"\n'


@pytest.fixture
def channel(tmp_path):
    with local_channel(tmp_path) as opened:
        yield opened


@pytest.fixture
def competitions(channel):
    return CompetitionServiceStub(channel)


def test_a_folder_has_competitions_whose_bots_are_commands(competitions):
    made = competitions.CreateCompetition(
        messages.CreateCompetitionRequest(config=toml("round_robin") + BOTS)
    )
    assert [bot.bot for bot in made.competition.bots] == ["ann", "bob"]
    # What was changed is read at once, not a result that is reused.
    act = messages.ControlCompetitionRequest(
        name="autumn", action=messages.COMPETITION_ACTION_START
    )
    competitions.ControlCompetition(act)
    found = competitions.GetCompetition(messages.GetCompetitionRequest(name="autumn"))
    assert found.competition.state == messages.COMPETITION_STATE_RUNNING


def test_a_refusal_has_the_reason_that_it_has_over_a_network(competitions):
    with pytest.raises(grpc.RpcError) as raised:
        competitions.GetCompetition(messages.GetCompetitionRequest(name="autumn"))
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
    assert "R-UNKNOWN-COMPETITION" in raised.value.details()
    assert any(b"UNKNOWN_COMPETITION" in value for _, value in raised.value.trailing_metadata())


def test_an_error_of_the_store_keeps_its_text(competitions, monkeypatch):
    def fails(*_):
        raise StoreError("arena.db is no database")

    monkeypatch.setattr(CompetitionService, "get", fails)
    with pytest.raises(StoreError, match=r"arena\.db is no database"):
        competitions.GetCompetition(messages.GetCompetitionRequest(name="autumn"))


def test_ctrl_c_stops_a_call(competitions, monkeypatch):
    def is_stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CompetitionService, "get", is_stopped)
    with pytest.raises(KeyboardInterrupt):
        competitions.GetCompetition(messages.GetCompetitionRequest(name="autumn"))


def test_a_stream_is_read_to_its_end(channel, competitions):
    plan = toml("round_robin") + BOTS
    competitions.CreateCompetition(messages.CreateCompetitionRequest(config=plan))
    pieces = StandingsServiceStub(channel).ExportStandings(
        standings_pb2.ExportStandingsRequest(name="autumn")
    )
    assert [line for piece in pieces for line in piece.json_lines]


def test_a_call_without_a_row_of_access_cannot_be_made(channel, competitions, monkeypatch):
    monkeypatch.setattr(module, "CALLS", {call: CALLS[call] for call in CALLS if "Get" not in call})
    with pytest.raises(KeyError):
        competitions.GetCompetition(messages.GetCompetitionRequest(name="autumn"))
