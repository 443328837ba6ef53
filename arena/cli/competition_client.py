"""Competitions as commands use them: in a folder on this machine, or at an arena over the network."""

import contextlib
import functools
import getpass
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click
import grpc
from click.core import ParameterSource

from arena.cli.arena_client import PAGE, Server, ServiceClient, channel_of, server_options
from arena.cli.options import (
    DEFAULT_DATA,
    make_folder,
    plain_errors,
    require_folder,
    with_options,
)
from arena.cli.suggestions import nearest
from arena.competition.plan import CompetitionPlan, PlanError, read_plan
from arena.competition.record import CompetitionRecord, Unreadable, record_of_json
from arena.competition.rounds import DrawError
from arena.competition.states import Action, NotAllowed, State
from arena.replay.signing import arena_key
from arena.sandbox import BotCommand
from arena.server.competition_service import (
    BadAnnouncement,
    BotsChanged,
    CompetitionService,
    PlanDiffers,
)
from arena.server.competitions.players import launched_command
from arena.server.data_folder import is_running, store_path
from arena.server.services.competitions import info_json
from arena.store import BotKind, CompetitionEntry, NoCompetition, Store, is_there, open_store
from arena.wire.enums import enum_number
from cardarena.v1 import competitions_pb2, standings_pb2
from cardarena.v1.competitions_pb2_grpc import CompetitionServiceStub
from cardarena.v1.standings_pb2_grpc import StandingsServiceStub

F = TypeVar("F", bound=Callable[..., Any])

LONGEST_S: Final = 120.0
"""Timeout of calls that compute standings of many deal-sets."""

MISTAKES: Final = (BadAnnouncement, BotsChanged, DrawError, NotAllowed, PlanDiffers, Unreadable)


class LocalCompetitions:
    """The competitions in a data folder, with the calls of `RemoteCompetitions`."""

    def __init__(self, store: Store, data: Path) -> None:
        self.data: Final = data
        self.store: Final = store
        self.service: Final = CompetitionService(store.competitions(), arena_key(data))
        self.every: Final = self.service.every
        self.show: Final = self.service.show
        self.standings: Final = self.service.standings
        self.deals: Final = self.service.deals
        self.record: Final = store.competitions().record
        self._who = _person()

    def create(self, config: str) -> CompetitionPlan:
        """Create a competition, with the bots of its plan."""
        bots = _entries(read_plan(config))
        return self.service.create(config, who=self._who, bots=bots)

    def create_or_continue(self, config: str, *, accept_changed: bool) -> CompetitionPlan:
        """Create or continue, as `CompetitionService.create_or_continue`, with the bots of the plan."""
        return self.service.create_or_continue(
            config,
            who=self._who,
            bots=_entries(read_plan(config)),
            accept_changed=accept_changed,
            # An arena that runs in the folder may be about to play it.
            may_replace=not is_running(self.data),
        )

    def control(self, name: str, action: Action, expected: State | None) -> State:
        """Take an action, and return the new state."""
        return self.service.control(name, action, who=self._who, expected=expected)

    def disqualify(self, name: str, bot: str, reason: str) -> None:
        """Remove a bot and its deal-sets."""
        self.service.disqualify(name, bot, reason=reason, who=self._who)

    def drop_worker(self, name: str, worker: str, reason: str) -> int:
        """Drop the deal-sets that a worker played; returns how many."""
        return self.service.drop_worker(name, worker, reason=reason, who=self._who)

    def announce(self, name: str, text: str) -> None:
        """Set the announcement; an empty text removes it."""
        self.service.announce(name, text, who=self._who)

    def withdraw(self, name: str, bot: str) -> None:
        """Withdraw a bot; its results count."""
        self.service.withdraw(name, bot, who=self._who)

    def enter(self, name: str, bot: str) -> Sequence[str]:
        """Enter a bot of this arena; returns its games, none while it has not declared any."""
        entry = self.service.entry_of(name, bot, self.store)
        return self.service.enter(name, entry, who=self._who, organises=True)

    def commands(self, name: str) -> tuple[BotCommand, ...]:
        """The commands of the bots that a competition launches."""
        return tuple(
            launched_command(each.entry.name, each.entry.command)
            for each in self.store.competitions().get(name).entries
            if each.entry.kind is BotKind.COMMAND and each.candidate.out is None
        )


def _entries(plan: CompetitionPlan) -> list[CompetitionEntry]:
    """The entries of a plan's bots, with their commands and the contents of their files."""
    found = []
    for name, bot in sorted(plan.bots.items()):
        command = launched_command(name, bot.command)
        owner, content = bot.owner or name, command.content()
        games = tuple(at for at, game in enumerate(plan.games) if game.game in bot.games)
        entry = CompetitionEntry(name, owner, BotKind.COMMAND, command.text, content, games or None)
        found.append(entry)
    return found


@contextlib.contextmanager
def plain_competition_errors(client: LocalCompetitions | None = None) -> Iterator[None]:
    """Print the errors of competitions in sentences, and exit with 1.

    With a `client`, the nearest known name follows an unknown one.
    """
    try:
        with plain_errors():
            try:
                yield
            except PlanError as error:
                text = "\n  ".join(["the plan is not right:", *error.problems])
                raise click.ClickException(text) from None
            except NoCompetition as error:
                if client is None:
                    raise
                names = [each["competition"] for each in client.every()]
                text = NoCompetition.entry.message(f"{error.name!r} in {client.data}")
                text = f"{text}; {nearest(error.name, names)}; --server ADDRESS names another arena"
                raise click.ClickException(text) from None
    except MISTAKES as error:
        raise click.ClickException(str(error)) from None


