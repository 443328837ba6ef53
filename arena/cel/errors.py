"""Errors in the text of a rule, and in its evaluation for one card."""


class RuleError(ValueError):
    """The text is not a rule. The message names the error and its position, counted from 1."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(f"character {at + 1}: {what}")
        self.position = at + 1
        """The position of the error, counted from 1; after the end if something is missing."""


class RuleFailed(Exception):
    """The rule has no result for a card. In play such a card is wrong (R3)."""


class EvaluationFailed(RuleFailed):
    """A value has the wrong type, is out of range or does not exist."""

    # Most of these errors are caught by `||` and never shown, so the text is formatted on demand.
    def __init__(self, what: str, at: int) -> None:
        self.args = (what, at)

    def __str__(self) -> str:
        what, at = self.args
        return f"character {at + 1}: {what}"


class CostExceeded(RuleFailed):
    """The rule exceeds the cost limit for one card."""

    def __init__(self) -> None:
        super().__init__("the rule takes too many steps for one card")
