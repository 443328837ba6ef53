"""Where competitions are kept, as commands reach them: a folder on this machine, or an arena elsewhere."""

import contextlib
import functools
import getpass
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import click
import grpc
from click.core import ParameterSource

from arena.cli.arguments import DEFAULT_DATA, plain_errors
from arena.cli.lobby import PAGE, Caller, Server, channel_of, server_options
from arena.cli.near import nearest
from arena.cli.options import with_options
from arena.competition.plan_file import CompetitionPlan, PlanError, read_plan
from arena.competition.record import CompetitionRecord, Unreadable, record_of_json
from arena.competition.rounds import DrawError
from arena.competition.states import Action, NotAllowed, State
from arena.jail import BotCommand
from arena.replay.signing import arena_key
from arena.server.competitions.players import launched_command
from arena.server.data_folder import store_path
from arena.server.office import Office, command_entry
from arena.server.services.competitions import action_number, info_json, state_number
from arena.store import BotKind, NoCompetition, Store, open_store
from cardarena.v1 import (
    competitions_pb2,
    competitions_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
)

F = TypeVar("F", bound=Callable[..., Any])

LONGEST_S: Final = 120.0
"""For calls that make a table of many deal-sets."""

MISTAKES: Final = (DrawError, NotAllowed, Unreadable)


class Desk(Protocol):
    """What can be done with competitions; each call fails as a `click.ClickException`."""

    def create(self, config: str) -> CompetitionPlan:
        """Make one of a TOML."""
        ...

    def control(self, name: str, action: Action, expected: State | None) -> State:
        """Take an action; the state that it leads to."""
        ...

    def disqualify(self, name: str, bot: str, reason: str) -> None:
        """Drop a bot and its deal-sets."""
        ...

    def withdraw(self, name: str, bot: str) -> None:
        """Take a bot out."""
        ...

    def enter(self, name: str, bot: str) -> None:
        """Have a bot of this arena take part."""
        ...

    def every(self) -> list[dict[str, Any]]:
        """All competitions."""
        ...

    def show(self, name: str) -> dict[str, Any]:
        """Where one stands."""
        ...

    def table(self, name: str, number: int | None) -> dict[str, Any]:
        """A table: by number, or the official one of what is finished, or the live one."""
        ...

    def deals(self, name: str, number: int | None) -> Iterator[str]:
        """JSON Lines of a table and of all that it is made from."""
        ...

    def record(self, name: str) -> CompetitionRecord:
        """All that one has come to; of an arena elsewhere, by its latest official table if there is one."""
        ...


class LocalDesk:
    """The competitions in a folder of data."""

    def __init__(self, store: Store, data: Path) -> None:
        self.data: Final = data
        self.store: Final = store
        with plain_errors():
            self.office: Final = Office(store.competitions(), arena_key(data))
        self._who = _person()

    def create(self, config: str) -> CompetitionPlan:
        with told_plainly():
            plan = read_plan(config)
            entries = []
            for each in plan.bots:
                command = launched_command(each.name, each.command)
                entries.append(
                    command_entry(each.name, each.owner, command.text, command.content())
                )
            return self.office.create(config, who=self._who, bots=entries)

    def control(self, name: str, action: Action, expected: State | None) -> State:
        with self._named(name):
            return self.office.control(name, action, who=self._who, expected=expected)

    def disqualify(self, name: str, bot: str, reason: str) -> None:
        with self._named(name):
            self.office.disqualify(name, bot, reason=reason, who=self._who)

    def withdraw(self, name: str, bot: str) -> None:
        with self._named(name):
            self.office.withdraw(name, bot, who=self._who)

    def enter(self, name: str, bot: str) -> None:
        with self._named(name):
            entry = self.office.entry_of(bot, self.store)
            self.office.enter(name, entry, who=self._who, organises=True)

    def every(self) -> list[dict[str, Any]]:
        with told_plainly():
            return self.office.every()

    def show(self, name: str) -> dict[str, Any]:
        with self._named(name):
            return self.office.show(name)

    def table(self, name: str, number: int | None) -> dict[str, Any]:
        with self._named(name):
            if number is None:
                return self.office.latest_table(name)
            return self.office.table(name, number)

    def deals(self, name: str, number: int | None) -> Iterator[str]:
        with self._named(name):
            yield from self.office.deals(name, number)

    def record(self, name: str) -> CompetitionRecord:
        with self._named(name):
            return self.store.competitions().record(name)

    def commands(self, name: str) -> tuple[BotCommand, ...]:
        """The bots of a competition that are launched by commands."""
        with self._named(name):
            return tuple(
                launched_command(each.entry.name, each.entry.command)
                for each in self.store.competitions().get(name).entries
                if each.entry.kind is BotKind.COMMAND and each.candidate.out is None
            )

    @contextlib.contextmanager
    def _named(self, name: str) -> Iterator[None]:
        """Tell mistakes plainly; of a name that is not there, which are near to it."""
        try:
            with told_plainly(NoCompetition):
                yield
        except NoCompetition as error:
            names = [each["competition"] for each in self.office.every()]
            if name in names:
                raise click.ClickException(str(error)) from None
            text = f"there is no competition {name!r} in {self.data}; {nearest(name, names)}"
            raise click.ClickException(text) from None


