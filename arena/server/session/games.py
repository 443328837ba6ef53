"""Which of the games that a bot declares the arena can seat it at."""

from collections.abc import Mapping, Sequence
from typing import Final

from arena.games.catalogue import UnknownGame, game_by_id
from arena.server.bots import Support
from cardarena.v1 import play_pb2

MAX_GAMES: Final = 100
"""Most games that a bot may declare."""

_Why = play_pb2.GameRefusal


def admitted(
    declared: Sequence[play_pb2.GameSupport],
) -> tuple[Mapping[str, Support], Sequence[play_pb2.GameAdmission]]:
    """What a bot is seated at, by the games' ids, and what it is told of each that it declared."""
    admissions = [_admission(each) for each in declared]
    taken = {
        each.game: Support(each.rules_version, frozenset(each.seats))
        for each, admission in zip(declared, admissions, strict=True)
        if not admission.refusal
    }
    return taken, admissions


def _admission(declared: play_pb2.GameSupport) -> play_pb2.GameAdmission:
    try:
        game = game_by_id(declared.game)
    except UnknownGame as error:
        return play_pb2.GameAdmission(
            game=declared.game, refusal=_Why.GAME_REFUSAL_UNKNOWN_GAME, text=str(error)
        )
    admission = play_pb2.GameAdmission(game=game.id, rules_version=game.rules_version)
    if declared.rules_version not in (0, game.rules_version):
        admission.refusal = _Why.GAME_REFUSAL_OTHER_RULES
        admission.text = (
            f"{game.id} is played by version {game.rules_version} of its rules here, "
            f"not by version {declared.rules_version}"
        )
    elif declared.seats and not set(declared.seats) & set(game.seats):
        numbers = ", ".join(map(str, game.seats))
        admission.refusal = _Why.GAME_REFUSAL_BAD_SEATS
        admission.text = f"{game.id} is played by {numbers}, and by no other number of seats"
    return admission
