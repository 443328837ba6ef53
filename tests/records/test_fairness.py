"""The fair deal of a replay is recomputed; every false word in it has its sentence."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay as command
from arena.games.catalogue import GAMES
from arena.records.deal_book import LOG_MAGIC, CommitmentLog, read_log
from arena.records.fairness import Fairness, LogAccount, LoggedMatch, account_of, check, check_log
from arena.records.playback import Discrepancy
from arena.records.read import Replay
from arena.records.receipts import BadReceipt, Receipt, _SeatPlayback, compare, concerns
from arena.records.records import framed
from arena.records.verify import verify
from arena.referee.deal import plan_hash, plan_line, seeded_key
from arena.referee.spec import Ending
from cardarena._deals import Deals
from cardarena._receipts import Folder, written
from cardarena.v1 import deals_pb2, game_pb2, journal_pb2, play_pb2
from tests.records.matches import ILLEGAL, LATE, LEAVE, MALFORMED, PLAY, Bot, record
from tests.referee.deal.house import BARE, HOUSE, SDK, House, Player, thirty_two
from tests.rows import slow_unless_of_each_kind

TABLE = {"ann": SDK, "a bare bot": BARE, "ben": SDK}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return House(tmp_path_factory.mktemp("fair"), TABLE).run()


# fmt: off
SENTENCES = [
    (Fairness(seeded=False, entropy_from=2, participants=3), "fair deal, entropy from 2 of 3",   "bots took part"),
    (Fairness(seeded=False, entropy_from=0, participants=2), "fair deal, entropy from 0 of 2",   "no bot took part"),
    (Fairness(seeded=True, entropy_from=0, participants=0),  "seeded, not a fair deal",          "a seed"),
    (Fairness(seeded=False, entropy_from=0, participants=0), "the arena drew the deals alone",   "no seed and no protocol"),
]
# fmt: on


@pytest.mark.parametrize(("fairness", "sentence", "why"), SENTENCES, ids=[s[-1] for s in SENTENCES])
def test_fairness_is_said_in_a_sentence(fairness, sentence, why):
    assert str(fairness) == sentence


def test_a_bare_bot_is_counted_as_adding_nothing(house):
    assert check(house.replay()) == Fairness(seeded=False, entropy_from=2, participants=3)


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES), ids=[game.id for game in GAMES])
def test_a_fair_deal_is_recomputed_in_every_game(game, tmp_path):
    names = [f"bot {seat}" for seat in range(game.seats[0])]
    house = House(tmp_path, dict.fromkeys(names, SDK), game.id).run()
    assert verify(house.replay()).fairness.entropy_from == len(names)
    assert compare(house.replay(), house.receipt(names[-1])) > 0


def opened(change):
    """A change of what was fixed before play, and what is opened to fit where it can be."""
    return lambda records: change(records[0].opened)


def fair(change):
    return lambda records: change(records[0].opened.fair_deal)


def revealed(change):
    return lambda records: change(records[-1].revealed)


def setting(name, value):
    return lambda message: setattr(message, name, value)


def replanned(plan, salt=bytes(32)):
    """Another plan, which opens its hash."""

    def change(records):
        records[-1].revealed.plan = plan
        records[-1].revealed.plan_salt = salt
        records[0].opened.fair_deal.plan_hash = plan_hash(plan, salt)

    return change


SEATS = [(name, 0) for name in TABLE]
HONEST = plan_line("m1", 0, SEATS)


def same_bot_twice(fair_deal):
    fair_deal.participants[1].bot = fair_deal.participants[0].bot


def without_a_participant(records):
    del records[0].opened.fair_deal.participants[0]
    del records[-1].revealed.entropies[0]


def another_key(records):
    """Another key that is committed to and opened, but follows from nothing."""
    key = bytes(32)
    records[-1].revealed.deal_key = key
    records[0].opened.deal_key_sha256 = hashlib.sha256(key).digest()


def seeded_too(records):
    records[0].opened.terms.seeded = True


def other_option(records):
    records[0].opened.terms.options.append(game_pb2.Setting(name="hands", number=9))


def exchanged(fair):
    """Two bots change places among the participants, of which the public log has the pseudonyms alone."""
    first, second, *_ = fair.participants
    first.bot, second.bot = second.bot, first.bot


# fmt: off
FALSE = [
    (fair(exchanged),                                           "took part in the fair deal as",          "two bots exchanged among the participants"),
    # the change                                                says                                      why
    (fair(setting("server_id", "another")),                     "secret does not open its commitment",    "another arena"),
    (fair(setting("deal_set", "another")),                      "secret does not open its commitment",    "another deal-set"),
    (fair(setting("rules_hash", bytes(32))),                    "made for other rules or options",        "another hash of the rules"),
    (other_option,                                              "made for other rules or options",        "another option"),
    (fair(lambda fair: fair.deck.reverse()),                    "made for another pack",                  "the pack in another order"),
    (fair(lambda fair: fair.deck.pop()),                        "made for another pack",                  "a card is missing"),
    (fair(setting("boards", 1)),                                "secret does not open its commitment",    "another number of boards"),
    (fair(setting("plan_hash", bytes(32))),                     "plan is not the one",                    "another hash of the plan"),
    (revealed(setting("plan", HONEST + "\nm2 0 ann/0 ben/0")),  "plan is not the one",                    "another plan"),
    (revealed(setting("plan_salt", bytes(32))),                 "plan is not the one",                    "another salt"),
    (replanned(HONEST, b"short"),                               "salt has 5 bytes",                       "a salt that can be guessed"),
    (replanned(HONEST),                                         "secret does not open its commitment",    "another plan that is in order"),
    (replanned(HONEST.replace("m1", "m2")),                     "does not name this match",               "a plan of other matches"),
    (replanned(""),                                             "does not name this match",               "no plan"),
    (replanned(f"{HONEST}\n{HONEST}"),                          "names match m1 twice",                   "a match at two places of the plan"),
    (replanned(plan_line("m1", 0, SEATS[::-1])),                "other bots at the seats",                "the bots at other seats"),
    (replanned(plan_line("m1", 0, SEATS[:2])),                  "other bots at the seats",                "a seat less"),
    (replanned(HONEST.replace("ann/0", "ann/1")),               "ann/0 takes part in the fair deal, but", "another process of the bot"),
    (fair(same_bot_twice),                                      "takes part in the fair deal twice",      "a bot with two voices"),
    (without_a_participant,                                     "was left out of the fair deal",          "a bot without a voice"),
    (fair(lambda fair: fair.participants.reverse()),            "must be sorted",                         "participants out of order"),
    (fair(setting("log_head", b"")),                            "head of the public log",                 "no place in the public log"),
    (fair(setting("log_head", b"\1" * 32)),                     "secret does not open its commitment",    "another place in the public log"),
    (fair(setting("server_commitment", bytes(32))),             "secret does not open its commitment",    "another commitment of the arena's"),
    (fair(lambda fair: setattr(fair.participants[0], "commitment", b"\1" * 32)),
                                                                "not committed to|does not open",         "another commitment of a bot's"),
    (fair(lambda fair: setattr(fair.participants[0], "participant", "0")),
                                                                "does not open its commitment",           "another name of a participant"),
    (revealed(setting("secret", thirty_two("another"))),        "secret does not open its commitment",    "another secret"),
    (revealed(lambda revealed: revealed.entropies.reverse()),   "not committed to|does not open",         "entropy under other names"),
    (revealed(lambda revealed: revealed.entropies.pop()),       "entropy of 2 participants, but has 3",   "entropy left out"),
    (revealed(lambda revealed: revealed.ClearField("secret")),  "secret does not open its commitment",    "nothing opened"),
    (another_key,                                               "does not follow from the fair deal",     "a key from nowhere"),
    (seeded_too,                                                "does not follow from the seed",          "a seed beside it"),
    (opened(setting("dice_table", 2)),                          "dice are those of table 2",              "dice of another table"),
    (opened(lambda opened: opened.ClearField("fair_deal")),     "opens a fair deal that it does not have", "the fair deal taken out"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), FALSE, ids=[row[-1] for row in FALSE])
def test_a_false_word_has_its_sentence(change, says, why, house):
    verify(house.replay())
    with pytest.raises(Discrepancy, match=says):
        verify(house.replay(change))


def test_every_field_of_the_fair_deal_is_checked(house):
    """A flipped bit anywhere in what was fixed or opened is found."""
    verify(house.replay())
    records = list(house.records())
    touched = 0
    for part in (lambda records: records[0].opened.fair_deal, lambda records: records[-1].revealed):
        for descriptor, value in part(records).ListFields():
            if not isinstance(value, bytes):
                continue
            touched += 1
            flipped = bytes([value[0] ^ 1]) + value[1:]

            def flip(records, part=part, name=descriptor.name, flipped=flipped):
                setattr(part(records), name, flipped)

            with pytest.raises(Discrepancy):
                verify(house.replay(flip))
    assert touched == 7


def test_a_seeded_replay_does_not_claim_a_fair_deal(house):
    def seed(records):
        records[0].opened.terms.seeded = True

    replay = house.replay(seed)
    with pytest.raises(Discrepancy, match="seeded, but claims a fair deal"):
        check(replay)


class WithoutEve(House):
    """Eve had not opened what she had committed to: she is out, and so is her seat."""

    absent = (2,)


def test_a_seat_that_forfeited_before_the_deal_needs_no_voice(tmp_path):
    house = WithoutEve(tmp_path, {"ann": SDK, "ben": SDK, "eve": HOUSE}).run()
    assert str(check(house.replay())) == "fair deal, entropy from 2 of 2"
    assert compare(house.replay(), house.receipt("ann")) > 0

    def unforfeited(records):
        del records[0].opened.forfeited_seats[:]

    with pytest.raises(Discrepancy, match="eve/0 at seat 2 was left out of the fair deal"):
        check(house.replay(unforfeited))


# Receipts.


def changed(house, name, folder, change):
    """A receipt of the house's, changed."""
    fields = json.loads(house.receipt_file(name).read_text())
    change(fields)
    path = folder / "receipt.json"
    path.write_text(json.dumps(fields))
    return Receipt.open(path)


