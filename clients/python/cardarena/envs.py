"""The games as environments for learners: PettingZoo and Gymnasium.

    import cardarena.envs, gymnasium

    everybody = cardarena.envs.pettingzoo("klaberjass", options={"hands": 2})
    one_seat = gymnasium.make("CardArena/Klaberjass-v0", opponent="house:sample")

`TrainedBot` plays by the policy of a file of `arena train`. The environments are those of the engine, `arena.envs`:
`pip install 'cardarena[research]'`. Without it, the import raises `ImportError`.
"""

try:
    from arena.envs import (
        Layout,
        Part,
        Shortened,
        batch,
        environment_id,
        layout,
        parallel,
        pettingzoo,
    )
    from arena.envs.trained_bot import TrainedBot
except ImportError as error:
    raise ImportError(
        "cardarena.envs needs the arena's own rules, and they are not installed: "
        f"pip install 'cardarena[research]' ({error})",
        name=error.name,
    ) from error

__all__ = [
    "Layout",
    "Part",
    "Shortened",
    "TrainedBot",
    "batch",
    "environment_id",
    "layout",
    "parallel",
    "pettingzoo",
]
