"""What a seat may not know: the information rules of every family, said independently.

They stand beside the family's vectors, in `tests/vector_adapters`, and are written from the rules'
sections on information, not from the views:

- `hidden(state, seat)`: the cards of the current hand whose place is hidden from a seat; None is
  the spectator;
- `is_secret(move)`: whether others do not see a move yet in the state that follows it;
- `public_part(move)`: what others see of a secret move all the same; without it, nothing;
- `SECRET_PHASE`: the phase for all of which a secret move stays one.
"""

from tests.vector_adapters import MODULES


def by_family(name):
    """What the adapters have under a name, by the family of games."""
    return {
        module.__name__.rpartition(".")[2]: getattr(module, name)
        for module in MODULES
        if hasattr(module, name)
    }


HIDDEN = by_family("hidden")
SECRET_MOVES = by_family("is_secret")
SHOWN_OF = by_family("public_part")
LASTING = by_family("SECRET_PHASE")

RULE_TOLD = ("PlayResolved", "NoPlayResolved", "Guessed", "GuessRefuted", "ProphetDeposed")
"""Events of Eleusis by which all learn something of the rule."""