def first_match(name, value):
    return lambda fields: fields["matches"][0].__setitem__(name, value)


def field(name, value):
    return lambda fields: fields.__setitem__(name, value)


def other_mark(fields):
    fields["matches"][0]["asks"][4][1] = "00000000"


def other_decision(fields):
    fields["matches"][0]["asks"][-1][0] += 100


def gap(fields):
    """A chain over all asks but the first two, as of a bot that was away at first."""
    del fields["matches"][0]["asks"][:2]


# fmt: off
DIFFERENT = [
    (field("server_commitment", "00" * 32),  "another commitment of the arena's",       "another commitment of the arena's"),
    (field("transcript", "00" * 32),         "was shown another transcript",            "another transcript"),
    (field("transcript", None),              "never revealed",                          "no transcript"),
    (field("entropy", "00" * 32),            "revealed other entropy",                  "other entropy"),
    (field("participant", "nobody"),         "nobody is not in the fair deal",          "a participant that there was not"),
    (first_match("seat", 1),                 "ann/0 sat at seat 1, not by the plan",    "another seat"),
    (first_match("seat", 9),                 "ann/0 sat at seat 9, not by the plan",    "a seat that there is not"),
    (first_match("chain", "00" * 32),        "shown something else",                    "another chain"),
    (first_match("end", "00" * 32),          "told of another end",                     "another end"),
    (other_mark,                             "decision 5 of seat 0 was shown otherwise", "another card at the fifth ask"),
    (other_decision,                         "was asked by the receipt, but not by the replay", "an ask that there was not"),
    (gap,                                    "decision 3 of seat 0 was shown otherwise", "a chain that does not begin at its first ask"),
    (field("matches", []),                   "has no match like this one",              "no match"),
    (first_match("replay_id", "m2"),         "has no match like this one",              "another match"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), DIFFERENT, ids=[row[-1] for row in DIFFERENT])
