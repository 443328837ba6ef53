"""Plays Open-Face Chinese Poker: imagines how each placement could end.

For every legal placement it deals random cards to the open rows many times, finishes the rows by a simple rule, and
takes the placement with the highest mean score: royalties, strong rows, and no foul. In Fantasyland it takes the first
setting that the arena offers, which is a good one.
"""

from collections import Counter

import cardarena
from cardarena import open_face_chinese_poker as open_face

RANKS = "23456789TJQKA"
PACK = [rank + suit for rank in RANKS for suit in "cdhs"]
SIZES = (3, 5, 5)
FOUL = -7
TRIALS = 60
ROYALTIES: tuple[dict[int, int], ...] = (
    {},
    {4: 4, 5: 8, 6: 12, 7: 20, 8: 30},
    {4: 2, 5: 4, 6: 6, 7: 10, 8: 15},
)


def strength(cards) -> tuple[int, list[int]]:
    """Return the class of a row and its ranks, to be compared."""
    counts = Counter(RANKS.index(card[0]) for card in cards)
    ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    if len(cards) == 5 and len(ranks) == 5:
        flush = len({card[1] for card in cards}) == 1
        high = max(ranks)
        straight = high - min(ranks) == 4
        if set(ranks) == {12, 0, 1, 2, 3}:
            straight, high = True, 3
        if straight:
            return (8 if flush else 4, [high])
        if flush:
            return (5, ranks)
    kinds = {(4,): 7, (3, 2): 6, (3,): 3, (2, 2): 2, (2,): 1}
    many = tuple(count for count in shape if count > 1)
    return (kinds.get(many, 0), ranks)


def worth(rows):
    """Return roughly the worth of three full rows against one opponent."""
    front, middle, back = (strength(row) for row in rows)
    if front > middle or middle > back:
        return FOUL
    units = ROYALTIES[1].get(middle[0], 0) + ROYALTIES[2].get(back[0], 0)
    if front[0] == 3:
        units += 20
    elif front[0] == 1:
        units += max(0, front[1][0] - RANKS.index("6") + 1)
        units += 8 if front[1][0] >= RANKS.index("Q") else 0  # Fantasyland
    # A higher class wins its row more often.
    return units + 0.4 * (front[0] + front[1][0] / 13) + 0.35 * middle[0] + 0.3 * back[0]


class OpenFaceBot(open_face.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: open_face.Ask) -> open_face.Choice:
        view = ask.view
        if view.phase == open_face.PHASE_FANTASYLAND:
            return ask.moves[0]
        own = view.layouts[ask.seat]
        seen = {*view.to_place}
        for layout in view.layouts:
            seen.update((*layout.front, *layout.middle, *layout.back))
        unseen = [card for card in PACK if card not in seen]
        moves = self.sensible(ask.moves) if len(ask.moves) > 20 else ask.moves
        trials = max(8, TRIALS * 3 // max(3, len(moves)))
        deals = [ask.random.sample(unseen, min(13, len(unseen))) for _ in range(trials)]
        return max(moves, key=lambda move: self.value(own, move, deals))

    def sensible(self, moves):
        """Return the sensible ways to place the first five cards."""

        def start(move):
            rows = (move.front, move.middle, move.back)
            ranks = [[RANKS.index(card[0]) for card in row] for row in rows]
            pairs = [sum(row.count(rank) - 1 for rank in row) for row in ranks]
            suits = max(
                (Counter(card[1] for card in move.back).most_common(1) or [("", 0)])[0][1], 1
            )
            heights = [sum(row) / len(row) if row else 6 for row in ranks]
            return (
                2 * pairs[2]
                + 1.2 * pairs[1]
                + 0.3 * pairs[0]
                + 0.5 * suits
                + 0.15 * (heights[2] - heights[0])
                - 0.4 * len(move.front)
            )

        return sorted(moves, key=start, reverse=True)[:14]

    def value(self, own, move, deals):
        rows = [
            [*own.front, *move.front],
            [*own.middle, *move.middle],
            [*own.back, *move.back],
        ]
        return sum(self.finish(rows, cards) for cards in deals) / len(deals)

    def finish(self, rows, cards):
        """Fill the rows from `cards`: each card goes to the first row that it improves, from the back."""
        filled = [list(row) for row in rows]
        for card in cards:
            room = [at for at in (2, 1, 0) if len(filled[at]) < SIZES[at]]
            if not room:
                break
            fits = [at for at in room if any(card[0] == other[0] for other in filled[at])]
            flush = [2] if 2 in room and all(card[1] == other[1] for other in filled[2]) else []
            high = RANKS.index(card[0]) >= 7
            default = room[0] if high else room[-1]
            filled[(flush or fits or [default])[0]].append(card)
        return worth(filled)


if __name__ == "__main__":
    cardarena.run(OpenFaceBot)
