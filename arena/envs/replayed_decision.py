"""A decision of a replay as a learner sees it: what data sets have beside the notation."""

from typing import Any

from arena.envs.encoders import layout_of
from arena.games.contract import Move, Options, Seat, State
from arena.games.game import Game


def numbers_of(
    game: Game, options: Options, seats: int, state: State, seat: Seat, move: Move
) -> dict[str, Any]:
    """Return the observation of a seat, its legal actions and the one that stands for a move, or None."""
    layout = layout_of(game, options, seats)
    view = game.rules.view(state, seat)
    legal = layout.actions.legal(view, game.rules.moves(state, seat))
    return {
        "observation": layout.numbers(view, seat).tolist(),
        "legal_actions": list(legal),
        "action": next((action for action, stands in legal.items() if stands == move), None),
    }
