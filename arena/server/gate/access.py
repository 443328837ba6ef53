"""Who may make which call: the whole table, and the one place where it is applied.

Every call carries its token as `authorization: Bearer TOKEN`. The play stream may
carry it in `hello` instead, since a bot may be written in a language whose gRPC
makes metadata hard to reach.
"""

import contextlib
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final

from arena.server.gate.limits import STRANGER, Caller
from arena.server.gate.tokens import GUEST, Holder, Tokens, denied, unauthenticated, well_formed
from arena.server.refusals import Refused
from arena.store.keys import Scope


class Access(Enum):
    """What a call asks of who makes it."""

    OPEN = auto()
    """Nothing."""
    WATCH = auto()
    """Nothing, as it shows what is public; but it only looks, so it comes last."""
    HELLO = auto()
    """A bot's token, said in `hello` and judged there."""
    READ = auto()
    """Any token that is valid."""
    ORGANISE = auto()
    """An organiser's token."""
    GOVERN = auto()
    """An organiser's token, also where guests are let in: it is about who owns what."""
    KEYED = auto()
    """Any key's token, also where guests are let in: whose the bot is, is judged there."""
    OWN = auto()
    """An owner's token; whether the bot is its own is judged there."""
    OVERSEE = auto()
    """An owner's token, or an organiser's; whose the bot is, is judged there."""
    CODE = auto()
    """The code of an invitation, said in the request and judged there."""


CALLS: Final[Mapping[str, Access]] = {
    "/cardarena.v1.PlayService/Play": Access.HELLO,
    "/cardarena.v1.LobbyService/ListGames": Access.READ,
    "/cardarena.v1.LobbyService/CreateMatch": Access.ORGANISE,
    "/cardarena.v1.LobbyService/GetMatch": Access.READ,
    "/cardarena.v1.LobbyService/ListMatches": Access.READ,
    "/cardarena.v1.LobbyService/ListBots": Access.READ,
    "/cardarena.v1.ReplayService/GetReplay": Access.READ,
    "/cardarena.v1.ReplayService/ListReplays": Access.READ,
    "/cardarena.v1.CompetitionService/CreateCompetition": Access.GOVERN,
    "/cardarena.v1.CompetitionService/ControlCompetition": Access.GOVERN,
    "/cardarena.v1.CompetitionService/DisqualifyBot": Access.GOVERN,
    "/cardarena.v1.CompetitionService/EnterBot": Access.KEYED,
    "/cardarena.v1.CompetitionService/WithdrawBot": Access.KEYED,
    "/cardarena.v1.CompetitionService/GetCompetition": Access.READ,
    "/cardarena.v1.CompetitionService/ListCompetitions": Access.READ,
    "/cardarena.v1.CompetitionService/ListRounds": Access.READ,
    "/cardarena.v1.CompetitionService/ListDealSets": Access.READ,
    "/cardarena.v1.CompetitionService/WatchCompetition": Access.READ,
    "/cardarena.v1.TableService/GetTable": Access.READ,
    "/cardarena.v1.TableService/GetPair": Access.READ,
    "/cardarena.v1.TableService/ExportTable": Access.READ,
    "/cardarena.v1.CompareService/AskQuestion": Access.KEYED,
    "/cardarena.v1.CompareService/GetVerdict": Access.KEYED,
    "/cardarena.v1.CompareService/CancelQuestion": Access.KEYED,
    "/cardarena.v1.OwnerService/Register": Access.CODE,
    "/cardarena.v1.OwnerService/Invite": Access.GOVERN,
    "/cardarena.v1.OwnerService/Ban": Access.GOVERN,
    "/cardarena.v1.OwnerService/ListOwners": Access.GOVERN,
    "/cardarena.v1.BotService/CreateBot": Access.OWN,
    "/cardarena.v1.BotService/CreateToken": Access.OWN,
    "/cardarena.v1.BotService/SubmitVersion": Access.OWN,
    "/cardarena.v1.BotService/SetVersionState": Access.OWN,
    "/cardarena.v1.BotService/GetReport": Access.OVERSEE,
    "/cardarena.v1.BotService/ListVersions": Access.OVERSEE,
    "/cardarena.v1.BotService/ListLogs": Access.OVERSEE,
    "/cardarena.v1.BotService/GetLog": Access.OVERSEE,
    "/cardarena.v1.WatchService/Watch": Access.WATCH,
    "/cardarena.v1.WatchService/ListLive": Access.WATCH,
    # A monitor has no key; it learns whether the arena runs, and no more.
    "/grpc.health.v1.Health/Check": Access.OPEN,
    "/grpc.health.v1.Health/Watch": Access.OPEN,
    # Tells the calls and messages there are, which are published anyway.
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Access.OPEN,
}
"""A call that is not here does not exist for anybody, whatever is registered with gRPC."""