def test_a_receipt_that_differs_has_its_sentence(change, says, why, house, tmp_path):
    assert compare(house.replay(), house.receipt("ann")) > 0
    with pytest.raises(Discrepancy, match=says):
        compare(house.replay(), changed(house, "ann", tmp_path, change))


def test_a_bot_that_missed_the_end_was_shown_the_rest(house, tmp_path):
    def missed(fields):
        fields["matches"][0]["end"] = None

    receipt = changed(house, "ann", tmp_path, missed)
    assert compare(house.replay(), receipt) == compare(house.replay(), house.receipt("ann"))


# fmt: off
NO_PART = [
    ({"entropy": None},                      "", "a bot that forgot its entropy"),
    ({"entropy": None, "transcript": None},  "never revealed, by its receipt", "one that forgot, and was shown nothing"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "says", "why"), NO_PART, ids=[row[-1] for row in NO_PART])
def test_a_receipt_without_entropy(house, tmp_path, fields, says, why):
    receipt = changed(house, "ann", tmp_path, lambda receipt: receipt.update(fields))
    if says:
        with pytest.raises(Discrepancy, match=says):
            compare(house.replay(), receipt)
    else:
        assert compare(house.replay(), receipt)


def test_a_bot_that_was_away_for_some_asks_has_a_chain_over_the_others(house, tmp_path):
    """The chain of a receipt is over the asks that it lists, and over no others."""

    class SometimesAway(House):
        def show_match(self, sitting):
            sitting.asks = sitting.asks[9:]
            super().show_match(sitting)

    house = SometimesAway(tmp_path, TABLE).run()
    asks = compare(house.replay(), house.receipt("ann"))
    assert 0 < asks < len(house.sitting.decided) / 3


