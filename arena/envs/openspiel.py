"""The games as Python games of OpenSpiel, which the import registers, each as `cardarena_` and its id.

    import pyspiel, arena.envs.openspiel

    game = pyspiel.load_game("cardarena_klaberjass(hands=2)")

Chance draws the deals of a match at its beginning, from `deals` equally likely ones. Seats that choose at the same time
are asked one after the other, and none sees the choices of the others. Returns are leads: the score less the mean of
the others' scores. With `key`, chance has one outcome: the deals of that key, as in the trace of a replay (`arena
export matches --as openspiel`).
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import pyspiel

from arena.envs.stepped_match import SteppedMatch
from arena.envs.writers import DIGEST_SIZE, write_digest
from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.games.game import Game
from arena.games.notation import Notation

_OUTCOMES: Final = 4096
"""The most outcomes of a chance node; more deals are drawn by several nodes."""
_DEALS: Final = _OUTCOMES**2
KEY_PREFIX: Final = "x"
"""The prefix of the hexadecimal digits of a key, which OpenSpiel would otherwise parse as a number."""
_MOST_DECISIONS: Final = 50_000
_UNBOUNDED: Final = 1e6
"""A bound of returns if the rules have none."""


def _type_of(game: Game) -> Any:
    defaults = {option.name: option.default for option in game.settings}
    return pyspiel.GameType(
        short_name=f"cardarena_{game.id}",
        long_name=f"{game.title} of Card Arena",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.seats[-1],
        min_num_players=game.seats[0],
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"players": game.seats[0], "deals": _DEALS, "key": "", **defaults},
    )


class SpielGame(pyspiel.Game):
    """A game of the arena; its parameters are the options of the game, `players` and `deals`."""

    def __init__(self, game: Game, game_type: Any, given: Any = None) -> None:
        parameters = dict(given or {})
        seats = parameters.get("players", game.seats[0])
        self.key = str(parameters.get("key", "")).removeprefix(KEY_PREFIX)
        self.deals = 1 if self.key else parameters.get("deals", _DEALS)
        options = {
            name: parameters[name] for name in parameters if name not in ("players", "deals", "key")
        }
        self.new_match = partial(SteppedMatch, game.id, game.without_idle_defaults(options), seats)
        first = self.new_match()
        self.layout = first.layout
        self.write_event = lru_cache(1 << 14)(Notation(game.messages.Event).write)
        self.write_move = lru_cache(1 << 12)(Notation(game.messages.Move).write)
        bound = float(game.margin_bound(first.options, seats) or _UNBOUNDED)
        about = pyspiel.GameInfo(
            num_distinct_actions=self.layout.actions.size,
            max_chance_outcomes=min(self.deals, _OUTCOMES),
            num_players=seats,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=_MOST_DECISIONS,
        )
        super().__init__(game_type, about, parameters)

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def make_py_observer(self, kind: Any = None, parameters: Any = None) -> "SpielObserver":  # noqa: ARG002
        return SpielObserver(self, with_recall=kind is not None and kind.perfect_recall)


class _Played:
    """A match, and the observations and actions of each seat. The values are immutable, so that a copy is quick."""

    def __init__(self, match: SteppedMatch, seen: tuple[tuple[Any, ...], ...]) -> None:
        self.match = match
        self.seen = seen
        """By seat: events, its own moves in a tuple of one, and at the start of a state that was drawn its view as text."""

    def __deepcopy__(self, memo: Any) -> "_Played":
        return _Played(self.match.copy(), self.seen)


class SpielState(pyspiel.State):
    """A state of a match."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self._drawn: tuple[int, ...] = ()
        self._played: _Played | None = None

    @property
    def match(self) -> SteppedMatch:
        """Return the match with all its data, after the deals were drawn."""
        assert self._played is not None, "chance has not drawn the deals yet"
        return self._played.match

    def current_player(self) -> int:
        if self._played is None:
            return int(pyspiel.PlayerId.CHANCE)
        acting = self._played.match.acting
        return int(acting[0] if acting else pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        return self._played is not None and self._played.match.is_over

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = self._outcomes()
        return [(outcome, 1 / count) for outcome in range(count)]

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self.num_players()
        return self.match.rewards((0,) * self.num_players())

    def seen_by(self, seat: int) -> str:
        """Return the observations and actions of a seat in notation, a line each; moves are marked with `>`."""
        return (
            "" if self._played is None else "\n".join(map(self._written, self._played.seen[seat]))
        )

    def _written(self, one: Any) -> str:
        game = self.get_game()
        if isinstance(one, tuple):
            return f"> {game.write_move(one[0])}"
        return one if isinstance(one, str) else str(game.write_event(one))

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "SpielState":
        """Return a state that the player, which is to act, cannot tell from this one.

        In it, other seats remember only their views.
        """
        assert self._played is not None
        game, match = self.get_game(), self._played.match

        def below(count: int) -> int:
            return min(int(sampler() * count), count - 1)

        seat = Seat(player)
        state = match.game.sample_state(match.view(seat), match.options, seat, below)
        other, sampled = SpielState(game), match.copy()
        sampled.resume(state, below(_DEALS))
        seen = [
            mine if at == player else (str(sampled.view(at)),)
            for at, mine in enumerate(self._played.seen)
        ]
        other._drawn = self._drawn
        other._played = _Played(sampled, tuple(seen))
        while sampled.acting[0] != player:  # it has chosen before, unseen
            legal = sorted(sampled.legal(sampled.acting[0]))
            other._choose(legal[below(len(legal))])
        return other

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.match.legal(player))

    def _apply_action(self, action: int) -> None:
        if self._played is not None:
            self._choose(action)
            return
        self._drawn = (*self._drawn, action)
        game = self.get_game()
        if _OUTCOMES ** len(self._drawn) >= game.deals:
            match = game.new_match()
            if game.key:
                match.begin_with(bytes.fromhex(game.key))
            else:
                match.begin(" ".join(map(str, self._drawn)))
            self._played = _Played(match, ((),) * match.seats)
            self._add_events()

    def _choose(self, action: int) -> None:
        played = self._played
        assert played is not None
        seat = played.match.acting[0]
        move = played.match.legal(seat)[action]
        played.match.play(move)
        seen = list(played.seen)
        seen[seat] = (*seen[seat], (move,))
        played.seen = tuple(seen)
        self._add_events()

    def _add_events(self) -> None:
        played = self._played
        assert played is not None
        events = played.match.events
        if events:
            played.seen = tuple(
                (*seen, *(sent.event for sent in events if sent.is_for(Seat(seat))))
                for seat, seen in enumerate(played.seen)
            )

    def _outcomes(self) -> int:
        left = -(-self.get_game().deals // _OUTCOMES ** len(self._drawn))
        return int(min(left, _OUTCOMES))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deals {action}"
        legal = self.match.legal(player)
        if action not in legal:
            return f"action {action}"
        return str(self.get_game().write_move(legal[action]))

    def __str__(self) -> str:
        if self._played is None:
            return f"before the deal, drawn: {self._drawn}"
        return f"{self._played.match.spectated()} {self._played.match.acting}"


class SpielObserver:
    """Numbers and texts of the knowledge of a seat; with recall also of its past knowledge."""

    def __init__(self, game: SpielGame, *, with_recall: bool) -> None:
        self._layout = game.layout
        self._with_recall = with_recall
        size = self._layout.view.size
        self.tensor = np.zeros(size + (DIGEST_SIZE if with_recall else 0), np.float32)
        self.dict = {"observation": self.tensor[:size]}
        if with_recall:
            self.dict["digest"] = self.tensor[size:]

    def set_from(self, state: SpielState, player: int) -> None:
        self.tensor.fill(0)
        if state._played is None:
            return
        size = self._layout.view.size
        self.tensor[:size] = self._layout.numbers(state.match.view(player), player)
        if self._with_recall:
            write_digest(state.seen_by(player), self.tensor, size)

    def string_from(self, state: SpielState, player: int) -> str:
        if state._played is None:
            return ""
        return state.seen_by(player) if self._with_recall else str(state.match.view(player))


def _register(game: Game) -> None:
    """Register a game by a class of its own: OpenSpiel keeps it until the process ends, and a function would be freed too early."""
    game_type = _type_of(game)

    def create(self: SpielGame, given: Any = None) -> None:
        SpielGame.__init__(self, game, game_type, given)

    name = f"SpielGame{game.title.title().replace(' ', '')}"
    pyspiel.register_game(game_type, type(name, (SpielGame,), {"__init__": create}))


for _game in GAMES:
    _register(_game)
