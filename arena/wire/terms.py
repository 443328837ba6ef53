"""Match terms as messages and as JSON, and back: the only place that spells them out."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from arena.games.catalogue import game_by_id
from arena.terms import DEFAULT_AWAY_LIMIT_MS, DEFAULT_FAULT_LIMIT, MatchTerms, TimeControl
from arena.wire.settings import settings_of_options, values_of_settings
from cardarena.v1 import game_pb2


class OtherRules(Exception):
    """The terms are of another version of the rules than this arena has. The text says which."""


def terms_message(terms: MatchTerms) -> game_pb2.MatchTerms:
    """Terms as they stand on the wire, in the journal and in replays."""
    return game_pb2.MatchTerms(
        game=terms.game.id,
        rules_version=terms.game.rules_version,
        options=settings_of_options(terms.game, terms.options),
        seats=terms.seats,
        # As `asdict` does, which takes longer than all the rest; a match says its terms some times.
        time_control=game_pb2.TimeControl(
            **{name: getattr(terms.time_control, name) for name in _TIMES}
        ),
        fault_limit=terms.fault_limit,
        away_limit_ms=terms.away_limit_ms,
        seeded=terms.seeded,
    )


def terms_of_message(message: game_pb2.MatchTerms) -> MatchTerms:
    """The terms that a message says; what it leaves out is the arena's default.

    Raises:
      UnknownGame: if this arena has no such game.
      OtherRules: if it has another version of its rules.
      BadOptions: if the game is not played with these options or seats.
      ValueError: if the clock is impossible.
    """
    control = TimeControl()
    if message.HasField("time_control"):
        given = message.time_control
        control = TimeControl(**{name: getattr(given, name) for name in _TIMES})
    return _terms(
        message.game,
        message.rules_version,
        values_of_settings(message.options),
        message.seats,
        time_control=control,
        fault_limit=(
            message.fault_limit if message.HasField("fault_limit") else DEFAULT_FAULT_LIMIT
        ),
        away_limit_ms=(
            message.away_limit_ms if message.HasField("away_limit_ms") else DEFAULT_AWAY_LIMIT_MS
        ),
        seeded=message.seeded,
    )


def terms_json(terms: MatchTerms) -> dict[str, Any]:
    """Terms as values that JSON can hold, under the names of the message's fields."""
    return {
        "game": terms.game.id,
        "rules_version": terms.game.rules_version,
        "options": {
            setting.name: getattr(terms.options, setting.name) for setting in terms.game.settings
        },
        "seats": terms.seats,
        "time_control": asdict(terms.time_control),
        "fault_limit": terms.fault_limit,
        "away_limit_ms": terms.away_limit_ms,
        "seeded": terms.seeded,
    }


def terms_of_json(values: Mapping[str, Any]) -> MatchTerms:
    """The terms that `terms_json` has written.

    Raises:
      UnknownGame, OtherRules, BadOptions, ValueError: as `terms_of_message`.
      KeyError: if one is missing.
    """
    return _terms(
        values["game"],
        values["rules_version"],
        values["options"],
        values["seats"],
        time_control=TimeControl(**values["time_control"]),
        fault_limit=values["fault_limit"],
        away_limit_ms=values["away_limit_ms"],
        seeded=values["seeded"],
    )


_TIMES = tuple(field.name for field in fields(TimeControl))


def _terms(
    game_id: str,
    rules_version: int,
    options: Mapping[str, object],
    seats: int,
    **limits: Any,
) -> MatchTerms:
    game = game_by_id(game_id)
    if rules_version not in (0, game.rules_version):
        raise OtherRules(
            f"it is for version {rules_version} of the rules of {game.id}; "
            f"this arena has version {game.rules_version}"
        )
    return MatchTerms(game, game.options(options, seats), seats, **limits)
