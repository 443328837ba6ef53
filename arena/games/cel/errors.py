"""What can be wrong with a rule: with its text, or with what it does for one card."""


class RuleError(ValueError):
    """The text is not a rule. Says what is wrong and at which character, from 1."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(f"character {at + 1}: {what}")
        self.position = at + 1
        """The character that is wrong, counted from 1; past the end if something is missing."""


class RuleFailed(Exception):
    """The rule gives no answer for a card. In play, such a card is wrong (R3)."""


class EvaluationFailed(RuleFailed):
    """A value has the wrong type, is out of range or is not there."""

    # Most are raised only to be absorbed by `||` and never shown, so the text is made when asked for.
    def __init__(self, what: str, at: int) -> None:
        self.args = (what, at)

    def __str__(self) -> str:
        what, at = self.args
        return f"character {at + 1}: {what}"


class CostExceeded(RuleFailed):
    """The rule takes more steps for one card than it may."""

    def __init__(self) -> None:
        super().__init__("the rule takes too many steps for one card")
