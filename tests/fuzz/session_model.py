"""A session against a model of what it must do: any order of words, losses and restarts.

The model knows nothing of games. It follows what the bot was asked, and says
of each message that the bot sends whether it settles a decision, is silent or
is refused; the ledger of each match has to agree with it.
"""

import hashlib
import json
import time

import hypothesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from arena.bots.bot_ids import BotId
from arena.live.session.asks import ask_id, decision_of
from arena.live.session.limits import FREE_MESSAGES, MAX_STRIKES
from arena.live.session.session import Session
from arena.records.journal.match_log import MatchLog, settled_of
from arena.records.read import read_body
from arena.records.records import Framed
from arena.referee.match_runner import MatchRunner
from arena.referee.spec import FaultKind
from arena.referee.timers import ArenaTime, Timers
from arena.testing.journal import MemoryJournal
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import seeded_spec
from cardarena.v1 import journal_pb2, play_pb2
from tests.fuzz.modelled_bot import ModelledBot
from tests.fuzz.sitting import CONTROL
from tests.fuzz.target import CORPUS
from tests.live.sittings import Bot

GAME, HANDS = "democracy", 4
LATE_S = 7.0
"""Longer than a move and the bank together."""
MAX_MATCHES = 3
UNKNOWN_BODY = b"\x08\x01"
"""A message of fields that this arena does not know."""
NAME = "session_model"
EXAMPLES = 40
"""Sequences of steps between two looks at the clock in a long run."""