def test_repeated_asks_count_once(tmp_path):
    class Stuttering(House):
        def show_match(self, sitting):
            sitting.asks = [ask for ask in sitting.asks for _ in range(2)]
            super().show_match(sitting)

    house = Stuttering(tmp_path, TABLE).run()
    assert house.named("ann").lies == []
    assert compare(house.replay(), house.receipt("ann")) == len(house.sitting.decided) / 3


def test_a_match_that_was_stopped_agrees_with_what_was_shown_until_then(tmp_path):
    """Also with an ask that was open when the match was stopped."""

    class Stopped(House):
        """Seat 1 had answered at the last step, seats 0 and 2 had not."""

        def play(self, key):
            sitting = super().play(key)
            sitting.decided = sitting.decided[:10]
            assert [each.seat for each in sitting.decided[-4:]] == [0, 1, 2, 0]
            sitting.asks = sitting.asks[:12]
            return sitting

        def records(self):
            for each in super().records():
                if each.HasField("closed"):
                    each.closed.CopyFrom(journal_pb2.Closed(ending=game_pb2.ENDING_ABORTED))
                yield each

    house = Stopped(tmp_path, TABLE).run()
    assert verify(house.replay()).outcome.decisions == 10
    assert [compare(house.replay(), house.receipt(name)) for name in ("ann", "ben")] == [4, 4]


def test_a_bot_of_the_deal_set_that_sat_elsewhere_compares_the_deal_alone(house, tmp_path):
    class TwoTables(House):
        """Two matches of two; this is the first, where Cat does not sit."""

        plan = "m1 0 ann/0 ben/0\nm2 0 cat/0 ben/0"

        @property
        def voices(self):
            return [*self.players, self.cat]

        def __init__(self, folder, players):
            self.cat = Player("cat", SDK)
            super().__init__(folder, players)
            self.cat.deals = Deals(shelf=Folder(folder / "cat"), draw=self.drawing(self.cat))

    house = TwoTables(tmp_path, {"ann": SDK, "ben": SDK}).run()
    assert str(verify(house.replay()).fairness) == "fair deal, entropy from 3 of 3"
    assert compare(house.replay(), house.receipt("cat")) == 0
    with pytest.raises(Discrepancy, match="shown another transcript"):
        compare(house.replay(), changed(house, "cat", tmp_path, field("transcript", "00" * 32)))


