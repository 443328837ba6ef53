"""Convert match terms to protobuf messages and to JSON, and back."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from arena.games.catalogue import game_by_id
from arena.referee.terms import WHOLE, MatchTerms, TimeControl, time_odds
from arena.referee.wire.settings import settings_of_options, values_of_settings
from cardarena.v1 import game_pb2

_TIMES: Final = tuple(field.name for field in fields(TimeControl))
_LIMITS: Final = ("fault_limit", "away_limit_ms", "seeded")
"""Terms that have the same name and value in `MatchTerms`, in the message and in JSON."""


class OtherRules(Exception):
    """The terms name a version of the rules that this arena does not have. The text names both."""


def terms_message(terms: MatchTerms) -> game_pb2.MatchTerms:
    """Encode terms as on the wire, in the journal and in replays."""
    # Field by field, as `asdict` takes longer than everything else here.
    times = {name: getattr(terms.time_control, name) for name in _TIMES}
    return game_pb2.MatchTerms(
        game=terms.game.id,
        rules_version=terms.game.rules_version,
        options=settings_of_options(terms.game, terms.options),
        seats=terms.seats,
        time_control=game_pb2.TimeControl(**times),
        time_odds=[game_pb2.TimeOdds(bot=bot, thousandths=share) for bot, share in terms.time_odds],
        **{name: getattr(terms, name) for name in _LIMITS},
    )


def terms_of_message(message: game_pb2.MatchTerms, *, recorded: bool = False) -> MatchTerms:
    """Read the terms of a message; fields that are not set have the arena's defaults.

    Some records have all options. So in a `recorded` message a default without effect is no contradiction.

    Raises:
      UnknownGame: if this arena has no such game.
      OtherRules: if this arena has another version of its rules.
      BadOptions: if the game cannot be played with these options or seats.
      ValueError: if the time control is invalid.
    """
    given: dict[str, Any] = {}
    if message.HasField("time_control"):
        times = {name: getattr(message.time_control, name) for name in _TIMES}
        given["time_control"] = TimeControl(**times)
    if message.time_odds:
        shares = {odds.bot: odds.thousandths / WHOLE for odds in message.time_odds}
        given["time_odds"] = time_odds(shares)
    given |= {field.name: value for field, value in message.ListFields() if field.name in _LIMITS}
    options: Mapping[str, Any] = values_of_settings(message.options)
    if recorded:
        options = game_by_id(message.game).without_idle_defaults(options)
    return _terms(message.game, message.rules_version, options, message.seats, given)


def terms_json(terms: MatchTerms) -> dict[str, Any]:
    """Return terms as values that JSON can hold, under the names of the message's fields."""
    return {
        "game": terms.game.id,
        "rules_version": terms.game.rules_version,
        "options": terms.game.values(terms.options),
        "seats": terms.seats,
        "time_control": asdict(terms.time_control),
        **{name: getattr(terms, name) for name in _LIMITS},
        **({"time_odds": dict(terms.time_odds)} if terms.time_odds else {}),
    }


def terms_of_json(values: Mapping[str, Any]) -> MatchTerms:
    """Read terms that `terms_json` returned.

    Raises:
      UnknownGame, OtherRules, BadOptions, ValueError: as `terms_of_message`.
      KeyError: if a value is missing.
    """
    given = {name: values[name] for name in _LIMITS}
    given["time_control"] = TimeControl(**values["time_control"])
    if odds := values.get("time_odds"):
        given["time_odds"] = time_odds({bot: share / WHOLE for bot, share in odds.items()})
    game, version = values["game"], values["rules_version"]
    return _terms(game, version, values["options"], values["seats"], given)


def _terms(
    game_id: str,
    rules_version: int,
    options: Mapping[str, object],
    seats: int,
    given: Mapping[str, Any],
) -> MatchTerms:
    game = game_by_id(game_id)
    if rules_version not in (0, game.rules_version):
        raise OtherRules(
            f"it is for version {rules_version} of the rules of {game.id}; "
            f"this arena has version {game.rules_version}"
        )
    return MatchTerms(game, game.options(options, seats), seats, **given)
