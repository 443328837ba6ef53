"""A bot's declaration in its hello: its games, and how many matches and asks it takes at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from arena.bots.bot_ids import Support
from arena.errors import refusal
from arena.games.catalogue import UnknownGame, game_by_id
from arena.live.session.limits import MAX_MATCHES, MAX_OPEN_ASKS
from cardarena.v1 import play_pb2

MAX_GAMES: Final = 100
"""The maximal number of games that a bot may declare."""

_Why = play_pb2.GameRefusal


@dataclass(frozen=True)
class Declaration:
    """A bot's latest declaration; the defaults are those of a bot that has not connected."""

    games: Mapping[str, Support] = field(default_factory=dict)
    """The declared games that the bot may be seated at, by id."""
    version: str = ""
    max_matches: int = 0
    """The number of simultaneous matches that it accepts."""
    max_open_asks: int = 1
    """The number of simultaneously open asks that it accepts."""
    wants_text: bool = False
    """Whether asks also have moves and events in notation."""
    adds_entropy: bool = False
    """Whether it takes part in fair deals."""
    publishes_notes: bool = False
    """Whether its notes are published with the replays."""

    @classmethod
    def of(cls, hello: play_pb2.Hello) -> tuple["Declaration", Sequence[play_pb2.GameAdmission]]:
        """Return the declaration of a hello, and for each declared game whether the bot is admitted to it."""
        games, admissions = _admitted(hello.games)
        declared = cls(
            games,
            hello.version,
            min(hello.max_matches if hello.HasField("max_matches") else 1, MAX_MATCHES),
            min(hello.max_open_asks or 1, MAX_OPEN_ASKS),
            hello.want_text,
            hello.adds_entropy,
            hello.publish_notes,
        )
        return declared, admissions

    def ready_for(self, max_matches: int) -> "Declaration":
        """Return the declaration with another number of matches, which the bot sent in `ready`."""
        return replace(self, max_matches=min(max_matches, MAX_MATCHES))

    def plays(self, game_id: str, rules_version: int, seats: int) -> bool:
        """Return whether the bot declared this game, rules version and number of seats."""
        support = self.games.get(game_id)
        return (
            support is not None
            and support.rules_version in (0, rules_version)
            and (not support.seats or seats in support.seats)
        )


def _admitted(
    declared: Sequence[play_pb2.GameSupport],
) -> tuple[Mapping[str, Support], Sequence[play_pb2.GameAdmission]]:
    admissions = [_admission(support) for support in declared]
    admitted = {
        support.game: Support(support.rules_version, frozenset(support.seats))
        for support, admission in zip(declared, admissions, strict=True)
        if not admission.refusal
    }
    return admitted, admissions


def _admission(declared: play_pb2.GameSupport) -> play_pb2.GameAdmission:
    try:
        game = game_by_id(declared.game)
    except UnknownGame:
        return _refused(declared, _Why.GAME_REFUSAL_UNKNOWN_GAME, repr(declared.game))
    if declared.rules_version not in (0, game.rules_version):
        detail = f"{game.id} has version {game.rules_version}, not {declared.rules_version}"
        return _refused(declared, _Why.GAME_REFUSAL_OTHER_RULES, detail, game.rules_version)
    if declared.seats and not set(declared.seats) & set(game.seats):
        detail = f"{game.id} has {', '.join(map(str, game.seats))}"
        return _refused(declared, _Why.GAME_REFUSAL_BAD_SEATS, detail, game.rules_version)
    return play_pb2.GameAdmission(game=game.id, rules_version=game.rules_version)


def _refused(
    declared: play_pb2.GameSupport,
    why: play_pb2.GameRefusal.ValueType,
    detail: str,
    rules_version: int = 0,
) -> play_pb2.GameAdmission:
    text = refusal(_Why.Name(why).removeprefix("GAME_REFUSAL_")).message(detail)
    return play_pb2.GameAdmission(
        game=declared.game, refusal=why, text=text, rules_version=rules_version
    )