@contextlib.contextmanager
def local_competitions(data: Path, *, must_exist: bool = False) -> Iterator[LocalCompetitions]:
    """The competitions in a folder; errors are printed in sentences.

    The folder is made if it is missing, unless it must exist.
    """
    with plain_errors():
        if must_exist:
            require_folder(data)
            if not is_there(store_path(data)):
                raise click.ClickException(f"nothing was played in the folder {data} yet")
        make_folder(data)
        store = open_store(store_path(data))
    with store:
        with plain_errors():
            client = LocalCompetitions(store, data)
        with plain_competition_errors(client):
            yield client


class RemoteCompetitions:
    """The competitions of an arena over the network. Each call raises `NoAnswer` if it fails."""

    def __init__(self, channel: grpc.Channel, server: Server) -> None:
        self._competitions = ServiceClient(CompetitionServiceStub(channel), server)
        self._standings = ServiceClient(StandingsServiceStub(channel), server)

    def create(self, config: str) -> CompetitionPlan:
        """Create a competition from a TOML."""
        plan = read_plan(config)
        request = competitions_pb2.CreateCompetitionRequest(config=config)
        self._competitions.call(self._competitions.stub.CreateCompetition, request)
        return plan

    def control(self, name: str, action: Action, expected: State | None) -> State:
        """Take an action, and return the new state."""
        request = competitions_pb2.ControlCompetitionRequest(
            name=name,
            action=enum_number(competitions_pb2.CompetitionAction, action),
            expected_state=enum_number(competitions_pb2.CompetitionState, expected or ""),
        )
        method = self._competitions.stub.ControlCompetition
        made = self._competitions.call(method, request, longest_s=LONGEST_S)
        return State(info_json(made.competition)["state"])

    def disqualify(self, name: str, bot: str, reason: str) -> None:
        """Remove a bot and its deal-sets."""
        request = competitions_pb2.DisqualifyBotRequest(name=name, bot=bot, reason=reason)
        method = self._competitions.stub.DisqualifyBot
        self._competitions.call(method, request, longest_s=LONGEST_S)

    def announce(self, name: str, text: str) -> None:
        """Set the announcement; an empty text removes it."""
        request = competitions_pb2.AnnounceRequest(name=name, text=text)
        self._competitions.call(self._competitions.stub.Announce, request)

    def withdraw(self, name: str, bot: str) -> None:
        """Withdraw a bot; its results count."""
        request = competitions_pb2.WithdrawBotRequest(name=name, bot=bot)
        self._competitions.call(self._competitions.stub.WithdrawBot, request)

    def enter(self, name: str, bot: str) -> Sequence[str]:
        """Enter a bot of the arena; returns its games, none while it has not declared any."""
        request = competitions_pb2.EnterBotRequest(name=name, bot=bot)
        return list(self._competitions.call(self._competitions.stub.EnterBot, request).games)

    def every(self) -> list[dict[str, Any]]:
        """All competitions."""
        request = competitions_pb2.ListCompetitionsRequest(page_size=PAGE)
        method = self._competitions.stub.ListCompetitions
        return [info_json(e) for e in self._competitions.pages(method, request, "competitions")]

    def show(self, name: str) -> dict[str, Any]:
        """The state of a competition."""
        request = competitions_pb2.GetCompetitionRequest(name=name)
        made = self._competitions.call(self._competitions.stub.GetCompetition, request)
        return {"games": [], "bots": []} | info_json(made.competition)

    def standings(self, name: str, number: int | None = None) -> dict[str, Any]:
        """Official standings by their number; without one, the latest state of the standings.

        That is official if the competition is finished, and otherwise live.
        """
        request = standings_pb2.GetStandingsRequest(name=name, number=number or 0)
        method = self._standings.stub.GetStandings
        answer = self._standings.call(method, request, longest_s=LONGEST_S)
        found: dict[str, Any] = json.loads(answer.standings_json)
        return found

    def deals(self, name: str, number: int | None = None) -> Iterator[str]:
        """JSON Lines of standings and of the deal-sets from which they were computed."""
        request = standings_pb2.ExportStandingsRequest(name=name, number=number or 0)
        for piece in self._standings.stream(self._standings.stub.ExportStandings, request):
            yield from piece.json_lines

    def record(self, name: str) -> CompetitionRecord:
        """The rounds and deal-sets of the latest official standings; of all, if there are none."""
        head, *rest = (json.loads(line) for line in self.deals(name))
        return record_of_json(head, [each for each in rest if "standings" not in each])


CompetitionClient: TypeAlias = LocalCompetitions | RemoteCompetitions


def competition_options(command: F, *, must_exist: bool = False) -> F:
    """Add `--data` and `--server`; the command gets one `client`, which is open while it runs.

    A folder that must exist is not created.
    """

    @functools.wraps(command)
    def with_client(*, data: Path | None, server: Server | None, **rest: Any) -> Any:
        source = click.get_current_context().get_parameter_source("data")
        if server is not None and source is ParameterSource.COMMANDLINE:
            raise click.UsageError("choose one of --data and --server")
        if server is None:
            with local_competitions(data or DEFAULT_DATA, must_exist=must_exist) as client:
                return command(client=client, **rest)
        with channel_of(server) as channel, plain_competition_errors():
            return command(client=RemoteCompetitions(channel, server), **rest)

    return with_options(  # type: ignore[return-value]
        with_client,
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            envvar="ARENA_DATA",
            help=f"The arena's folder, on this machine.  [default: {DEFAULT_DATA}]",
        ),
        functools.partial(server_options, default=None),
    )


read_options = functools.partial(competition_options, must_exist=True)
"""Adds the options of commands that create no folder."""


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "organiser"