class SessionMachine(RuleBasedStateMachine):
    """One bot with a model, and one that answers at once, at up to three matches."""

    def __init__(self):
        super().__init__()
        self.steps = []
        """What was done, to be done again from a file."""
        self.now_s = 0.0
        self.timers = Timers()
        self.model = ModelledBot()
        self.bot = Bot(self, "ann", connected=False)
        self.other = Bot(self, "bob", max_open_asks=64)
        self.old_outboxes = []
        self.matches = {}
        self.connected = False

    # What happens.

    @rule(max_open=st.integers(0, 3))
    def hello(self, max_open):
        """The bot comes, comes back, or opens a second stream."""
        self.steps.append(["hello", max_open])
        model, before = self.model, self.bot.outbox
        was_connected, self.connected = self.connected, True
        model.epoch += 1
        model.max_open = max_open or 1
        model.strikes = 0
        outbox = MemoryOutbox()
        self.bot.session.attach(play_pb2.Hello(max_open_asks=max_open), outbox)
        self.bot.outbox = outbox
        if was_connected:
            assert before.closed
            assert before.verdict.reason == "TAKEN_OVER"
        if before is not None:
            self.old_outboxes.append(before)
        welcome = outbox.only("welcome")
        assert welcome.epoch == model.epoch
        listed = [ask.ask_id for ask in welcome.open_asks] + list(welcome.later_asks)
        asks = self.bot.session.asks.table
        self._asked(set(asks.open_ids) - model.open.keys())
        waiting = [entry.number for entry in asks.waiting]
        assert sorted(listed) == sorted([*model.open, *waiting]), "all that is not settled"
        assert {match.match for match in welcome.matches} == self.matches.keys() - model.over
        self._hear()

    @precondition(lambda self: len(self.matches) < MAX_MATCHES)
    @rule(seat=st.integers(0, 1))
    def match(self, seat):
        """A match begins."""
        self.steps.append(["match", seat])
        number = len(self.matches) + 1
        spec = _spec(number)
        self.matches[number] = _Match(spec, seat, number)
        self._seat(self.matches[number])
        self._hear()

    @precondition(lambda self: self.connected and self.model.open)
    @rule(which=st.integers(0, 7), index=st.sampled_from((0, 0, 0, 1, 900)), note=st.booleans())
    def answer(self, which, index, note):
        """An open ask is answered; 900 is no index."""
        self.steps.append(["answer", which, index, note])
        number = self._pick(self.model.open, which)
        illegal = index == 900
        # What an illegal answer would have meant is nothing, so nothing differs from it.
        self.model.settle(
            *((number, None, FaultKind.ILLEGAL) if illegal else (number, index, None))
        )
        refusals = [("NOTE_TOO_LONG", number)] if note else []
        text = "n" * 201 if note else ""
        answer = play_pb2.Answer(ask_id=number, index=index, note=text)
        self._say(refusals, number if illegal else None, owed=True, answers=_answers(answer))

    @precondition(lambda self: self.connected and self.model.settled)
    @rule(which=st.integers(0, 40), other=st.booleans())
    def answer_again(self, which, other):
        """A settled ask is answered: by the same, which is silent, or by something else."""
        self.steps.append(["answer_again", which, other])
        number = self._pick(self.model.settled, which)
        known = self.model.settled[number]
        index = 5 if other or known is None else known
        refusals = [("ALREADY_ANSWERED", number)] if known is not None and index != known else []
        answer = play_pb2.Answer(ask_id=number, index=index)
        self._say(refusals, answers=_answers(answer))

    @precondition(lambda self: self.connected)
    @rule(match=st.integers(0, 5), ahead=st.integers(1, 3))
    def answer_to_nothing(self, match, ahead):
        """An ask is answered that there never was."""
        self.steps.append(["answer_to_nothing", match, ahead])
        number = ask_id(match, self.model.asked.get(match, 0) + ahead)
        waiting = match in self.matches and match not in self.model.over
        if waiting and self._table_asks(match) >= decision_of(number)[1]:
            return  # the arena has it ready, and the bot guesses: that is as if it were asked
        if match in self.model.over:
            return  # what was asked last at a match that is over is not kept
        self._say([("UNKNOWN_ASK", number)], answers=_answers(play_pb2.Answer(ask_id=number)))

    @precondition(lambda self: self.connected)
    @rule(data=st.sampled_from((b"", b"\xff", b"\x1a\x05", UNKNOWN_BODY)))
    def garbage(self, data):
        """Something unreadable is said: with one ask open it was the answer."""
        self.steps.append(["garbage", data.hex()])
        if data == UNKNOWN_BODY:
            self._say([("NOT_OFFERED", 0)], data=data)
            return
        closed = None
        if len(self.model.open) == 1:
            (closed,) = self.model.open
            self.model.settle(closed, None, FaultKind.MALFORMED)
        self._say([("MALFORMED", 0)], closed, data=data)

    @precondition(lambda self: self.connected)
    @rule(kind=st.sampled_from(("hello", "ready", "deal_commit", "deal_reveal", "answers")))
    def out_of_place(self, kind):
        """Something is said that is right elsewhere."""
        self.steps.append(["out_of_place", kind])
        said = {"hello": "OUT_OF_ORDER", "deal_commit": "NOT_OFFERED", "deal_reveal": "NOT_OFFERED"}
        bodies = {
            "hello": play_pb2.Hello(),
            "ready": play_pb2.Ready(max_matches=3),
            "deal_commit": play_pb2.DealCommit(),
            "deal_reveal": play_pb2.DealReveal(),
            "answers": play_pb2.Answers(),
        }
        self._say([(said[kind], 0)] if kind in said else [], **{kind: bodies[kind]})

    @precondition(lambda self: self.connected)
    @rule(kind=st.sampled_from(("ready", "hello")), times=st.sampled_from((9, 12, 45)))
    def nag(self, kind, times):
        """The same is said on and on."""
        self.steps.append(["nag", kind, times])
        for _ in range(times):
            if self.connected:
                self.out_of_place(kind)
                self.steps.pop()

    @precondition(lambda self: self.old_outboxes)
    @rule(which=st.integers(0, 9))
    def words_of_an_old_stream(self, which):
        """What still comes on a stream that was taken over, or lost, counts for nothing."""
        self.steps.append(["words_of_an_old_stream", which])
        outbox = self.old_outboxes[which % len(self.old_outboxes)]
        told = len(outbox.messages)
        for number in list(self.model.open) or [ask_id(1, 1)]:
            self.bot.answer(play_pb2.Answer(ask_id=number, index=0), outbox=outbox)
        assert len(outbox.messages) == told
        self._hear()

    @precondition(lambda self: self.connected)
    @rule()
    def lost(self):
        """The stream ends."""
        self.steps.append(["lost"])
        self._detach()

    @rule(seconds=st.sampled_from((0.25, 1.0, LATE_S)))
    def pass_time(self, seconds):
        """Time passes; what has been open for too long is over."""
        self.steps.append(["pass_time", seconds])
        self.now_s += seconds
        self.timers.call_due(self.now_s)
        self._hear(timed=True)

    @rule()
    def restart(self):
        """The arena is killed and comes back with what it had written down."""
        self.steps.append(["restart"])
        model, session = self.model, self.bot.session
        self.timers = Timers()
        self.connected, self.bot.outbox = False, None
        self.old_outboxes.clear()
        self.bot.session = self._session("ann", model.epoch, session.seats.numbered)
        self.other.session = self._session("bob", 0, self.other.session.seats.numbered)
        model.tokens, model.at_s = float(FREE_MESSAGES), self.now_s
        model.again |= model.open.keys()
        model.open.clear()
        self._forget()
        for number, match in self.matches.items():
            if number not in model.over:
                self._seat(match, match.past())
        self.other.connect(max_open_asks=64)
        self._hear()

    def _session(self, name, epoch, matches):
        session = Session(BotId(name), lambda: self.now_s, epoch=epoch, matches=matches)
        session.expect_back()
        return session

    def _forget(self):
        """After a restart only the last answer of each match in play is known."""
        model = self.model
        for number in list(model.settled):
            match, decision = decision_of(number)
            last = max((d for m, d in map(decision_of, model.faults) if m == match), default=0)
            if match in model.over or decision != last or model.faults[number] is not None:
                model.settled[number] = None

    # How it is done.

    def _seat(self, match, past=()):
        seated = [self.bot, self.other] if match.seat == 0 else [self.other, self.bot]
        ports = [
            bot.session.seat_at(match.spec, seat, ("ann", "bob"), match.number)
            for seat, bot in enumerate(seated)
        ]
        match.log = MatchLog(match.journal, match.number)
        match.log.bodies = list(match.journal.bodies)
        match.table = MatchRunner(
            match.spec,
            ports,
            match.log,
            time=ArenaTime(lambda: self.now_s, self.timers),
            over=lambda table: table.tell_end(),
            heavy_step=None,
        )
        match.table.begin(past)

    def _table_asks(self, match):
        """The decision that the table of a match waits for, of the bot's seat."""
        found = self.matches[match]
        return found.table._records[found.seat].decisions

    def _pick(self, numbers, which):
        return sorted(numbers)[which % len(numbers)]

    def _say(self, refusals, closed=None, *, owed=False, data=None, **body):
        """Say something that is refused so, and closes so."""
        model = self.model
        model.strikes += sum(reason != "NOT_OFFERED" for reason, _ in refusals)
        if data is None:
            data = play_pb2.BotMessage(**body).SerializeToString()
        self.bot.send(data)
        outbox = self.bot.outbox
        reason = ""
        if model.strikes > MAX_STRIKES:
            reason = "TOO_MANY_REFUSALS"
        elif not owed and not model.extra(self.now_s):
            reason = "TOO_MANY_MESSAGES"
        if reason == "TOO_MANY_REFUSALS" and not owed:
            model.extra(self.now_s)
        assert self.bot.refusals() == refusals
        said = [each.ask_id for each in outbox.take("ask_closed")]
        assert outbox.closed == bool(reason), (reason, outbox.verdict)
        if reason:
            assert outbox.verdict.reason == reason
        assert said == ([closed] if closed is not None and not _silent(reason, refusals) else [])
        self._hear()
        if reason:
            self._detach()

    def _detach(self):
        self.connected = False
        self.old_outboxes.append(self.bot.outbox)
        self.bot.session.detach(self.bot.outbox)
        self._hear()

    def _hear(self, *, timed=False):
        """Let the other bot play, and take in what the modelled one was told."""
        while asks := self.other.outbox.take_asks():
            for ask in asks:
                self.other.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
        outbox = self.bot.outbox
        if timed:
            self._take_timed_out()
        elif outbox is not None:
            assert outbox.take("ask_closed") == []
        self._asked(set(self.bot.session.asks.table.open_ids) - self.model.open.keys())
        if outbox is not None:
            told = {ask.ask_id for ask in outbox.take_asks()}
            assert told <= self.model.open.keys() | self.model.faults.keys()
            for end in outbox.take("match_end"):
                assert end.match in self.matches
        for number, match in self.matches.items():
            if match.table.outcome is not None:
                self.model.over.add(number)

    def _take_timed_out(self):
        """Asks whose time is up, by the ledger: the bot was told, if it was there."""
        outbox = self.bot.outbox
        told = {each.ask_id for each in outbox.take("ask_closed")} if outbox is not None else set()
        for number in [n for n in self.model.open if n not in self.bot.session.asks.table.open_ids]:
            self.model.settle(number, None, FaultKind.TIMEOUT if self.connected else FaultKind.GONE)
            assert not self.connected or number in told

    def _asked(self, numbers):
        """New asks are the next decisions of their matches, and no more than there are slots."""
        model = self.model
        if numbers:
            assert len(model.open) + len(numbers) <= model.max_open
        for number in sorted(numbers):
            match, decision = decision_of(number)
            assert match in self.matches
            assert decision > model.asked.get(match, 0) or number in model.again
            model.again.discard(number)
            model.asked[match] = decision
            model.open[number] = True

    # What is always true.

    @invariant()
    def the_ledger_agrees(self):
        for number, match in self.matches.items():
            own = [each for each in match.decided() if each.seat == match.seat]
            assert [each.decision for each in own] == list(range(1, len(own) + 1))
            for each in own:
                if each.unasked:
                    continue
                at = ask_id(number, each.decision)
                assert at in self.model.faults, "settled, but nobody answered"
                fault = self.model.faults[at]
                assert each.fault == (fault or 0), (at, each)
            ids = {ask_id(number, each.decision) for each in own}
            mine = {at for at in self.model.faults if decision_of(at)[0] == number}
            assert mine <= ids, "answered, but not settled"
            outcome = match.table.outcome
            assert outcome is None or outcome.cause is None
        assert not (self.model.again & self.model.faults.keys())

    @invariant()
    def what_is_open_is_open(self):
        assert self.bot.session.asks.table.open_ids == self.model.open.keys()
        assert self.bot.session.epoch == self.model.epoch

    def teardown(self):
        """Play on honestly: every match comes to its end."""
        if any(match.table is None for match in self.matches.values()):
            return  # it could not even begin, which has its own error
        for _ in range(2000):
            if all(match.table.outcome is not None for match in self.matches.values()):
                break
            self.hello(3)
            while self.connected and self.model.open:
                number = next(iter(self.model.open))
                self.model.settle(number, 0, None)
                answer = play_pb2.Answer(ask_id=number, index=0)
                self._say([], owed=True, answers=_answers(answer))
        assert all(match.table.outcome is not None for match in self.matches.values())


