"""A replay in the terminal: whoever looks sees what they may, and every odd end is drawn plainly."""

import hashlib
import io
import re
from dataclasses import dataclass

import pytest
from rich.console import Console

from arena.cli.terminal import draw
from arena.cli.terminal.playback import Playback, print_all
from arena.cli.terminal.screen import Screen
from arena.errors import faults
from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.referee.spec import AbortCause, FaultKind, ForfeitedSeat
from arena.referee.terms import TimeControl
from tests.records.matches import ILLEGAL, LATE, LEAVE, MALFORMED, PLAY, Bot, noted, record, retold

SEATS = tuple(map(Seat, range(3)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("show")


@pytest.fixture(scope="module")
def replay(folder):
    """Democracy among three, one of whom makes an illegal move and then a late one."""
    bots = [Bot(seat, note=f"thought {seat}") for seat in SEATS]
    bots[1] = Bot(1, (PLAY, ILLEGAL, PLAY, LATE), note="thought 1")
    roomy = TimeControl(move_ms=2000)
    return Replay.open(record(folder, "democracy", bots, {"hands": 3}, time_control=roomy))


def drawn(replay, eyes, draw_it, notes=None):
    """What a screen without colours shows."""
    out = io.StringIO()
    draw_it(Screen(replay, eyes, Console(file=out, width=200), notes or {}))
    return out.getvalue()


def whole(replay, eyes, notes=None):
    playback = Playback.of(replay)
    return drawn(replay, eyes, lambda screen: print_all(screen, playback, playback.steps), notes)


def step(replay, eyes, frame):
    return drawn(replay, eyes, lambda screen: screen.step(frame))


def hands(frame):
    return frame.state.day.hands


def played(frame):
    """The cards of the trick just shown, which a new island may have dealt again."""
    return {frame.before.day.pool[0], *(each.move.card for each in frame.decisions)}


def faces(cards):
    return [draw.card(card).plain for card in cards]


@pytest.mark.parametrize("eyes", SEATS)
def test_a_seat_never_sees_what_another_holds(eyes, replay):
    for frame in play_back(replay):
        text = step(replay, eyes, frame)
        held, others = hands(frame)[eyes], [h for at, h in enumerate(hands(frame)) if at != eyes]
        assert all(face in text for face in faces(held))
        hidden = [card for hand in (*others, frame.state.day.pool[1:]) for card in hand]
        hidden += frame.state.day.undealt
        assert [face for face in faces(set(hidden) - played(frame)) if face in text] == []


def test_the_spectator_sees_no_hand(replay):
    for frame in play_back(replay):
        text = step(replay, Viewer.SPECTATOR, frame)
        hidden = {card for hand in hands(frame) for card in hand} - played(frame)
        assert [face for face in faces(hidden) if face in text] == []


def test_the_all_seeing_see_every_hand(replay):
    for frame in play_back(replay):
        text = step(replay, Viewer.ALL, frame)
        held = [card for hand in hands(frame) for card in hand]
        assert [face for face in faces(held) if face not in text] == []


def test_a_choice_that_was_never_shown_stays_hidden(tmp_path):
    """Stopped while one seat had chosen: the other seat does not see what."""
    path = record(
        tmp_path, "democracy", [Bot(0), Bot(1)], {"hands": 2}, stop_after_s=0.9, match_id="half"
    )
    stopped = Replay.open(path)
    *_, last = play_back(stopped)
    (decision,) = last.decisions
    (face,) = faces([decision.move.card])
    other = Seat(1 - decision.seat)
    assert face not in step(stopped, other, last)
    assert f"play_card {face}" in step(stopped, decision.seat, last)
    assert f"play_card {face}" in step(stopped, Viewer.ALL, last)


# fmt: off
NOTES = [
    (Seat(0),          ["thought 0"],                           "a seat its own"),
    (Seat(2),          ["thought 2"],                           "each seat its own"),
    (Viewer.SPECTATOR, [],                                      "the spectator none"),
    (Viewer.ALL,       [],                                      "the all-seeing none"),
]
# fmt: on


@pytest.mark.parametrize(("eyes", "seen", "why"), NOTES, ids=[row[2] for row in NOTES])
def test_notes_are_for_those_who_made_them(eyes, seen, why, folder, replay):
    """Though a screen is given a seat's notes, other eyes do not see them."""
    notes = noted(folder, replay, eyes if eyes in SEATS else Seat(0))
    assert sorted(set(re.findall(r"thought \d", whole(replay, eyes, notes)))) == seen


def test_notes_are_shown_at_the_decisions_they_were_made_at(folder, replay):
    notes = noted(folder, replay, Seat(0))
    made = [each.decision for each in replay.decided if each.seat == 0 and each.note_sha256]
    assert list(notes) == made
    assert whole(replay, Seat(0), notes).count("note: thought 0") == len(made)


def test_a_fault_is_for_all_to_see_and_its_reason_for_the_seat_alone(replay):
    reason = "index 999"
    for eyes in (*SEATS, *Viewer):
        text = whole(replay, eyes)
        assert text.count("made an illegal move") == 1
        assert text.count("did not answer in time") == 1
        assert (reason in text) == (eyes in (Seat(1), Viewer.ALL))


def test_the_seed_is_for_the_all_seeing(replay):
    assert "a seed" in whole(replay, Viewer.ALL)
    for eyes in (*SEATS, Viewer.SPECTATOR):
        text = whole(replay, eyes)
        assert "a seed" not in text
        assert "not a fair deal" in text


OUT = (ForfeitedSeat(1, FaultKind.TIMEOUT, faults.UNOPENED.text()),)

# fmt: off
ENDS = [
    ([Bot(0), Bot(1)],             {},                    "Played to the end",          "to the end"),
    ([Bot(0, (PLAY, LEAVE)), Bot(1)], {}, "bot 0 (seat 0) forfeited at its decision 2 (step 5, hand 0), as it was disconnected (F-GONE-LEFT: the bot had left)", "left"),
    ([Bot(0, [ILLEGAL] * 3), Bot(1)], {"fault_limit": 3}, "at its decision 3 (step 7, hand 0), as it made its fault number 3, which is the limit", "too many faults"),
    ([Bot(0), Bot(1)],             {"stop_after_s": 2.0}, "Aborted: the arena was stopped during the match (A-STOPPED). No bot is at fault", "stopped"),
    ([Bot(0), Bot(1)],             {"stop_after_s": 2.0}, "It was stopped in hand 0, after step 3: bot 1 (seat 1) had to decide.", "stopped, and where"),
    ([Bot(0), Bot(1)],             {"forfeited_seats": OUT}, "bot 1 (seat 1) forfeited before the first card (F-TIMEOUT-DEAL: it did not open its commitment", "out before the deal"),
]
# fmt: on


@pytest.mark.parametrize(("bots", "extra", "said", "why"), ENDS, ids=[row[3] for row in ENDS])
def test_every_end_is_said_plainly(bots, extra, said, why, tmp_path):
    ended = Replay.open(record(tmp_path, "abstrac", bots, **extra))
    assert said in whole(ended, Viewer.ALL)


def test_a_seat_that_was_out_before_the_deal_is_said_so_from_the_first_line_on(tmp_path):
    ended = Replay.open(record(tmp_path, "abstrac", [Bot(0), Bot(1)], forfeited_seats=OUT))
    header, *steps = whole(ended, Viewer.ALL).split("\nstep ")
    assert "bot 1 (seat 1) forfeited before the first card" in header
    text = "".join(steps)
    assert text.count("fault: it forfeited before the first card") == 1
    assert text.count("forfeited before the first card") == 2
    assert "forfeited at its decision" not in text
    assert "did not answer in time" not in text
    assert "forfeits here" not in text
    assert "its seat has forfeited" in text
    spectator = whole(ended, Viewer.SPECTATOR)
    assert "forfeited before the first card (F-DEAL)" in spectator
    assert "commitment" not in spectator.replace("committed to as", "")


def test_where_a_seat_forfeits_is_drawn_once_and_seen_by_all(tmp_path):
    ended = Replay.open(record(tmp_path, "abstrac", [Bot(0, (PLAY, LEAVE)), Bot(1)]))
    for eyes in (*SEATS[:2], *Viewer):
        text = whole(ended, eyes)
        assert text.count("it forfeits here: from now on the fallback plays its seat") == 1
        step_5 = text[text.index("step 5 ") : text.index("step 6 ")]
        assert "it forfeits here" in step_5
        assert "played by the fallback, not asked: its seat has forfeited" in text
        assert ("the bot had left" in text) == (eyes in (Seat(0), Viewer.ALL))


def test_a_seat_without_time_differs_from_a_forfeited_one(tmp_path):
    control = TimeControl(move_ms=1000, bank_ms=9000, hand_ms=2000)
    bots = [Bot(0), Bot(1, (PLAY, LATE))]
    text = whole(Replay.open(record(tmp_path, "abstrac", bots, time_control=control)), Viewer.ALL)
    assert "played by the fallback, not asked: it has no time left" in text
    assert "forfeited" not in text


def test_time_odds_stand_beside_the_bot(tmp_path):
    control, odds = TimeControl(move_ms=1000, bank_ms=9000), (("bot 1", 500),)
    path = record(tmp_path, "abstrac", time_control=control, time_odds=odds)
    lines = whole(Replay.open(path), Viewer.ALL).splitlines()
    (shown,) = [line for line in lines if "by time odds" in line]
    assert shown.strip() == "seat 1   bot 1 1.0, by time odds 0.5 s a move, 4.5 s in the bank"


# fmt: off
JUDGED = [
    ((PLAY, LATE),      "after the ask; no answer",                   "late"),
    ((PLAY, ILLEGAL),   "after the ask; answer after ",               "illegal"),
    ((PLAY, MALFORMED), "after the ask; answer after ",               "no sense"),
]
# fmt: on


@pytest.mark.parametrize(("script", "said", "why"), JUDGED, ids=[row[-1] for row in JUDGED])
def test_what_a_fault_was_judged_by_is_for_the_seat_alone(script, said, why, tmp_path):
    class Sender(Bot):
        """Its answers are bytes."""

        def ask(self, ask):
            answered = ask.answered
            ask = Stamped(ask, lambda answer, at: answered(answer, at, b"some bytes"))
            super().ask(ask)

    bots = [Bot(0), Sender(1, script)]
    judged = Replay.open(record(tmp_path, "abstrac", bots))
    for eyes in (*SEATS[:2], *Viewer):
        text = whole(judged, eyes)
        assert text.count("evidence: ") == (eyes in (Seat(1), Viewer.ALL))
        assert (said in text) == (eyes in (Seat(1), Viewer.ALL))
    if script[1] != LATE:
        digest = hashlib.sha256(b"some bytes").hexdigest()[:16]
        assert f"10 bytes, SHA-256 {digest}" in whole(judged, Viewer.ALL)


class Stamped:
    """An ask that is answered in another way."""

    def __init__(self, ask, answered):
        self._ask = ask
        self.answered = answered

    def __getattr__(self, name):
        return getattr(self._ask, name)


def test_how_long_a_bot_was_away_and_what_was_the_arenas_own_is_drawn(tmp_path):
    path = record(tmp_path, "abstrac", [Bot(0), Bot(1, (PLAY, LATE))])

    def change(records):
        (fault,) = (each.decided for each in records if each.decided.fault)
        fault.evidence.away_ms = 2500
        fault.refunded_us = 40_000

    text = whole(Replay.read(io.BytesIO(retold(path, change))), Viewer.ALL)
    assert "0.040 s refunded as the arena's own; away 2.5 s of the match" in text


# fmt: off
CAUSES = [
    (AbortCause.ERROR,      faults.ABORTS[1].message("incident 1f2e3d4c in the arena's log")),
    (AbortCause.STOPPED,    faults.ABORTS[2].message()),
    (AbortCause.UNPLAYABLE, faults.ABORTS[4].message()),
    (None,                  faults.ABORTS[0].message()),
]
# fmt: on


@pytest.mark.parametrize(("cause", "said"), CAUSES, ids=[row[1] for row in CAUSES])
def test_an_aborted_match_has_its_cause(cause, said, tmp_path):
    path = record(tmp_path, "abstrac", stop_after_s=2.0)

    def change(records):
        records[-2].closed.cause = cause or 0
        records[-2].closed.incident = "1f2e3d4c" if cause is AbortCause.ERROR else ""

    text = whole(Replay.read(io.BytesIO(retold(path, change))), Viewer.SPECTATOR)
    assert f"Aborted: {said}." in text


def test_an_unplayed_step_names_the_seats_to_act(tmp_path):
    bots = [Bot(0), Bot(1), Bot(2)]
    path = record(tmp_path, "democracy", bots, {"hands": 3}, stop_after_s=0.9)
    text = whole(Replay.open(path), Viewer.ALL)
    *_, last = play_back(Replay.open(path))
    decided = {each.seat for each in last.decisions}
    waiting = " and ".join(f"bot {seat} (seat {seat})" for seat in range(3) if seat not in decided)
    assert 0 < len(decided) < 3
    assert f"stopped before this step was played: {waiting} had still to decide" in text
    assert f"It was stopped in hand 0, after step 0: {waiting} had still to decide." in text


def test_a_replay_that_is_not_true_is_shown_as_far_as_it_is(tmp_path):
    path = record(tmp_path, "abstrac")
    lying = retold(path, lambda records: setattr(records[4].decided.move.abstrac, "count", 20))
    text = whole(Replay.read(io.BytesIO(lying)), Viewer.ALL)
    assert "step 3" in text
    assert "step 4" not in text
    assert "not true: decision 4 of" in text


def test_what_bots_write_cannot_take_over_the_terminal(tmp_path):
    note = "[bold]\x1b[2Jgone\x07\N{RIGHT-TO-LEFT OVERRIDE}\r"
    path = record(tmp_path, "abstrac", [Bot(0, note=note), Bot(1)])
    replay = Replay.open(path)
    text = whole(replay, Seat(0), noted(tmp_path, replay, Seat(0)))
    assert "[bold]\N{REPLACEMENT CHARACTER}[2Jgone" in text  # markup is text as well
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\N{RIGHT-TO-LEFT OVERRIDE}]", text)


def test_a_hand_can_be_chosen(replay):
    assert [step.index for step in Playback.of(replay).of_hand(1)] == list(range(12, 25))


@dataclass(frozen=True)
class Inner:
    number: int
    cards: tuple[str, ...]


@dataclass(frozen=True)
class Everything:
    flag: bool
    nothing: str | None
    one_card: str
    cards: tuple[str, ...]
    empty: tuple[str, ...]
    heaps: tuple[tuple[str, ...], ...]
    inner: Inner
    inners: tuple[Inner, ...]
    text: str


def test_any_view_becomes_labelled_lines():
    inner = Inner(3, ("2c",))
    value = Everything(
        True, None, "Th", ("As", "Jk"), (), (("9d",), ()), inner, (inner, inner), "x\x1by"
    )
    assert [line.plain.rstrip() for line in draw.view(value)] == [
        "flag      yes",
        "nothing   -",
        "one card  T♥",
        "cards     A♠ Jk",
        "empty     none",
        "heaps     0: 9♦",
        "          1: none",
        "inner",
        "  number  3",
        "  cards   2♣",
        "inners    0: number 3, cards 2♣",
        "          1: number 3, cards 2♣",
        "text      x\N{REPLACEMENT CHARACTER}y",
    ]


# fmt: off
LINES = [
    ("take 3",                    "take 3",                     "no cards"),
    ("taken seat=1 cards=As9d",   "taken seat=1 cards=A♠ 9♦",   "a list of cards"),
    ("row Jk2c/()/Kh",            "row Jk 2♣/()/K♥",            "lists of lists"),
    ("word Ashes",                "word Ashes",                 "a word that begins like a card"),
    ("{1;As}",                    "{1;A♠}",                     "within braces"),
]
# fmt: on


@pytest.mark.parametrize(("line", "drawing", "why"), LINES, ids=[row[2] for row in LINES])
def test_cards_in_notation_are_drawn(line, drawing, why):
    assert draw.notation(line).plain == drawing
