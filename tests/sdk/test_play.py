"""The author's code: when it is called, and what becomes of its mistakes."""

import inspect
import random
import re

import pytest

import cardarena
from cardarena import abstrac, local
from cardarena._ask import Ask, End
from cardarena._play import AllAtOnce, OneByOne, play
from cardarena._session import Work
from tests.sdk.messages import ask, match_end, start, take


class Scripted:
    """A connection that gives out prepared work, and keeps the answers."""

    def __init__(self, *works):
        self.works, self.sent, self.notes = list(works), [], {}

    def take(self):
        return self.works.pop(0) if self.works else None

    def show(self, ask):
        return ask.open

    def answer(self, answers):
        self.sent.append(
            [(a.ask_id, "failed" if a.HasField("failed") else a.index) for a in answers]
        )
        self.notes |= {a.ask_id: a.note for a in answers if a.note}


def asked(ask_id, match=1):
    return Ask(ask(ask_id, match), start(match), "abstrac", before=None, now_s=lambda: 0.0)


def ended(match):
    return End(match_end(match).match_end, start(match), before=None)


class Typo(cardarena.Bot):
    def move(self, ask):
        return abstrac.Move(verb="take")


def test_a_label_that_no_enum_has_is_answered_with_those_that_there_are(capsys):
    port = Scripted(Work([start(1)], [asked(1)]))
    play(OneByOne(Typo), port)
    for said in (port.notes[1], capsys.readouterr().err):
        assert 'unknown enum label "take"' in said
        assert "verb is one of ABSTRAC_VERB_CHOOSE, ABSTRAC_VERB_TAKE;" in said
    with pytest.raises(ValueError, match="unknown enum label") as raised:
        local.play("abstrac", [Typo, Typo], seed=1)
    assert "abstrac.moves" in raised.value.__notes__[0]


def test_there_is_one_object_for_each_match():
    calls = []

    class Recording(cardarena.Bot):
        def started(self):
            calls.append(("started", self.start.match, self.seat, self.game, self.options))

        def move(self, ask):
            calls.append(("move", self.start.match, ask.ask_id))
            return 1

        def ended(self, end):
            calls.append(("ended", self.start.match, list(end.scores)))

    port = Scripted(
        Work([start(1), start(2)], [asked(1, 1), asked(2, 2)]), Work([ended(1)], [asked(3, 2)])
    )
    play(OneByOne(Recording), port)
    assert calls == [
        ("started", 1, 0, "abstrac", {"hands": 4}),
        ("started", 2, 0, "abstrac", {"hands": 4}),
        ("move", 1, 1),
        ("move", 2, 2),
        ("ended", 1, [3, -3]),
        ("move", 2, 3),
    ]
    assert port.sent == [[(1, 1)], [(2, 1)], [(3, 1)]]


def test_a_slow_thought_does_not_hold_up_the_answers_before_it():
    sent_before = []

    class Slow(cardarena.Bot):
        def move(self, ask):
            sent_before.append(len(port.sent))
            return 0

    port = Scripted(Work([start(m) for m in (1, 2, 3)], [asked(m, m) for m in (1, 2, 3)]))
    play(OneByOne(Slow), port)
    assert sent_before == [0, 1, 2]


def test_an_ask_that_is_closed_meanwhile_is_not_thought_about():
    waiting = [asked(1, 1), asked(2, 2)]

    class Closing(cardarena.Bot):
        def move(self, ask):
            waiting[1].open = False
            return 0

    port = Scripted(Work([start(1), start(2)], waiting))
    play(OneByOne(Closing), port)
    assert port.sent == [[(1, 0)]]


def fails(error):
    raise error


class Failing(cardarena.Bot):
    def move(self, ask):
        return fails(KeyError("row")) if ask.ask_id == 1 else 0


class Indecisive(cardarena.Bot):
    def move(self, ask):
        return None if ask.ask_id == 1 else 0


class StillBorn(cardarena.Bot):
    def started(self):
        if self.start.match == 1:
            fails(OSError("no such file"))

    def move(self, ask):
        return 0


class Chained(cardarena.Bot):
    def move(self, ask):
        return random.choice([]) if ask.ask_id == 1 else 0


NOT_A_CHOICE = "None is not a choice: return one of ask.moves, its index, or a move message"


def line_of(text, *, function):
    """The line of this file that has a text, in a function."""
    lines, begin = inspect.getsourcelines(function)
    return next(at for at, line in enumerate(lines, begin) if text in line)


# fmt: off
FAILURES = [
    (Failing,    line_of("raise", function=fails), "KeyError: 'row'",
     "an exception in move, at the line that raised it"),
    (Chained,    line_of("random.choice", function=Chained), "IndexError: Cannot choose from an empty sequence",
     "one from another's code, at the author's line that called it"),
    (Indecisive, line_of("def move", function=Indecisive), f"TypeError: {NOT_A_CHOICE}",
     "what is no choice, at the method that returned it"),
    (StillBorn,  line_of("raise", function=fails), "OSError: no such file",
     "an exception in started is that of every move of the match"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "line", "error", "why"), FAILURES, ids=[r[3] for r in FAILURES])
