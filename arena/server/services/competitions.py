"""The competition service: what organisers and owners do, and what everybody may look at.

The office keeps all of it in the store; files are reached on other threads. What looks is answered from
what was found a moment ago, so that many who look cost no more than one.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

import grpc

from arena.competition.plan_file import PlanError, read_plan
from arena.competition.rounds import DrawError
from arena.competition.states import Action, NotAllowed, State
from arena.ladder.schedule import ScheduleError
from arena.server.gate.access import bearer
from arena.server.gate.calls import Context
from arena.server.gate.tokens import Holder, Tokens, denied
from arena.server.office import Office
from arena.server.refusals import Refused, invalid, not_found, not_now
from arena.server.services.pages import page_size
from arena.store import MayNotEnter, NoCompetition, NotExpected, Scope, Store, StoreBusy, StoreError
from cardarena.v1 import competitions_pb2 as messages
from cardarena.v1 import competitions_pb2_grpc

LOOK_S: Final = 1.0
"""Between two looks for those who watch."""
FRESH_S: Final = 1.0
"""How long what was found is shown again."""
MAX_CONFIG_BYTES: Final = 20_000

_T = TypeVar("_T")


class Recent:
    """What was found lately, by what was asked; the same is looked up once at a time."""

    def __init__(
        self, fresh_s: float, most: int = 256, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._fresh_s, self._most, self._now_s = fresh_s, most, now_s
        self._found: dict[tuple[object, ...], tuple[float, asyncio.Task[Any]]] = {}

    async def get(self, key: tuple[object, ...], look: Callable[[], _T]) -> _T:
        """What `look` finds on another thread, or found a moment ago."""
        return await self.begun(key, lambda: asyncio.to_thread(look))

    async def begun(
        self, key: tuple[object, ...], begin: Callable[[], Coroutine[Any, Any, _T]]
    ) -> _T:
        """What comes of what `begin` begins, or came of it a moment ago."""
        known = self._found.get(key)
        if known is None or (known[1].done() and self._now_s() - known[0] > self._fresh_s):
            while len(self._found) >= self._most:
                del self._found[next(iter(self._found))]
            self._found.pop(key, None)
            known = self._now_s(), asyncio.create_task(begin())
            self._found[key] = known
        # Who gives up waiting does not take it from those who wait with it.
        found: _T = await asyncio.shield(known[1])
        return found


class Judge:
    """Says who makes a call, on the loop, and whether a bot is theirs, which takes the disk."""

    def __init__(self, store: Store, tokens: Tokens) -> None:
        self._store, self._tokens = store, tokens

    def holder(self, context: Context) -> Holder:
        """Who has the token of a call that guests may not make.

        Raises:
          Refused: if it is no longer valid.
        """
        return self._tokens.holder(bearer(context.invocation_metadata() or ()))

    def require_own(self, holder: Holder, bot: str) -> None:
        """Require that a bot is the caller's, unless that is an organiser.

        Raises:
          Refused: if it is another's.
        """
        if not bot:
            raise not_found("UNKNOWN_BOT", "a bot has to be named")
        if holder.scope is Scope.ORGANISER:
            return
        known = self._store.registry().find_bot(bot)
        owner = known.owner if known is not None else self._tokens.owner_of(bot)
        if owner != holder.owner:
            raise denied("NOT_YOURS", f"the bot {bot!r} is not yours")


class CompetitionCalls(competitions_pb2_grpc.CompetitionServiceServicer):
    """Serves `cardarena.v1.CompetitionService`."""

    def __init__(self, store: Store, office: Office, tokens: Tokens) -> None:
        self._store, self._office = store, office
        self._judge = Judge(store, tokens)
        self._recent = Recent(FRESH_S)

    # What organisers and owners do.

    async def CreateCompetition(
        self, request: messages.CreateCompetitionRequest, context: Context
    ) -> messages.CreateCompetitionResponse:
        who = self._judge.holder(context).owner
        if len(request.config.encode()) > MAX_CONFIG_BYTES:
            raise invalid("BAD_PLAN", f"a plan is no longer than {MAX_CONFIG_BYTES:,} bytes")

        def create() -> dict[str, Any]:
            plan = read_plan(request.config)
            if plan.bots:
                # A command is run as the arena's own user: that is for who has the machine.
                raise invalid(
                    "BAD_PLAN", "[bots] is for a competition in a folder: no call launches"
                )
            self._office.create(request.config, who=who)
            return self._office.show(plan.name)

        return messages.CreateCompetitionResponse(competition=_info(await told(create)))

    async def ControlCompetition(
        self, request: messages.ControlCompetitionRequest, context: Context
    ) -> messages.ControlCompetitionResponse:
        who = self._judge.holder(context).owner
        action = _ACTIONS.get(request.action)
        if action is None:
            raise invalid("NO_ACTION", "an action has to be named")
        expected = _STATES.get(request.expected_state)

        def control() -> dict[str, Any]:
            self._office.control(request.name, action, who=who, expected=expected)
            return self._office.show(request.name)

        return messages.ControlCompetitionResponse(competition=_info(await told(control)))

    async def EnterBot(
        self, request: messages.EnterBotRequest, context: Context
    ) -> messages.EnterBotResponse:
        holder = self._judge.holder(context)

        def enter() -> None:
            self._judge.require_own(holder, request.bot)
            entry = self._office.entry_of(request.bot, self._store)
            organises = holder.scope is Scope.ORGANISER
            self._office.enter(request.name, entry, who=holder.owner, organises=organises)

        await told(enter)
        return messages.EnterBotResponse()

    async def WithdrawBot(
        self, request: messages.WithdrawBotRequest, context: Context
    ) -> messages.WithdrawBotResponse:
        holder = self._judge.holder(context)

        def withdraw() -> None:
            self._judge.require_own(holder, request.bot)
            self._office.withdraw(request.name, request.bot, who=holder.owner)

        await told(withdraw)
        return messages.WithdrawBotResponse()

    async def DisqualifyBot(
        self, request: messages.DisqualifyBotRequest, context: Context
    ) -> messages.DisqualifyBotResponse:
        who = self._judge.holder(context).owner
        if not request.reason.strip():
            raise invalid("NO_REASON", "everybody is told why: give a reason")

        def disqualify() -> None:
            self._office.disqualify(request.name, request.bot, reason=request.reason, who=who)

        await told(disqualify)
        return messages.DisqualifyBotResponse()

    # What everybody may look at.

    async def GetCompetition(
        self, request: messages.GetCompetitionRequest, context: Context
    ) -> messages.GetCompetitionResponse:
        return messages.GetCompetitionResponse(competition=_info(await self._shown(request.name)))

    async def ListCompetitions(
        self, request: messages.ListCompetitionsRequest, context: Context
    ) -> messages.ListCompetitionsResponse:
        every = await told_of(self._recent.get(("every",), self._office.every))
        page, token = _page(every, request.page_size, request.page_token)
        return messages.ListCompetitionsResponse(
            competitions=[_info(each) for each in page], next_page_token=token
        )

    async def ListRounds(
        self, request: messages.ListRoundsRequest, context: Context
    ) -> messages.ListRoundsResponse:
        name = request.name
        found = await told_of(self._recent.get(("rounds", name), lambda: self._office.rounds(name)))
        page, token = _page(found, request.page_size, request.page_token)
        return messages.ListRoundsResponse(
            rounds=[
                messages.RoundInfo(
                    game=each["game"],
                    seats=each["seats"],
                    round=each["round"],
                    groups=[messages.BotGroup(bots=group) for group in each["groups"]],
                    byes=each["byes"],
                    inputs_sha256=each["inputs_sha256"],
                )
                for each in page
            ],
            next_page_token=token,
        )

    async def ListDealSets(
        self, request: messages.ListDealSetsRequest, context: Context
    ) -> messages.ListDealSetsResponse:
        name = request.name

        def look() -> list[str]:
            return [json.dumps(each) for each in self._office.deal_sets(name)]

        found = await told_of(self._recent.get(("deal-sets", name), look))
        page, token = _page(found, request.page_size, request.page_token)
        return messages.ListDealSetsResponse(deal_sets=page, next_page_token=token)

    async def WatchCompetition(
        self, request: messages.WatchCompetitionRequest, context: Context
    ) -> AsyncIterator[messages.WatchCompetitionResponse]:
        before: dict[str, Any] | None = None
        while True:
            found = await self._shown(request.name)
            if found != before:
                yield messages.WatchCompetitionResponse(competition=_info(found))
            if found["state"] == State.FINISHED:
                return
            before = found
            await asyncio.sleep(LOOK_S)

    async def _shown(self, name: str) -> dict[str, Any]:
        return await told_of(self._recent.get(("show", name), lambda: self._office.show(name)))


async def told(act: Callable[[], _T]) -> _T:
    """What an act on another thread returns; what is wrong with it, as its caller may see it."""
    return await told_of(asyncio.to_thread(act))


async def told_of(found: Awaitable[_T]) -> _T:
    """What is awaited; what is wrong with it, as its caller may see it.

    Raises:
      Refused: with a reason that a program can branch on.
    """
    try:
        return await found
    except PlanError as error:
        raise invalid("BAD_PLAN", str(error)) from None
    except NoCompetition as error:
        reason = "UNKNOWN_COMPETITION"
        reason = "UNKNOWN_BOT" if "is not in the competition" in str(error) else reason
        reason = "UNKNOWN_TABLE" if "there is no table" in str(error) else reason
        raise not_found(reason, str(error)) from None
    except NotExpected as error:
        raise not_now("OTHER_STATE", str(error)) from None
    except NotAllowed as error:
        raise not_now("NOT_ALLOWED", str(error)) from None
    except MayNotEnter as error:
        raise not_now("MAY_NOT_ENTER", str(error)) from None
    except (DrawError, ScheduleError) as error:
        raise not_now("CANNOT_BE_DRAWN", str(error)) from None
    except StoreBusy:
        code = grpc.StatusCode.UNAVAILABLE
        raise Refused(code, "STORE_BUSY", "the store is busy: ask again", retry_s=1.0) from None
    except StoreError as error:
        if "already: give" in str(error):
            raise not_now("NAME_TAKEN", str(error)) from None
        code = grpc.StatusCode.UNAVAILABLE
        raise Refused(
            code, "STORE_AWAY", "the store cannot be read: ask again", retry_s=5.0
        ) from error


def _page(found: Sequence[_T], asked: int, token: str) -> tuple[Sequence[_T], str]:
    """So many from where the page before ended, and the token of the next page."""
    size = page_size(asked)
    if token and not (token.isascii() and token.isdecimal() and len(token) < 10):
        raise invalid("BAD_PAGE_TOKEN", "this is no token of a page")
    at = int(token or 0)
    more = at + size < len(found)
    return found[at : at + size], str(at + size) if more else ""


_ACTIONS: Final[Mapping[int, Action]] = {
    number: Action(name.removeprefix("COMPETITION_ACTION_").lower())
    for name, number in messages.CompetitionAction.items()
    if number
}
_STATES: Final[Mapping[int, State]] = {
    number: State(name.removeprefix("COMPETITION_STATE_").lower())
    for name, number in messages.CompetitionState.items()
    if number
}
_STATE_NUMBERS: Final = {str(state): number for number, state in _STATES.items()}


def _info(found: Mapping[str, Any]) -> messages.CompetitionInfo:
    return messages.CompetitionInfo(
        name=found["competition"],
        kind=found["kind"],
        format=found["format"] or "",
        season=found["season"],
        state=_STATE_NUMBERS[found["state"]],  # type: ignore[arg-type]
        organiser=found["organiser"],
        created=found["created"],
        opens=found["opens"] or "",
        closes=found["closes"] or "",
        entry=found["entry"],
        entered=found["entered"],
        tables=found["tables"],
        games=[
            messages.CompetitionGame(
                game=each["game"], seats=each["seats"], rounds=each["rounds"], **each["deal_sets"]
            )
            for each in found.get("games", ())
        ],
        bots=[
            messages.CompetitionBot(
                bot=each["bot"],
                owner=each["owner"],
                kind=each["kind"],
                seed=each["seed"],
                out=each["out"] or "",
                reason=each["reason"],
                away=each["away"],
            )
            for each in found.get("bots", ())
        ],
    )


def info_json(info: messages.CompetitionInfo) -> dict[str, Any]:
    """A competition as commands print it: the same fields as of one in a folder."""
    about: dict[str, Any] = {
        "competition": info.name,
        "kind": info.kind,
        "format": info.format or None,
        "season": info.season,
        "state": str(_STATES[info.state]),
        "organiser": info.organiser,
        "created": info.created,
        "opens": info.opens or None,
        "closes": info.closes or None,
        "entry": info.entry,
        "entered": info.entered,
        "tables": info.tables,
    }
    if info.games:
        about["games"] = [
            {
                "game": each.game,
                "seats": each.seats,
                "rounds": each.rounds,
                "deal_sets": {
                    name: getattr(each, name)
                    for name in ("complete", "in_play", "waiting", "given_up", "void")
                },
            }
            for each in info.games
        ]
        about["bots"] = [
            {
                "bot": each.bot,
                "owner": each.owner,
                "kind": each.kind,
                "seed": each.seed,
                "out": each.out or None,
                "reason": each.reason,
                "away": each.away,
            }
            for each in info.bots
        ]
    return about


def action_number(action: Action) -> int:
    """An action as the wire has it."""
    return next(number for number, each in _ACTIONS.items() if each is action)


def state_number(state: State | None) -> int:
    """A state as the wire has it; 0 for any."""
    return 0 if state is None else _STATE_NUMBERS[str(state)]


__all__ = [
    "CompetitionCalls",
    "Judge",
    "Recent",
    "action_number",
    "info_json",
    "state_number",
    "told",
    "told_of",
]