class Witness(Bot):
    """A bot in memory that notes what the table asks it, as its SDK would."""

    def __init__(self, seed, script=()):
        super().__init__(seed, script)
        self.deals = Deals(shelf=self)
        self.deal = None
        self.deals.on_open(
            play_pb2.DealOpen(context=bytes(32), server_commitment=bytes(32), participant="me")
        )
        self.deals.on_match_start(play_pb2.MatchStart(match=1, deal_context=bytes(32)))

    def keep(self, deal):
        self.deal = deal
        return ""

    def recall(self, context, participant=None):
        return None

    def ask(self, ask):
        message = play_pb2.Ask.FromString(ask.body)
        message.ask_id, message.match, message.decision = ask.decision, 1, ask.decision
        self.deals.on_ask(message)
        super().ask(ask)

    def end(self, outcome, trailing_events):
        events = [game_pb2.GameEvent.FromString(event) for event in trailing_events]
        end = play_pb2.MatchEnd(
            match=1, replay_id="m1", trailing_events=events, ending=outcome.ending.value
        )
        self.deals.on_match_end(end)

    def shown(self, folder, seat):
        path = folder / f"{seat}.json"
        path.write_text(written(self.deal))
        (shown,) = Receipt.open(path).shown
        return replace(shown, seat=seat)


# fmt: off
TOLD = [
    ("abstrac",       2, (),                            99, "one move after the other"),
    ("democracy",     3, (),                            99, "moves at the same time"),
    ("chinese_poker", 3, (PLAY, LATE, MALFORMED),       99, "moves that the arena played"),
    ("democracy",     3, (PLAY, *[ILLEGAL] * 10),       99, "a seat that is not asked any more"),
    ("democracy",     3, (PLAY, LEAVE),                 99, "a bot that left"),
    ("democracy",     3, (),                            5,  "a match that was stopped"),
    ("abstrac",       2, (),                            5,  "another match that was stopped"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "seats", "script", "stop_after_s", "why"), TOLD, ids=[row[-1] for row in TOLD]
)
def test_what_the_table_showed_is_made_anew(game, seats, script, stop_after_s, why, tmp_path):
    """The real table asked, so that it and the verifier cannot both be wrong alike."""
    bots = [Witness(seat, script if seat == 1 else ()) for seat in range(seats)]
    path = record(tmp_path, game, bots, {"hands": seats}, stop_after_s=stop_after_s)
    replay = Replay.open(path)
    assert (replay.ending is Ending.ABORTED) == (stop_after_s < 99)
    for seat, bot in enumerate(bots):
        shown = bot.shown(tmp_path, seat)
        assert shown.asks
        _SeatPlayback(replay, seat).compare(shown)


# fmt: off
NOT_RECEIPTS = [
    ("",                        "is not a receipt",                 "nothing"),
    ("[]",                      "is not a receipt",                 "a list"),
    ("{}",                      "is not a receipt",                 "nothing in it"),
    ('{"receipt": "fd3"}',      "is a receipt of another protocol", "another protocol"),
    ('{"receipt": "fd2"}',      "is not a receipt",                 "too little in it"),
    ('{"receipt": "fd1", "context": "xy"}', "is not a receipt",     "a context that is no number"),
    ("[" * 100_000,             "is not a receipt",                 "brackets without end"),
]
# fmt: on


@pytest.mark.parametrize(("text", "says", "why"), NOT_RECEIPTS, ids=[r[-1] for r in NOT_RECEIPTS])
def test_what_is_no_receipt_is_called_so(text, says, why, tmp_path):
    path = tmp_path / "receipt.json"
    path.write_text(text)
    with pytest.raises(BadReceipt, match=says):
        Receipt.open(path)


# What was kept by protocol fd1, which showed all participants the same context.

FD1 = Path(__file__).parent / "fd1"


