"""A few rules of no game, on which the mutation run itself is tried."""


def wins(points, target):
    return points >= target


def total(scores):
    """The sum of the scores that count: none below zero."""
    return sum(score for score in scores if score > 0)
