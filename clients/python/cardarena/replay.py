"""Shows replays in a notebook, with the pictures of the site.

    from cardarena import local, replay

    result = local.play("klaberjass", [MyBot, Other], seed=7, replays="replays")
    replay.show(result, hand=1, seat=0)

It needs the engine: `pip install 'cardarena[research]'`. Without it, the import raises `ImportError`.
"""

try:
    from arena.web.shown_hand import ShownHand, show
except ImportError as error:
    raise ImportError(
        "cardarena.replay needs the arena's own rules and pictures, and they are not installed: "
        f"pip install 'cardarena[research]' ({error})",
        name=error.name,
    ) from error

__all__ = ["ShownHand", "show"]
