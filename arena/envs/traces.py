"""Matches of replays as histories of OpenSpiel."""

from pathlib import Path
from typing import Final

import pyspiel

from arena.envs.encoders import layout_of
from arena.envs.openspiel import KEY_PREFIX
from arena.games.notation import Notation
from arena.records.phh import Inexpressible
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.verify import verify
from arena.referee.spec import Ending

TRACE_SUFFIX: Final = ".openspiel"


def write_trace(replay: Replay, folder: Path) -> Path:
    """Write a match to `FOLDER/GAME/MATCH.openspiel`, and return the path.

    `arena.envs.openspiel` has to be imported before `pyspiel.deserialize_game_and_state` reads it.

    Raises:
      Inexpressible: if the match was not played to its end, or has a move that is no action of the layout.
      Damaged, Unplayable, Discrepancy: as `verify`.
    """
    text = trace_of(replay)
    path = folder / replay.opened.terms.game / f"{replay.opened.match_id}{TRACE_SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def trace_of(replay: Replay) -> str:
    """Return the game of a match and its history, as OpenSpiel writes them. Errors are those of `write_trace`."""
    verify(replay)
    if replay.ending is not Ending.COMPLETED:
        raise Inexpressible("the match was not played to its end by all seats")
    terms = replay.spec().terms
    rules, layout = terms.game.rules, layout_of(terms.game, terms.options, terms.seats)
    notation = Notation(terms.game.messages.Move)
    key = KEY_PREFIX + replay.revealed.deal_key.hex()
    game = pyspiel.load_game(
        f"cardarena_{terms.game.id}",
        {"players": terms.seats, "key": key, **terms.game.values(terms.options)},
    )
    state = game.new_initial_state()
    state.apply_action(0)
    for step in play_back(replay):
        for decision in sorted(step.decisions, key=lambda one: one.seat):
            view = rules.view(step.before, decision.seat)
            legal = layout.actions.legal(view, rules.moves(step.before, decision.seat))
            action = next((at for at, move in legal.items() if move == decision.move), None)
            if action is None:
                raise Inexpressible(f"no action stands for {notation.write(decision.move)}")
            state.apply_action(action)
    return str(pyspiel.serialize_game_and_state(game, state))
