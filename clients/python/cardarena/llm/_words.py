"""The words of a match, from the distribution with the rules."""

try:
    from arena.local.words import Words
except ImportError as error:
    raise ImportError(
        "cardarena.llm writes views by the arena's own rules, and they are not installed: "
        f"pip install 'cardarena[llm]' ({error})",
        name=error.name,
    ) from error

__all__ = ["Words"]
