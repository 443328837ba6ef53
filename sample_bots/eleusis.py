"""Plays Eleusis with many candidate rules, which lose weight when the table contradicts them.

Each candidate is a rule of the arena's language, written so that Python can evaluate it too. It is compared with
everything on the table: right cards, wrong cards, and hands in which no card was right. Each contradiction reduces its
weight, so the nearest candidates still guide the play if the rule is none of them. If the bot is sure of the rule, it
plays several cards at once, declares itself prophet, or guesses. It needs only the SDK.
"""

from itertools import permutations, product
from typing import NamedTuple

import cardarena
from cardarena import eleusis

CONTRADICTION = 0.05  # the factor of a candidate's weight for each contradiction
SURE = 0.9  # the weight, of all together, from which one candidate is believed


class Face(NamedTuple):
    """A card with the fields that rules know."""

    rank: int
    suit: str
    color: str
    parity: int
    face: bool


def face_of(card):
    rank = 1 + "A23456789TJQK".index(card[0])
    return Face(rank, card[1], "R" if card[1] in "hd" else "B", rank % 2, rank > 10)


FACES = {rank + suit: face_of(rank + suit) for rank in "A23456789TJQK" for suit in "shdc"}


def candidate_texts():
    """Rules about neighbours, about places in the line, and about steps in rank."""
    sides = ['{}.color == "R"', "{}.parity == 1", "{}.face", "{}.rank > 7"]
    for before, after, sign in product(sides, sides, ("==", "!=")):
        yield f"({before.format('last')}) {sign} ({after.format('card')})"
    for period in range(2, 8):
        for part in range(1, period):
            yield f"(size(line) % {period} < {part}) == (card.color == line[0].color)"
    for one, two, three in permutations("hdc"):
        steps = f'{{"s":"{one}","{one}":"{two}","{two}":"{three}","{three}":"s"}}'
        yield f"card.suit == {steps}[last.suit]"
    yield "card.suit == last.suit"
    yield "card.suit != last.suit"
    yield "card.suit == last.suit || card.rank == last.rank"
    yield "card.suit != last.suit && card.rank != last.rank"
    for step in range(1, 7):
        yield f"card.rank == last.rank + {step} || card.rank == last.rank - {step}"
        yield f"(card.rank - last.rank + 13) % 13 == {step}"
        yield f"abs(card.rank - last.rank) <= {step}"
        yield f"abs(card.rank - last.rank) >= {step}"


def as_python(text):
    source = text.replace("||", "or").replace("&&", "and")
    return eval(f"lambda card, last, line: {source}", {"size": len, "abs": abs})  # noqa: S307


RULES = [(text, as_python(text)) for text in candidate_texts()]


def is_fair(rule):
    """Return whether a fifth to four fifths of the cards may follow any card, so that no line comes to a dead end."""
    faces = list(FACES.values())
    return all(
        0.2 <= sum(rule(face, last, [last] * (1 + at % 8)) for face in faces) / 52 <= 0.8
        for at, last in enumerate(faces)
    )


# As a dealer, the bot draws a rule by its own dice: a fixed rule would soon be known.
DEALT = [text for text, rule in RULES if is_fair(rule)]


