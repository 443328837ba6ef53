"""The table of all calls with the token that each call needs, and the function that applies it.

Every call carries its token as `authorization: Bearer TOKEN`. The play stream may carry it in `hello` instead, since
the gRPC of some languages makes metadata hard to set.
"""

import contextlib
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final

from arena.bots.tokens import GUEST, Holder, Tokens, well_formed
from arena.errors.refused import Refused
from arena.live.limits import STRANGER, Caller, Context
from arena.store.keys import Scope


class Access(Enum):
    """The kind of token that a call needs."""

    OPEN = auto()
    """No token."""
    WATCH = auto()
    """No token, because the call shows public information. Read-only."""
    HELLO = auto()
    """A bot's token in `hello`, which the play service checks."""
    READ = auto()
    """Any valid token. Read-only."""
    ORGANISE = auto()
    """An organiser's token."""
    GOVERN = auto()
    """An organiser's token, also where guests are accepted: the call is about owners and what they own."""
    KEYED = auto()
    """The token of any key, also where guests are accepted; the service checks the owner of the bot."""
    OWN = auto()
    """An owner's token; the service checks that the bot is the owner's."""
    OVERSEE = auto()
    """An owner's or an organiser's token; the service checks the owner of the bot."""
    WORK = auto()
    """A worker's token."""
    SITE = auto()
    """No token, but the call has to arrive by the socket file of the data folder, as calls of the arena's own pages do."""
    CODE = auto()
    """No token: the request has the code of an invitation, or is a step of a sign-in, which the service checks."""


CALLS: Final[Mapping[str, Access]] = {
    "/cardarena.v1.PlayService/Play": Access.HELLO,
    "/cardarena.v1.LobbyService/ListGames": Access.READ,
    "/cardarena.v1.LobbyService/CreateMatch": Access.ORGANISE,
    "/cardarena.v1.LobbyService/GetMatch": Access.READ,
    "/cardarena.v1.LobbyService/ListMatches": Access.READ,
    "/cardarena.v1.LobbyService/ListPlayedGames": Access.READ,
    "/cardarena.v1.LobbyService/ListPlayedBots": Access.READ,
    "/cardarena.v1.LobbyService/ListBots": Access.READ,
    "/cardarena.v1.LobbyService/ListHumanOpponents": Access.SITE,
    "/cardarena.v1.LobbyService/SeatPerson": Access.SITE,
    "/cardarena.v1.ReplayService/GetReplay": Access.READ,
    "/cardarena.v1.ReplayService/InspectMatch": Access.GOVERN,
    "/cardarena.v1.CompetitionService/CreateCompetition": Access.GOVERN,
    "/cardarena.v1.CompetitionService/ControlCompetition": Access.GOVERN,
    "/cardarena.v1.CompetitionService/DisqualifyBot": Access.GOVERN,
    "/cardarena.v1.CompetitionService/ReinstateBot": Access.GOVERN,
    "/cardarena.v1.CompetitionService/DeleteCompetition": Access.GOVERN,
    "/cardarena.v1.CompetitionService/Announce": Access.GOVERN,
    "/cardarena.v1.CompetitionService/DropWorker": Access.GOVERN,
    "/cardarena.v1.CompetitionService/ListSpotChecks": Access.GOVERN,
    "/cardarena.v1.CompetitionService/EstimateCompetition": Access.READ,
    "/cardarena.v1.CompetitionService/EnterBot": Access.KEYED,
    "/cardarena.v1.CompetitionService/WithdrawBot": Access.KEYED,
    "/cardarena.v1.CompetitionService/GetCompetition": Access.READ,
    "/cardarena.v1.CompetitionService/ListCompetitions": Access.READ,
    "/cardarena.v1.CompetitionService/ListRounds": Access.READ,
    "/cardarena.v1.CompetitionService/WatchCompetition": Access.READ,
    "/cardarena.v1.StandingsService/GetStandings": Access.READ,
    "/cardarena.v1.StandingsService/GetPair": Access.READ,
    "/cardarena.v1.StandingsService/ExportStandings": Access.READ,
    "/cardarena.v1.StandingsService/GetCollusion": Access.GOVERN,
    "/cardarena.v1.ComparisonService/CreateComparison": Access.KEYED,
    "/cardarena.v1.ComparisonService/GetComparison": Access.KEYED,
    "/cardarena.v1.ComparisonService/CancelComparison": Access.KEYED,
    "/cardarena.v1.ComparisonService/ListComparisons": Access.KEYED,
    "/cardarena.v1.KeyService/CreateKey": Access.GOVERN,
    "/cardarena.v1.KeyService/SignIn": Access.OVERSEE,
    "/cardarena.v1.KeyService/ListProviders": Access.CODE,
    "/cardarena.v1.KeyService/BeginSignIn": Access.CODE,
    "/cardarena.v1.KeyService/FinishSignIn": Access.CODE,
    "/cardarena.v1.KeyService/LinkIdentity": Access.OWN,
    "/cardarena.v1.KeyService/GetKey": Access.OVERSEE,
    "/cardarena.v1.KeyService/ListKeys": Access.OVERSEE,
    "/cardarena.v1.KeyService/RevokeKey": Access.OVERSEE,
    "/cardarena.v1.OwnerService/Register": Access.CODE,
    "/cardarena.v1.OwnerService/Invite": Access.GOVERN,
    "/cardarena.v1.OwnerService/Ban": Access.GOVERN,
    "/cardarena.v1.OwnerService/ListInvitations": Access.GOVERN,
    "/cardarena.v1.OwnerService/ListOwners": Access.GOVERN,
    "/cardarena.v1.WebhookService/CreateWebhook": Access.OVERSEE,
    "/cardarena.v1.WebhookService/ListWebhooks": Access.OVERSEE,
    "/cardarena.v1.WebhookService/DeleteWebhook": Access.OVERSEE,
    "/cardarena.v1.WebhookService/TestWebhook": Access.OVERSEE,
    "/cardarena.v1.BotService/CreateBot": Access.OWN,
    "/cardarena.v1.BotService/ListOwnedBots": Access.OVERSEE,
    "/cardarena.v1.BotService/CreateToken": Access.OWN,
    "/cardarena.v1.BotService/SubmitVersion": Access.OWN,
    "/cardarena.v1.BotService/SetVersionState": Access.OWN,
    "/cardarena.v1.BotService/GetReport": Access.OVERSEE,
    "/cardarena.v1.BotService/ListVersions": Access.OVERSEE,
    "/cardarena.v1.BotService/ListLogs": Access.OVERSEE,
    "/cardarena.v1.BotService/GetLog": Access.OVERSEE,
    "/cardarena.v1.WatchService/Watch": Access.WATCH,
    "/cardarena.v1.WatchService/ListLive": Access.WATCH,
    "/cardarena.v1.WorkService/Work": Access.WORK,
    "/cardarena.v1.WorkService/GetArchive": Access.WORK,
    "/cardarena.v1.WorkService/ReportPlacement": Access.WORK,
    # A monitor has no key; it only sees whether the arena runs.
    "/grpc.health.v1.Health/Check": Access.OPEN,
    "/grpc.health.v1.Health/Watch": Access.OPEN,
    # Reflection describes the calls and messages, which are published anyway.
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Access.OPEN,
}
"""All calls by name. A call that is not listed cannot be made, whatever is registered with gRPC."""