def test_an_exception_costs_the_move_and_no_more(bot, line, error, why, capsys):
    port = Scripted(Work([start(1), start(2)], [asked(1, 1), asked(2, 2)]))
    play(OneByOne(bot), port)
    where = f"test_play.py:{line}: {error}"
    assert port.notes == {1: f"error: {where}"}
    assert port.sent == [[(1, "failed")], [(2, 0)]], "no move is chosen in the bot's place"
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith(f"cardarena: {where}: an exception at ")
    assert shown[0].endswith("of match 1, so the fallback is played") or bot is StillBorn
    assert all(text.startswith("  ") for text in shown[1:]), "the traceback is set in"
    assert shown[-1].strip() == error
    assert "cardarena/_play.py" not in "".join(shown), "it begins at the author's code"


class Undone(cardarena.Bot):
    pass


class Misnamed(cardarena.Bot):
    def moves(self, ask):
        return 0


class UndoneBatch(cardarena.BatchBot):
    def move(self, ask):
        return 0


# fmt: off
WITHOUT = [
    (Undone,      "Undone has no method `def move(self, ask)`, which chooses its moves", "a bot"),
    (Misnamed,    "Misnamed has no method `def move(self, ask)`, which chooses its moves; did you mean 'moves' to be it?",
     "a bot with a method of nearly that name"),
    (UndoneBatch, "UndoneBatch has no method `def moves(self, asks)`, which chooses its moves; did you mean 'move' to be it?",
     "a bot for batches"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "sentence", "why"), WITHOUT, ids=[row[2] for row in WITHOUT])
def test_a_bot_without_a_move_is_refused_at_the_start(bot, sentence, why, capsys):
    with pytest.raises(cardarena.Misconfigured, match=f"^{re.escape(sentence)}$"):
        cardarena.play(bot, address="localhost:1", once=True)
    with pytest.raises(SystemExit) as ended:
        cardarena.run(bot, argv=[])
    assert (ended.value.code, capsys.readouterr().err) == (2, f"cardarena: {sentence}\n")


def test_an_exception_in_ended_is_shown_and_play_goes_on(capsys):
    class Sulking(cardarena.Bot):
        def move(self, ask):
            return 0

        def ended(self, end):
            fails(ValueError("lost"))

    port = Scripted(Work([start(1), ended(1), start(2)], [asked(2, 2)]))
    play(OneByOne(Sulking), port)
    assert port.sent == [[(2, 0)]]
    assert "ValueError: lost" in capsys.readouterr().err


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_author_may_end_the_program(stop):
    class Leaving(cardarena.Bot):
        def move(self, ask):
            raise stop

    with pytest.raises(stop):
        play(OneByOne(Leaving), Scripted(Work([start(1)], [asked(1)])))


class Batching(cardarena.BatchBot):
    def __init__(self, choose):
        self.choose, self.calls = choose, []

    def started(self, start):
        self.calls.append(("started", start.match))

    def moves(self, asks):
        self.calls.append([ask.ask_id for ask in asks])
        return self.choose(asks)

    def ended(self, end):
        self.calls.append(("ended", end.match))


# fmt: off
BATCHES = [
    (lambda asks: [2] * len(asks),             [[(1, 2), (2, 2)]], {}, "one choice for each ask"),
    (lambda asks: [take(1), asks[1].moves[2]], [[(1, 0), (2, 2)]], {}, "moves as well as indices"),
    (lambda asks: [9, 0],                      [[(1, "failed"), (2, 0)]],
     {1: "IndexError: there is no move 9: 3 are offered, from 0"},     "a mistake costs its own move"),
    (lambda asks: [0],                         [[(1, "failed"), (2, "failed")]],
     dict.fromkeys((1, 2), "ValueError: moves() chose 1 moves for 2 asks"), "too few choices cost them all"),
    (lambda asks: fails(KeyError("net")),      [[(1, "failed"), (2, "failed")]],
     dict.fromkeys((1, 2), "KeyError: 'net'"),                         "an exception costs them all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("choose", "sent", "errors", "why"), BATCHES, ids=[row[3] for row in BATCHES]
)
def test_a_batch_bot_is_given_all_that_waits(choose, sent, errors, why, capsys):
    bot = Batching(choose)
    port = Scripted(Work([start(1), start(2)], [asked(1, 1), asked(2, 2)]), Work([ended(1)], []))
    play(AllAtOnce(bot), port)
    assert bot.calls == [("started", 1), ("started", 2), [1, 2], ("ended", 1)]
    assert port.sent == sent
    assert {ask: note.split(": ", 2)[2] for ask, note in port.notes.items()} == errors
    shown = capsys.readouterr().err
    assert shown.count("an exception at ask") == len(errors)
    assert shown.count("\n  Traceback") == (1 if "'net'" in shown else 0), "told once"


def test_a_batch_leaves_out_what_was_closed():
    bot = Batching(lambda asks: [0] * len(asks))
    closed = asked(1, 1)
    closed.open = False
    play(AllAtOnce(bot), Scripted(Work([], [closed]), Work([], [closed, asked(2, 2)])))
    assert bot.calls == [[2]]
