"""The Python SDK with one fault planted, as a client of the kit: `planted.py FAULT …`."""

import runpy
import sys
from pathlib import Path

import grpc

from cardarena import _choice, _connection, _deals, _dial, _play, _redial, _run, _session
from cardarena.v1.play_pb2 import Answer, Answers, BotMessage

CLIENT = Path(__file__).resolve().parents[3] / "clients" / "conformance" / "python" / "client.py"
Session, Deals, Redial = _session.Session, _deals.Deals, _redial.Redial


def thinks_anew():
    opened = Session.opened

    def forgets(self):
        for match in self._matches.values():
            match.ask = match.answer = None
        return opened(self)

    Session.opened = forgets


def answers_what_waits():
    on_welcome = Session._on_welcome

    def hasty(self, welcome):
        received = on_welcome(self, welcome)
        answers = [Answer(ask_id=number, index=0) for number in welcome.later_asks]
        message = BotMessage(answers=Answers(answers=answers))
        received.send += [message.SerializeToString()] if answers else []
        return received

    Session._on_welcome = hasty


def answers_what_is_closed():
    Session._on_ask_closed = lambda self, closed: _session.Received()


def tells_an_end_twice():
    on_match_end = Session._on_match_end

    def again(self, end):
        received = on_match_end(self, end)
        self._news += self._news[-1:]
        return received

    Session._on_match_end = again
    _play.OneByOne.tell = _told_always(_play.OneByOne.tell)


def _told_always(tell):
    bots = {}

    def told(self, news):
        bots.update(self._bots)
        self._bots.update({news.match: bots[news.match]} if news.match in bots else {})
        tell(self, news)

    return told


def cuts_no_notes():
    _choice.cut = lambda note, max_chars: note


def comes_back_after_a_takeover():
    del _redial._FINAL[grpc.StatusCode.ABORTED]


def reads_no_retry_info():
    _connection.retry_delay_s = lambda metadata: 0.0


def commits_anew():
    Deals.on_stream = lambda self: self._deals.clear()


def reveals_whatever_it_is_shown():
    _deals._wrong_transcript = lambda *_, **__: ""


def ends_well_after_a_lie():
    _run.EXIT_LIED = 0


def counts_asks_without_their_decisions():
    _deals.next_link = lambda chain, decision, payload: _deals.hashlib.sha256(
        chain + payload
    ).digest()


def follows_from_tls_to_plain_text():
    _dial.Dial.channel = lambda self, endpoint, options: (
        grpc.insecure_channel(endpoint.removeprefix("http://"), options=options)
        if endpoint.startswith("http://")
        else grpc.secure_channel(endpoint.removeprefix("https://"), self._credentials, options)
    )


def stays_where_it_was_sent():
    after = Redial.after

    def stays(self, end):
        attempt = after(self, end)
        sent_to = getattr(self, "sent_to", None) or end.redirect
        self.sent_to = sent_to
        return _redial.Attempt(sent_to, attempt.delay_s) if attempt and sent_to else attempt

    Redial.after = stays


def fails_with_the_bot():
    def fails(ask, raised, **_):
        raise SystemExit(70)

    _play._failed = fails


def knows_every_value():
    _session._word = lambda enum, number, prefix: enum.Name(number)


def sends_any_number_of_answers():
    frames, gathered = Session.frames, []

    def three_at_once(self, answers):
        gathered.extend(answers)
        if len(gathered) < 3:  # on a busy machine each would go alone, and none could see the fault
            return []
        together, gathered[:] = list(gathered), []
        self._max_answers = 0
        return frames(self, together)

    Session.frames = three_at_once


def never_pings():
    _connection.CHANNEL_OPTIONS = ()


FAULTS = {
    thinks_anew: "C3",
    answers_what_waits: "C4",
    answers_what_is_closed: "C7",
    tells_an_end_twice: "C8",
    knows_every_value: "C11-values",
    cuts_no_notes: "C13",
    stays_where_it_was_sent: "C14-fallback",
    follows_from_tls_to_plain_text: "C14-plain",
    reads_no_retry_info: "C17",
    comes_back_after_a_takeover: "C18",
    commits_anew: "C19",
    reveals_whatever_it_is_shown: "C21-own-left-out",
    ends_well_after_a_lie: "C21-wrong-secret",
    counts_asks_without_their_decisions: "C24",
    sends_any_number_of_answers: "C2-answers",
    fails_with_the_bot: "C27",
    never_pings: "C25",
}
"""Each fault, and the case that must find it."""

if __name__ == "__main__":
    name = sys.argv.pop(1)
    next(fault for fault in FAULTS if fault.__name__ == name)()
    sys.argv[0] = str(CLIENT)
    runpy.run_path(str(CLIENT), run_name="__main__")