class _Match:
    """A match, and what an arena has written down of it."""

    def __init__(self, spec, seat, number):
        self.spec, self.seat, self.number = spec, seat, number
        self.journal = MemoryJournal()
        self.table = self.log = None

    def decided(self):
        read = (read_body(Framed(0, body))[1] for body in self.journal.bodies)
        return [each for each in read if isinstance(each, journal_pb2.Decided)]

    def past(self):
        return tuple(map(settled_of, self.decided()))


def _spec(number):
    return seeded_spec(
        GAME, 2, {"hands": HANDS}, seed=str(number), time_control=CONTROL, away_limit_ms=0
    )


def _answers(*answers):
    return play_pb2.Answers(answers=answers)


def _silent(reason, refusals):
    """Whether the stream was closed before the end of an ask could be told."""
    return reason == "TOO_MANY_REFUSALS" and refusals and refusals[0][0] == "NOTE_TOO_LONG"


def search(examples, seed=None, machine=SessionMachine):
    """Try sequences of steps; raises at the first that breaks a promise."""
    machine = machine if seed is None else hypothesis.seed(seed)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize=seed is None,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )


def replay(data):
    """Do again what a file says, as `SessionMachine.steps` has it."""
    machine = SessionMachine()
    for name, *arguments in json.loads(data):
        given = [bytes.fromhex(arguments[0])] if name == "garbage" else arguments
        getattr(machine, name)(*given)
        machine.the_ledger_agrees()
        machine.what_is_open_is_open()
    machine.teardown()


class _Kept(SessionMachine):
    """Remembers the steps of the last machine that failed."""

    last = b"[]"

    def teardown(self):
        type(self).last = json.dumps(self.steps).encode()
        super().teardown()


def search_until(seed, until_s):
    """Search until the time is up; the number of rounds. Steps that fail are saved."""
    rounds = 0
    while time.monotonic() < until_s:
        try:
            search(EXAMPLES, seed + rounds, _Kept)
        except Exception as error:
            folder = CORPUS / NAME
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"found-{hashlib.sha256(_Kept.last).hexdigest()[:12]}.json"
            path.write_bytes(_Kept.last)
            error.add_note(f"the steps are kept in {path}")
            raise
        rounds += 1
    return rounds