_PEOPLE: Final = frozenset(Scope) - {Scope.WORKER}
_SCOPES: Final[Mapping[Access, frozenset[Scope]]] = {
    Access.READ: _PEOPLE,
    Access.ORGANISE: frozenset({Scope.ORGANISER}),
    Access.GOVERN: frozenset({Scope.ORGANISER}),
    Access.KEYED: _PEOPLE,
    Access.OWN: frozenset({Scope.OWNER}),
    Access.OVERSEE: frozenset({Scope.OWNER, Scope.ORGANISER}),
    Access.WORK: frozenset({Scope.WORKER}),
}
_NO_GUESTS: Final = frozenset(
    {Access.GOVERN, Access.KEYED, Access.OWN, Access.OVERSEE, Access.WORK}
)
"""Calls that need a key, because guests own nothing."""
_NEEDED: Final[Mapping[Access, str]] = {
    Access.OWN: "an owner's is needed",
    Access.OVERSEE: "an owner's or an organiser's is needed",
    Access.WORK: "a worker's is needed",
    Access.READ: "a worker's is only for playing deal-sets",
    Access.KEYED: "a worker's is only for playing deal-sets",
}


def authorise(
    access: Access, metadata: Iterable[tuple[str, str | bytes]], tokens: Tokens
) -> Caller:
    """Check that a call may be made with the token in its metadata; return its caller.

    Where guests are accepted, a call without a token is a guest's, who may make all calls that need no key. A call with
    a token may do what that token allows. Calls that need no token ignore an invalid one.

    Raises `Refused` if the call may not be made.
    """
    if access is Access.HELLO:
        return STRANGER
    if access in (Access.OPEN, Access.CODE, Access.SITE, Access.WATCH):
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
        raise Refused("WRONG_SCOPE", _NEEDED.get(access, "an organiser's is needed"))
    return _caller(holder)


def _caller(holder: Holder) -> Caller:
    if holder.bot is None:
        # Workers are machines of the organiser, and join by calls that last.
        organises = holder.scope in (Scope.ORGANISER, Scope.WORKER)
        return Caller(organises=organises, owner=holder.owner)
    return Caller(holder.bot.name, owner=holder.owner)


def holder_of(context: Context, tokens: Tokens) -> Holder:
    """Return the holder of the token of a call that needs one. Raises `Refused` if the token is no longer valid."""
    return tokens.holder(bearer(context.invocation_metadata() or ()))


def organiser(context: Context, tokens: Tokens) -> Holder | None:
    """Return the organiser who makes a call; None if it has no organiser's token.

    Raises `Refused` if its token is no longer valid.
    """
    token = bearer(context.invocation_metadata() or ())
    if not token or (tokens.guests and token.startswith(GUEST)):
        return None
    holder = tokens.holder(token)
    return holder if holder.scope is Scope.ORGANISER else None


def token_of(hello_token: str, metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the token of a play stream: the one in `hello`, or otherwise that of the call.

    Raises `Refused` if the two differ.
    """
    token = bearer(metadata)
    if token and hello_token and token != hello_token:
        raise Refused("BAD_TOKEN", "hello and the call's metadata have different ones")
    return hello_token or token


def bearer(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the token in the metadata of a call; empty if there is none.

    Raises `Refused` if `authorization` is malformed.
    """
    values = [value for key, value in metadata if key == "authorization"]
    if not values:
        return ""
    (value, *more) = values
    scheme, _, token = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if more or scheme.lower() != "bearer":
        raise Refused("BAD_TOKEN", "authorization is `Bearer TOKEN`, once")
    return token.strip()