def test_a_replay_of_fd1_is_checked_by_fd1():
    result = run(
        *("verify", FD1 / "fair.replay", "--receipt", FD1 / "receipt.json"),
        *("--log", FD1 / "commitments"),
    )
    assert result.exit_code == 0, result.output
    for fact in ("fair deal, entropy from 2 of 3", "in the public log", "36 asks as in 1 receipt"):
        assert fact in result.stdout


def salted(count):
    """Salts for some of the participants, who had made their commitments without."""

    def change(it):
        for each in list(it.fair_deal.participants)[:count]:
            each.salt = bytes(32)

    return change


# fmt: off
SALTS = [
    (salted(1),                                                     "or not for all",     "one of three"),
    (salted(3),                                                     "does not open its",  "all, where none had been"),
    (lambda it: setattr(it.fair_deal.participants[0], "salt", b"x"), "not of 32 bytes",   "a short one"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), SALTS, ids=[row[-1] for row in SALTS])
def test_salts_are_not_slipped_in(change, says, why):
    replay = Replay.open(FD1 / "fair.replay")
    check(replay)
    change(replay.opened)
    with pytest.raises(Discrepancy, match=says):
        check(replay)


def test_salts_are_not_taken_out(house):
    replay = house.replay(
        opened(lambda it: [each.ClearField("salt") for each in it.fair_deal.participants])
    )
    with pytest.raises(Discrepancy, match="does not open its commitment"):
        check(replay)


# The public log.


def log_file(house, change=lambda entries: None, name="commitments"):
    """The arena's public log of the house's deal; `change` gets its entries first."""
    commitment, secret, commitments, entropies = house.published()
    committed = deals_pb2.LogCommitted(context=house.context, server_commitment=commitment)
    opened = deals_pb2.LogOpened(
        context=house.context,
        secret=secret,
        entropies=[entropies[participant] for participant in sorted(commitments)],
    )
    entries = [deals_pb2.LogEntry(committed=committed), deals_pb2.LogEntry(opened=opened)]
    change(entries)
    path = house.folder / name
    bodies = [framed(entry.SerializeToString()) for entry in entries]
    path.write_bytes(LOG_MAGIC + b"".join(bodies))
    return path


def in_log(name, value):
    """A change of a field of both entries, as far as they have it."""

    def change(entries):
        for entry in entries:
            part = getattr(entry, entry.WhichOneof("body"))
            if name in part.DESCRIPTOR.fields_by_name:
                setattr(part, name, value)

    return change


def another_before(entries):
    committed = deals_pb2.LogCommitted(context=bytes(32), server_commitment=bytes(32))
    entries.insert(0, deals_pb2.LogEntry(committed=committed))


# fmt: off
LOGS = [
    (in_log("context", b"\1" * 32),               "is not in the public log",              "another deal-set"),
    (lambda entries: entries.clear(),             "is not in the public log",              "an empty log"),
    (in_log("server_commitment", bytes(32)),      "another commitment of the arena's",     "another commitment"),
    (another_before,                              "another place in the public log",       "an entry before it that was slipped in"),
    (in_log("secret", bytes(32)),                 "opens its fair deal with other secrets", "another secret"),
    (lambda entries: entries[1].opened.entropies.pop(), "opens its fair deal with other secrets", "entropy left out"),
    (in_log("void_reason", "a bot was late"),     "is void: a bot was late",               "a void deal"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), LOGS, ids=[row[-1] for row in LOGS])
def test_a_public_log_that_differs_has_its_sentence(change, says, why, house):
    assert check_log(house.replay(), read_log(log_file(house)))
    with pytest.raises(Discrepancy, match=says):
        check_log(house.replay(), read_log(log_file(house, change)))


def test_a_log_that_was_copied_before_the_opening_will_do(house):
    assert check_log(house.replay(), read_log(log_file(house, lambda entries: entries.pop())))


ONE, TWO = (bytes([at]) * 32 for at in (1, 2))


def logged(*entries):
    """A log with these deals: each a context, and how it ended; None for an open one."""
    log = CommitmentLog()
    for context, void_reason in entries:
        log.committed[context] = deals_pb2.LogCommitted(context=context)
        if void_reason is not None:
            log.opened[context] = deals_pb2.LogOpened(context=context, void_reason=void_reason)
    return log