class EleusisBot(eleusis.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def started(self):
        self.hand = None

    def move(self, ask: eleusis.Ask) -> eleusis.Choice:
        view = ask.view
        if view.phase == eleusis.PHASE_RULE:
            text = ask.random.choice(DEALT)
            return eleusis.Move(verb=eleusis.RULE, text=text)
        self.learn(view)
        if view.phase == eleusis.PHASE_PLAY:
            return self.play(view)
        if view.phase == eleusis.PHASE_JUDGE:
            return self.judge(view)
        if view.phase == eleusis.PHASE_PROPHET_OPTION and self.trust() >= SURE:
            return eleusis.Move(verb=eleusis.DECLARE)
        if view.phase == eleusis.PHASE_GUESS_OPTION and self.trust() >= 0.5:
            text, _ = self.best()
            if text not in view.guesses.texts:
                return eleusis.Move(verb=eleusis.GUESS, text=text)
        return eleusis.Move(verb=eleusis.PASS)

    # Weights of the candidates.

    def learn(self, view):
        """Update the weight of every candidate by the news on the table."""
        if view.hand != self.hand:
            self.hand, self.known = view.hand, (1, 0, 0)
            self.weights = [1.0] * len(RULES)
        layout, calls = view.layout, view.calls
        self.line = [FACES[card] for card in layout.mainline]
        mains, sides, hands = self.known
        for place in range(mains, len(self.line)):
            self.weigh(place, [layout.mainline[place]], right=True)
        for unit in range(sides, len(layout.sidelines)):
            self.weigh(layout.side_after[unit] + 1, layout.sidelines[unit].cards, right=False)
        for call in range(hands, len(calls.seats)):
            if calls.right[call]:  # a false no-play shows no more than the card that was moved
                for card in calls.hands[call].cards:
                    self.weigh(calls.after[call] + 1, [card], right=False)
        self.known = len(self.line), len(layout.sidelines), len(calls.seats)
        most = max(self.weights)
        self.weights = [weight / most for weight in self.weights]

    def weigh(self, length, cards, *, right):
        """Reduce the weight of each candidate that contradicts the verdict on cards after `length` others."""
        for at, (_, rule) in enumerate(RULES):
            if allows(rule, self.line[:length], cards) != right:
                self.weights[at] *= CONTRADICTION

    def best(self):
        return RULES[self.weights.index(max(self.weights))]

    def share(self, test):
        """Return the share of the weight of the candidates that pass a test."""
        passed = sum(
            weight
            for weight, (_, rule) in zip(self.weights, RULES, strict=True)
            if weight > 0.001 and test(rule)
        )
        return passed / sum(self.weights)

    def trust(self):
        """Return the certainty about the next card: the share of the candidates that agree with the best one."""
        said = self.next_faces(self.best()[1])
        return self.share(lambda rule: self.next_faces(rule) == said)

    def next_faces(self, rule):
        return [rule(face, self.line[-1], self.line) for face in FACES.values()]

    def chance(self, cards):
        """Return the chance that the cards are right, one after the other."""
        return self.share(lambda rule: allows(rule, self.line, cards))

    def nothing_right(self, held):
        """Return the chance that no card of a hand is right."""
        faces = set(held)
        return self.share(lambda rule: not any(allows(rule, self.line, [c]) for c in faces))

    # Moves.

    def play(self, view):
        """Choose the play that reduces the hand most on average; a wrong card adds two cards, for the one that leaves the hand."""
        express = self.game == "eleusis_express"
        plays = [[max(set(view.held), key=lambda card: (self.chance([card]), card))]]
        if not express:
            plays.append(self.string(view.held) or plays[0])
        gains = [len(cards) * (2 * self.chance(cards) - 1) for cards in plays]
        none = self.nothing_right(view.held)
        if (2 * none - 1) * (1 if express else 4) > max(gains):
            return eleusis.Move(verb=eleusis.NO_PLAY)
        return eleusis.Move(verb=eleusis.PLAY, cards=plays[gains.index(max(gains))])

    def string(self, held):
        """Return cards that may follow each other by the best candidate."""
        _, rule = self.best()
        left, found = list(held), []
        while True:
            follow = next((c for c in left if allows(rule, self.line, [*found, c])), None)
            if follow is None:
                return found
            left.remove(follow)
            found.append(follow)

    def judge(self, view):
        if view.no_play:
            right = self.nothing_right(view.played) >= 0.5
        else:
            right = self.chance(view.played) >= 0.5
        if right:
            return eleusis.Move(verb=eleusis.JUDGE, opinion=eleusis.OPINION_RIGHT)
        move = eleusis.Move(verb=eleusis.JUDGE, opinion=eleusis.OPINION_WRONG)
        if view.no_play:
            move.card = max(view.played, key=lambda card: self.chance([card]))
        return move


def allows(rule, line, cards):
    """Return whether a rule lets cards follow a line one after the other."""
    line = list(line)
    for card in cards:
        if not rule(FACES[card], line[-1], line):
            return False
        line.append(FACES[card])
    return True


if __name__ == "__main__":
    cardarena.run(EleusisBot)
