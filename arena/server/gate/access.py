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
    HELLO = auto()
    """A bot's token, said in `hello` and judged there."""
    READ = auto()
    """Any token that is valid."""
    ORGANISE = auto()
    """An organiser's token."""


CALLS: Final[Mapping[str, Access]] = {
    "/cardarena.v1.PlayService/Play": Access.HELLO,
    "/cardarena.v1.LobbyService/ListGames": Access.READ,
    "/cardarena.v1.LobbyService/CreateMatch": Access.ORGANISE,
    "/cardarena.v1.LobbyService/GetMatch": Access.READ,
    "/cardarena.v1.LobbyService/ListMatches": Access.READ,
    "/cardarena.v1.LobbyService/ListBots": Access.READ,
    "/cardarena.v1.ReplayService/GetReplay": Access.READ,
    "/cardarena.v1.ReplayService/ListReplays": Access.READ,
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
    if access is Access.OPEN:
        with contextlib.suppress(Refused):
            if well_formed(token := bearer(metadata)):
                return _caller(tokens.holder(token))
        return STRANGER
    token = bearer(metadata)
    if tokens.guests and not token:
        return STRANGER
    if tokens.guests and token.startswith(GUEST):
        tokens.bot(token)
        return STRANGER
    holder = tokens.holder(token)
    if holder.scope not in _SCOPES[access]:
        raise denied("WRONG_SCOPE", "this call needs an organiser's token")
    return _caller(holder)


def _caller(holder: Holder) -> Caller:
    if holder.bot is None:
        return Caller(organises=holder.scope is Scope.ORGANISER)
    return Caller(holder.bot.name)


def is_organiser(metadata: Iterable[tuple[str, str | bytes]], tokens: Tokens) -> bool:
    """Whether a call that may be made has an organiser's token. A guest has none.

    Raises:
      Refused: if its token is no longer valid.
    """
    token = bearer(metadata)
    if not token or (tokens.guests and token.startswith(GUEST)):
        return False
    return tokens.holder(token).scope is Scope.ORGANISER


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
