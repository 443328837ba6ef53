"""The client of commands for competitions: the services of an arena over the network, or of a folder on this machine."""

import contextlib
import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import grpc

from arena.cli.arena_client import PAGE, NoAnswer, Server
from arena.cli.owner_keys import KeyFile
from arena.cli.services import ArenaServices, require_store, service_options
from arena.cli.suggestions import nearest
from cardarena.v1 import competitions_pb2 as messages
from cardarena.v1 import standings_pb2
from cardarena.v1.competitions_pb2_grpc import CompetitionServiceStub
from cardarena.v1.standings_pb2_grpc import StandingsServiceStub

LONGEST_S: Final = 120.0
"""The time-out in seconds of calls that compute standings of many deal-sets."""


REPORT_S: Final = 3_600.0
"""The time-out in seconds of a report that takes minutes."""


class CompetitionClient(ArenaServices):
    """Calls the services of competitions. Each call raises `NoAnswer` if it is refused or fails."""

    def __init__(self, channel: grpc.Channel, server: Server | None, data: Path | None) -> None:
        super().__init__(channel, server, data)
        self._competitions = self.of(CompetitionServiceStub)
        self._standings = self.of(StandingsServiceStub)

    def call(self, method: str, request: Any) -> Any:
        """Call a method of the competition service.

        If there is no such competition, the error suggests the nearest name.
        """
        stub = self._competitions.stub
        with self._nearest_named(getattr(request, "name", "")):
            return self._competitions.call(getattr(stub, method), request, longest_s=LONGEST_S)

    def all(self) -> list[messages.CompetitionInfo]:
        """Return all competitions, the oldest first."""
        request = messages.ListCompetitionsRequest(page_size=PAGE)
        return self._competitions.pages(
            self._competitions.stub.ListCompetitions, request, "competitions"
        )

    def show(self, name: str) -> messages.CompetitionInfo:
        response = self.call("GetCompetition", messages.GetCompetitionRequest(name=name))
        competition: messages.CompetitionInfo = response.competition
        return competition

    def control(self, name: str, action: messages.CompetitionAction.ValueType) -> None:
        """Take an action in any state that allows it."""
        request = messages.ControlCompetitionRequest(name=name, action=action)
        self.call("ControlCompetition", request)

    def standings(self, name: str, number: int | None = None) -> dict[str, Any]:
        """Return official standings by their number; without one, the latest standings.

        The latest are official if the competition is finished, and otherwise live.
        """
        request = standings_pb2.GetStandingsRequest(name=name, number=number or 0)
        method = self._standings.stub.GetStandings
        with self._nearest_named(name):
            answer = self._standings.call(method, request, longest_s=LONGEST_S)
        made: dict[str, Any] = json.loads(answer.standings_json)
        return made

    def deals(self, name: str, number: int | None = None) -> Iterator[str]:
        """Return standings and the deal-sets from which they were computed, as JSON Lines."""
        request = standings_pb2.ExportStandingsRequest(name=name, number=number or 0)
        with self._nearest_named(name):
            for piece in self._standings.stream(self._standings.stub.ExportStandings, request):
                yield from piece.json_lines

    def collusion(
        self, name: str, without: Sequence[str] = (), earlier: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the collusion report, or the standings without the tables of some owners."""
        request = standings_pb2.GetCollusionRequest(name=name, without=without, earlier=earlier)
        method = self._standings.stub.GetCollusion
        with self._nearest_named(name):
            answer = self._standings.call(method, request, longest_s=REPORT_S)
        report: dict[str, Any] = json.loads(answer.report_json)
        return report

    @contextlib.contextmanager
    def _nearest_named(self, name: str) -> Iterator[None]:
        """Run calls about a competition; if there is none of this name, the error has the nearest name."""
        try:
            yield
        except NoAnswer as error:
            if error.reason != "UNKNOWN_COMPETITION":
                raise
            names = [competition.name for competition in self.all()]
            if name in names:
                raise  # it is about another one, such as that of `seeds_from`
            where = "; --server ADDRESS names another arena" if self.data else ""
            if where and (keys := KeyFile().all()):
                where += f", such as {keys[0].address}, where you are registered"
            text = f"{error.message}; {nearest(name, names)}{where}"
            raise NoAnswer(text, error.code, error.reason) from None


competition_options = functools.partial(service_options, kind=CompetitionClient)
"""Adds `--data` and `--server`; the command gets one `client`. The folder is made if it is missing."""
read_options = functools.partial(competition_options, require=require_store)
"""Adds the same options, for commands that create no folder."""