M1, M2 = (LoggedMatch(match_id, ONE, ("m1", "m2")) for match_id in ("m1", "m2"))
# fmt: off
ACCOUNTS = [
    # the log                             replays   missing deals, matches, open, void        why
    (logged((ONE, "")),                   [M1, M2], ((), (), 0, {}),                    True,  "all are there"),
    (logged((ONE, "")),                   [],       ((ONE,), (), 0, {}),                False, "a deal that was played has no replay"),
    (logged((ONE, ""), (TWO, "")),        [M1, M2], ((TWO,), (), 0, {}),                False, "one of two has none"),
    (logged((ONE, "")),                   [M1],     ((), ("m2",), 0, {}),               False, "a match of a deal has none"),
    (logged((ONE, ""), (TWO, None)),      [M1, M2], ((), (), 1, {}),                    True,  "a deal is open"),
    (logged((ONE, None)),                 [M1, M2], ((), (), 0, {}),                    True,  "the log is older than the replays"),
    (logged((ONE, ""), (TWO, "a stop")),  [M1, M2], ((), (), 0, {"a stop": 1}),         True,  "a deal is void"),
]
# fmt: on


@pytest.mark.parametrize(
    ("log", "found", "told", "complete", "why"), ACCOUNTS, ids=[row[-1] for row in ACCOUNTS]
)
def test_a_commitment_without_a_replay_is_missed(log, found, told, complete, why):
    account = account_of(log, found)
    assert account == LogAccount(*told)
    assert account.complete == complete


def dropped(entries):
    """One deal that was played and has no replay, and one that was never opened."""
    for context in (ONE, TWO):
        committed = deals_pb2.LogCommitted(context=context, server_commitment=bytes(32))
        entries.append(deals_pb2.LogEntry(committed=committed))
    entries.append(deals_pb2.LogEntry(opened=deals_pb2.LogOpened(context=ONE)))


def test_verify_of_a_folder_misses_the_replays_of_a_log(house, tmp_path):
    shutil.copy(house.replay_file(), tmp_path)
    assert run("verify", tmp_path, "--log", log_file(house)).exit_code == 0
    short = log_file(house, dropped, "dropped")
    assert run("verify", house.replay_file(), "--log", short).exit_code == 0, "a file is no folder"
    result = run("verify", tmp_path, "--log", short)
    assert result.exit_code == 1
    assert f"✗ deal {ONE.hex()[:16]} was played by the public log" in result.stdout
    assert "1 deal of the public log open: in play, or dropped by the arena" in result.stdout
    told = json.loads(run("verify", "--json", tmp_path, "--log", short).stdout)
    assert (told["ok"], told["log"]["missing_deals"]) == (False, [ONE.hex()])


def test_bots_are_not_exchanged_in_a_replay_without_a_signature(house):
    """The log does not show which participant was which bot; it follows from the salt of the plan."""
    log, changed = log_file(house), fair(exchanged)
    assert not house.replay(changed).signed
    assert check_log(house.replay(changed), read_log(log)), "the log has the same of both"
    result = run("verify", house.replay_file(changed), "--log", log)
    assert result.exit_code == 1
    assert "took part in the fair deal as" in result.stdout


def test_what_is_seeded_is_not_looked_up(house):
    def seeded(it):
        it.ClearField("fair_deal")
        it.terms.seeded = True

    log = read_log(log_file(house, lambda entries: entries.clear()))
    assert not check_log(house.replay(opened(seeded)), log)


# The commands.


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_verify_names_the_participants_of_the_deal(house):
    result = run("verify", house.replay_file())
    assert result.exit_code == 0
    assert "fair deal, entropy from 2 of 3" in result.stdout