@contextlib.contextmanager
def told_plainly(*but: type[Exception]) -> Iterator[None]:
    """Tell what is wrong with a competition in sentences, and end with exit code 1."""
    try:
        with plain_errors() if not but else contextlib.nullcontext():
            yield
    except but:
        raise
    except PlanError as error:
        raise click.ClickException(
            "\n  ".join(["the plan is not right:", *error.problems])
        ) from None
    except MISTAKES as error:
        raise click.ClickException(str(error)) from None
    except Exception as error:
        with plain_errors():
            raise error from None


@contextlib.contextmanager
def local_desk(data: Path) -> Iterator[LocalDesk]:
    """The competitions in a folder, which is made if it is not there."""
    with plain_errors():
        try:
            data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.ClickException(f"cannot write in {data}: {error.strerror}") from None
        store = open_store(store_path(data))
    with store:
        yield LocalDesk(store, data)


class RemoteDesk:
    """The competitions of an arena elsewhere."""

    def __init__(self, channel: grpc.Channel, server: Server) -> None:
        self._caller = Caller(server)
        self._competitions = competitions_pb2_grpc.CompetitionServiceStub(channel)
        self._tables = tables_pb2_grpc.TableServiceStub(channel)

    def create(self, config: str) -> CompetitionPlan:
        with told_plainly():
            plan = read_plan(config)
        request = competitions_pb2.CreateCompetitionRequest(config=config)
        self._caller.call(self._competitions.CreateCompetition, request)
        return plan

    def control(self, name: str, action: Action, expected: State | None) -> State:
        request = competitions_pb2.ControlCompetitionRequest(
            name=name,
            action=action_number(action),  # type: ignore[arg-type]
            expected_state=state_number(expected),  # type: ignore[arg-type]
        )
        made = self._caller.call(
            self._competitions.ControlCompetition, request, longest_s=LONGEST_S
        )
        return State(info_json(made.competition)["state"])

    def disqualify(self, name: str, bot: str, reason: str) -> None:
        request = competitions_pb2.DisqualifyBotRequest(name=name, bot=bot, reason=reason)
        self._caller.call(self._competitions.DisqualifyBot, request, longest_s=LONGEST_S)

    def withdraw(self, name: str, bot: str) -> None:
        request = competitions_pb2.WithdrawBotRequest(name=name, bot=bot)
        self._caller.call(self._competitions.WithdrawBot, request)

    def enter(self, name: str, bot: str) -> None:
        request = competitions_pb2.EnterBotRequest(name=name, bot=bot)
        self._caller.call(self._competitions.EnterBot, request)

    def every(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        request = competitions_pb2.ListCompetitionsRequest(page_size=PAGE)
        while True:
            page = self._caller.call(self._competitions.ListCompetitions, request)
            found += [info_json(each) for each in page.competitions]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def show(self, name: str) -> dict[str, Any]:
        request = competitions_pb2.GetCompetitionRequest(name=name)
        made = self._caller.call(self._competitions.GetCompetition, request)
        return {"games": [], "bots": []} | info_json(made.competition)

    def table(self, name: str, number: int | None) -> dict[str, Any]:
        request = tables_pb2.GetTableRequest(name=name, number=number or 0)
        found: dict[str, Any] = json.loads(
            self._caller.call(self._tables.GetTable, request, longest_s=LONGEST_S).table
        )
        return found

    def deals(self, name: str, number: int | None) -> Iterator[str]:
        request = tables_pb2.ExportTableRequest(name=name, number=number or 0)
        for piece in self._caller.stream(self._tables.ExportTable, request):
            yield from piece.lines

    def record(self, name: str) -> CompetitionRecord:
        head, *rest = (json.loads(line) for line in self.deals(name, None))
        with told_plainly():
            return record_of_json(head, [each for each in rest if "table" not in each])


def desk_options(command: F) -> F:
    """Adds `--data` and `--server`; the command gets one `desk`, open while it runs."""

    @functools.wraps(command)
    def with_desk(*, data: Path | None, server: Server | None, **rest: Any) -> Any:
        source = click.get_current_context().get_parameter_source("data")
        if server is not None and source is ParameterSource.COMMANDLINE:
            raise click.UsageError("choose one of --data and --server")
        if server is None:
            with local_desk(data or DEFAULT_DATA) as desk:
                return command(desk=desk, **rest)
        with channel_of(server) as channel:
            return command(desk=RemoteDesk(channel, server), **rest)

    return with_options(  # type: ignore[return-value]
        with_desk,
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            envvar="ARENA_DATA",
            help=f"The arena's folder, on this machine.  [default: {DEFAULT_DATA}]",
        ),
        functools.partial(server_options, default=None),
    )


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "organiser"