_SCOPES: Final[Mapping[Access, frozenset[Scope]]] = {
    Access.READ: frozenset(Scope),
    Access.ORGANISE: frozenset({Scope.ORGANISER}),
    Access.GOVERN: frozenset({Scope.ORGANISER}),
    Access.KEYED: frozenset(Scope),
    Access.OWN: frozenset({Scope.OWNER}),
    Access.OVERSEE: frozenset({Scope.OWNER, Scope.ORGANISER}),
}
_NO_GUESTS: Final = frozenset({Access.GOVERN, Access.KEYED, Access.OWN, Access.OVERSEE})
"""What nobody may without a key: a guest owns nothing, and governs nobody."""
_WRONG_SCOPE: Final[Mapping[Access, str]] = {
    Access.OWN: "this call needs an owner's token",
    Access.OVERSEE: "this call needs an owner's token, or an organiser's",
}


def authorise(
    access: Access, metadata: Iterable[tuple[str, str | bytes]], tokens: Tokens
) -> Caller:
    """Let a call pass, or not; returns who makes it.

    Where guests are let in, a call without a token is a guest's, and may do all; a
    call with a token may do what that token allows. Where no token is asked for, one
    that is no good does no harm.

    Raises:
      Refused: if the call may not be made with what its metadata says.
    """
    if access is Access.HELLO:
        return STRANGER
    if access in (Access.OPEN, Access.CODE, Access.WATCH):
        with contextlib.suppress(Refused):
            if well_formed(token := bearer(metadata)):
                return _caller(tokens.holder(token))
        return STRANGER
    token = bearer(metadata)
    guests = tokens.guests and access not in _NO_GUESTS
    if guests and not token:
        return STRANGER
    if guests and token.startswith(GUEST):
        tokens.bot(token)
        return STRANGER
    holder = tokens.holder(token)
    if holder.scope not in _SCOPES[access]:
        text = _WRONG_SCOPE.get(access, "this call needs an organiser's token")
        raise denied("WRONG_SCOPE", text)
    return _caller(holder)


def _caller(holder: Holder) -> Caller:
    if holder.bot is None:
        return Caller(organises=holder.scope is Scope.ORGANISER, owner=holder.owner)
    return Caller(holder.bot.name, owner=holder.owner)


def holder_of(metadata: Iterable[tuple[str, str | bytes]], tokens: Tokens) -> Holder:
    """Who makes a call that nobody may make without a key.

    Raises:
      Refused: if its token is no longer valid.
    """
    return tokens.holder(bearer(metadata))


def organiser(metadata: Iterable[tuple[str, str | bytes]], tokens: Tokens) -> Holder | None:
    """Which organiser makes a call that may be made; None if it has no organiser's token.

    Raises:
      Refused: if its token is no longer valid.
    """
    token = bearer(metadata)
    if not token or (tokens.guests and token.startswith(GUEST)):
        return None
    holder = tokens.holder(token)
    return holder if holder.scope is Scope.ORGANISER else None


def token_of(hello_token: str, metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """The token of a play stream: that of `hello`, or else that of the call.

    Raises:
      Refused: if they are two.
    """
    token = bearer(metadata)
    if token and hello_token and token != hello_token:
        raise unauthenticated("BAD_TOKEN", "hello and the call's metadata have different tokens")
    return hello_token or token


def bearer(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """The token of a call; empty if there is none.

    Raises:
      Refused: if there is one that is not said as it should be.
    """
    found = [value for key, value in metadata if key == "authorization"]
    if not found:
        return ""
    (value, *more) = found
    scheme, _, token = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if more or scheme.lower() != "bearer":
        raise unauthenticated("BAD_TOKEN", "the authorization has to be `Bearer TOKEN`, once")
    return token.strip()