def test_verify_holds_receipts_against_a_replay(house):
    files = [house.receipt_file(name) for name in ("ann", "ben")]
    arguments = [argument for file in files for argument in ("--receipt", file)]
    result = run("verify", house.replay_file(), *arguments)
    assert result.exit_code == 0
    asks = 2 * len(house.sitting.decided) // 3
    assert f"{asks} asks as in 2 receipts" in result.stdout
    told = json.loads(run("verify", "--json", house.replay_file(), *arguments).stdout)
    (replay,) = told["replays"]
    assert (replay["receipts"], replay["asks_compared"]) == (2, asks)
    assert (replay["entropy_from"], replay["participants"]) == (2, 3)


def test_verify_fails_where_a_receipt_differs(house, tmp_path):
    receipt = changed(house, "ann", tmp_path, other_mark)
    result = run("verify", house.replay_file(), "--receipt", receipt.path)
    assert result.exit_code == 1
    assert "decision 5 of seat 0 was shown otherwise" in result.stdout


def test_verify_fails_where_a_receipt_is_of_another_deal_set(house, tmp_path):
    receipt = changed(house, "ann", tmp_path, field("context", "00" * 32))
    result = run("verify", house.replay_file(), "--receipt", receipt.path)
    assert result.exit_code == 1
    assert "belongs to none of these deal-sets" in result.stderr


def seeded_after_all(records):
    records[0].opened.ClearField("fair_deal")
    records[0].opened.terms.seeded = True
    revealed = records[-1].revealed
    for name in ("secret", "entropies", "plan", "plan_salt"):
        revealed.ClearField(name)
    revealed.seed = "made up"
    revealed.deal_key = seeded_key("made up")
    records[0].opened.deal_key_sha256 = hashlib.sha256(revealed.deal_key).digest()


# fmt: off
OTHERS = [
    (lambda receipt: receipt | {"context": "00" * 32},                "was told of another fair deal",                  "another deal"),
    (lambda receipt: receipt | {"context": "00" * 32, "matches": []}, None,                                             "another deal, and no match of it"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), OTHERS, ids=[row[-1] for row in OTHERS])
def test_whether_a_receipt_is_of_a_replay(change, says, why, house, tmp_path):
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(change(json.loads(house.receipt_file("ann").read_text()))))
    assert concerns(house.receipt("ann"), house.replay())
    if says is None:
        assert not concerns(Receipt.open(path), house.replay())
    else:
        with pytest.raises(Discrepancy, match=says):
            concerns(Receipt.open(path), house.replay())


def test_a_fair_deal_that_was_taken_out_shows_against_a_receipt(house):
    replay = house.replay(seeded_after_all)
    assert check(replay).seeded
    with pytest.raises(Discrepancy, match="which the replay does not have"):
        concerns(house.receipt("ann"), replay)


def test_verify_looks_deals_up_in_the_public_log(house):
    result = run("verify", house.replay_file(), "--log", log_file(house))
    assert result.exit_code == 0
    assert "in the public log" in result.stdout
    empty = log_file(house, lambda entries: entries.clear(), "empty")
    result = run("verify", house.replay_file(), "--log", empty)
    assert result.exit_code == 1
    assert "is not in the public log" in result.stdout


@pytest.mark.parametrize("name", ["absent", "m1.replay"], ids=["no file", "another file"])
def test_verify_names_a_log_that_is_none(name, house):
    result = run("verify", house.replay_file(), "--log", house.folder / name)
    assert result.exit_code == 1
    assert name in result.stderr


@pytest.mark.parametrize("name", ["absent.json", "m1.replay"], ids=["no file", "another file"])
def test_verify_names_a_receipt_that_is_none(name, house):
    result = run("verify", house.replay_file(), "--receipt", house.folder / name)
    assert result.exit_code == 1
    assert name in result.stderr


def test_show_names_the_participants_of_the_deal(house):
    result = run("show", house.replay_file(), "--brief")
    assert "fair deal, entropy from 2 of 3" in result.stdout


def test_export_names_the_participants_of_the_deal(house):
    first = json.loads(run("export", house.replay_file()).stdout.splitlines()[0])
    assert (first["fair"], first["entropy_from"], first["participants"]) == (True, 2, 3)
