"""What the arena signs, nobody else can have made: every change to it is found."""

import itertools
import stat

import pytest
from click.testing import CliRunner
from google.protobuf.message import DecodeError

from arena.cli.keys import keys
from arena.cli.replay import replay as command
from arena.live.matches.restore import aborted
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import UnfinishedMatch, recover
from arena.records.playback import Discrepancy
from arena.records.read import Replay
from arena.records.receipts import compare
from arena.records.records import CHAIN_START, REPLAY_MAGIC, Damaged, chained, framed
from arena.records.signing import (
    KEY_NAME,
    ArenaKey,
    arena_key,
    is_signed,
    kept_key,
    replay_statement,
    require_signed_by,
    signed_by,
    transcript_statement,
)
from arena.records.verify import verify, verify_file
from arena.records.write import write_replay
from arena.referee.spec import AbortCause
from cardarena.v1 import journal_pb2
from tests.records.matches import Bot, bodies_of, fitting, play, read, retold, unnoticed_cuts
from tests.referee.deal.house import BARE, SDK, House

KEY, OTHER_KEY = ArenaKey.new(), ArenaKey.new()


# The signature scheme: RFC 8032, section 7.1, tests 1 and 2.

# fmt: off
RFC_8032 = [
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
]
# fmt: on


@pytest.mark.parametrize(("public_key", "message", "signature"), RFC_8032, ids=["test 1", "test 2"])
def test_the_scheme_is_that_of_the_standard(public_key, message, signature):
    key, text, sign = (bytes.fromhex(each) for each in (public_key, message, signature))
    assert is_signed(key, sign, text)
    assert not is_signed(key, sign, text + b"x")
    assert not is_signed(key, sign[:-1], text)
    assert not is_signed(key[:-1], sign, text)


# Replays.


def signed_replay(folder, signer=KEY, match_id="m1", **extra):
    """A short match, as every bit of it is turned."""
    with Journal(folder / match_id / "journal") as journal:
        bots = [Bot(1), Bot(2)]
        played = play(journal, bots=bots, match_id=match_id, stop_after_s=3, **extra)
    replays = folder / match_id / "replays"
    return write_replay(replays, match_id, played.log.bodies, played.opening, signer)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return signed_replay(tmp_path_factory.mktemp("signed"))


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Another replay by the same arena."""
    return signed_replay(tmp_path_factory.mktemp("other"), match_id="m2")


@pytest.fixture(scope="module")
def unsigned(tmp_path_factory):
    return signed_replay(tmp_path_factory.mktemp("unsigned"), signer=None)


def test_a_signed_replay_names_its_arena(path):
    assert signed_by(Replay.open(path)) == KEY.public_key
    assert verify(Replay.open(path)).signed_by == KEY.public_key
    require_signed_by(Replay.open(path), KEY.public_key)
    assert verify_file(path, arena=KEY.public_key).ok


def test_an_unsigned_replay_is_true_without_a_signer(unsigned):
    assert verify(Replay.open(unsigned)).signed_by == b""
    assert verify_file(unsigned).ok
    problem = verify_file(unsigned, arena=KEY.public_key).problem
    assert problem == "it is not signed, so the arena may never have written it"


def test_every_flipped_bit_is_found_though_checksums_and_chain_fit(path):
    bodies = bodies_of(path)
    assert read(fitting(bodies)) == Replay.open(path)
    missed = []
    for at, body in enumerate(bodies):
        for bit in range(8 * len(body)):
            flipped = bytearray(body)
            flipped[bit // 8] ^= 1 << bit % 8
            changed = [*bodies[:at], bytes(flipped), *bodies[at + 1 :]]
            try:
                data = fitting(changed)
            except DecodeError:
                data = REPLAY_MAGIC + b"".join(map(framed, changed))
            try:
                replay = read(data)
                signed_by(replay)
            except (Damaged, Discrepancy):
                continue
            if replay != Replay.open(path):  # the chain in `closed` was made to fit again
                missed.append((at, bit))
    assert missed == []


def test_every_cut_tail_is_found(path):
    assert unnoticed_cuts(path.read_bytes(), read) == []


def test_every_record_dropped_doubled_or_exchanged_is_found(path):
    bodies = bodies_of(path)
    numbers = range(len(bodies))
    changed = [bodies[:at] + bodies[at + 1 :] for at in numbers]
    changed += [bodies[: at + 1] + bodies[at:] for at in numbers]
    for one, two in itertools.combinations(numbers, 2):
        swapped = list(bodies)
        swapped[one], swapped[two] = bodies[two], bodies[one]
        changed.append(swapped)
    assert len(bodies) > 6
    for each in changed:
        with pytest.raises((Damaged, Discrepancy)):
            signed_by(read(fitting(each)))


def signed_anew(signer, statement=replay_statement):
    """Sign by whoever has the signer's key."""

    def change(records):
        records[-2].revealed.public_key = signer.public_key
        chain = CHAIN_START
        for record in records[:-1]:
            if record.HasField("closed"):
                record.closed.chain = chain
            chain = chained(chain, record.SerializeToString())
        records[-1].signed.signature = signer.sign(statement(chain))

    return change


def named(public_key):
    return lambda records: setattr(records[-2].revealed, "public_key", public_key)


def taken_from(path):
    *_, theirs = bodies_of(path)
    return lambda records: records[-1].CopyFrom(journal_pb2.Record.FromString(theirs))


def of_the_result(records):
    records[-3].closed.end_us += 1


def of_the_bots(records):
    records[0].opened.entrants[0].name = "somebody else"


def mute(records):
    records[-1].signed.signature = b""


def both_gone(records):
    records[-2].revealed.public_key = b""
    del records[-1]


# fmt: off
CHANGES = [
    # the change                                        says                                           why
    (lambda other: of_the_bots,                         "signature is not of this replay",             "another bot's name"),
    (lambda other: of_the_result,                       "signature is not of this replay",             "another end"),
    (lambda other: mute,                                "signature is not of this replay",             "an empty signature"),
    (taken_from,                                        "signature is not of this replay",             "the signature of another replay"),
    (lambda other: named(OTHER_KEY.public_key),         "signature is not of this replay",             "another key's name"),
    (lambda other: named(b"\x01" * 31),                 "signature is not of this replay",             "what is no key"),
    (lambda other: named(b""),                          "does not name the arena's key",               "no key's name"),
    (lambda other: lambda records: records.pop(),       "before its last record, the arena's signature", "no signature"),
    (lambda other: lambda records: records.append(records[-1]), "is out of place",                     "two signatures"),
    (lambda other: signed_anew(KEY, transcript_statement), "signature is not of this replay",          "a signature for transcripts"),
    (lambda other: signed_anew(OTHER_KEY),              "is signed by another arena, with the key " + OTHER_KEY.public_key.hex()[:16], "another arena's signature"),
    (lambda other: both_gone,                           "is not signed",                               "rewritten without any"),
]
# fmt: on


@pytest.mark.parametrize(("change", "says", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_what_is_not_as_the_arena_signed_it_has_its_sentence(
    change, says, why, path, other, tmp_path
):
    file = tmp_path / "m1.replay"
    file.write_bytes(retold(path, signed_anew(KEY)))  # records as this test encodes them
    assert verify_file(file, arena=KEY.public_key).ok
    file.write_bytes(retold(file, change(other)))
    verdict = verify_file(file, arena=KEY.public_key)
    assert not verdict.ok
    assert says in verdict.problem


def test_what_is_cut_out_of_a_journal_is_signed(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        play(journal)
    (ended,) = recover(tmp_path / "journal", tmp_path / "replays", signer=KEY).ended
    assert verify_file(ended.path, arena=KEY.public_key).ok


def test_a_match_that_is_not_continued_is_closed_and_signed(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        played = play(journal)
        opened = journal_pb2.Record.FromString(played.log.bodies[0]).opened
        left = UnfinishedMatch(opened, tuple(played.log.bodies[:4]), played.opening)
        _, bodies = aborted(left, AbortCause.STOPPED, journal)
    write_replay(tmp_path / "replays", left.opened.match_id, bodies, left.opening, KEY)
    (path,) = (tmp_path / "replays").iterdir()
    assert verify_file(path, arena=KEY.public_key).ok


# Transcripts, as bots keep them.

TABLE = {"ann": SDK, "a bare bot": BARE, "ben": SDK}


class SigningHouse(House):
    """An arena that signs."""

    public_key = KEY.public_key
    signer = KEY

    def signature(self, player, commitments):
        return self.signer.sign(transcript_statement(self.shown(player, commitments)))

    def replay_file(self, change=lambda records: None):
        def signed(records):
            change(records)
            records.append(journal_pb2.Record(match=1, signed=journal_pb2.Signed()))
            signed_anew(KEY)(records)

        return super().replay_file(signed)


class TwoStories(SigningHouse):
    """It shows Ben that Ann adds nothing, and signs that too."""

    def shown_to(self, player):
        shown = dict(self.commitments)
        if player.name == "ben":
            shown[self.named("ann").participant] = bytes(32)
        return [shown]


class ForgedStories(TwoStories):
    """The same receipt, but made up: it has no signature of the arena's."""

    signer = OTHER_KEY


class Mumbling(SigningHouse):
    """It signs nothing that it was asked for."""

    def signature(self, player, commitments):
        return bytes(64)


class OtherKey(SigningHouse):
    """It names a key to the bots that is not the replays'."""

    public_key, signer = OTHER_KEY.public_key, OTHER_KEY


class Crossed(SigningHouse):
    """It signs a replay's chain in place of a transcript."""

    def signature(self, player, commitments):
        return self.signer.sign(replay_statement(self.shown(player, commitments)))


def test_a_receipt_holds_the_arenas_signature(tmp_path):
    house = SigningHouse(tmp_path, TABLE).run()
    for name in ("ann", "ben"):
        receipt = house.receipt(name)
        assert receipt.public_key == KEY.public_key
        assert receipt.signed
        assert compare(house.replay(), receipt) > 0
        assert house.named(name).lies == []


# fmt: off
RECEIPTS = [
    (TwoStories,    "was shown another transcript, by its receipt, and the arena signed it", "two stories, both signed"),
    (ForgedStories, "has a transcript that the arena did not sign",                          "a receipt that is made up"),
    (Mumbling,      "has a transcript that the arena did not sign",                          "a signature of nothing"),
    (Crossed,       "has a transcript that the arena did not sign",                          "a signature for replays"),
    (OtherKey,      "was told another key of the arena, by its receipt",                     "another key than the replay's"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "says", "why"), RECEIPTS, ids=[row[-1] for row in RECEIPTS])
def test_a_receipt_and_a_replay_that_differ_say_what_is_proved(kind, says, why, tmp_path):
    house = kind(tmp_path, TABLE).run()
    with pytest.raises(Discrepancy, match=says):
        compare(house.replay(), house.receipt("ben"))


class Silent(SigningHouse):
    """It names a key and signs nothing."""

    def signature(self, player, commitments):
        return b""


def test_a_missing_promised_signature_is_reported(tmp_path):
    house = Silent(tmp_path, TABLE).run()
    (lie,) = house.named("ben").lies
    assert lie.endswith("it has a key, and does not sign what it shows")
    assert house.named("ben").revealed, "silence would cost the bot the deal-set"


def test_a_receipt_from_before_there_were_signatures_compares_as_it_did(tmp_path):
    house = House(tmp_path, TABLE).run()
    receipt = house.receipt("ann")
    assert not receipt.signed
    assert compare(house.replay(), receipt) > 0


# The key.


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path):
    key = arena_key(tmp_path)
    assert arena_key(tmp_path).public_key == kept_key(tmp_path).public_key == key.public_key
    mode = (tmp_path / KEY_NAME).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [KEY_NAME]
    assert arena_key_of_another(tmp_path) != key.public_key


def arena_key_of_another(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    return arena_key(other).public_key


# fmt: off
NOT_KEYS = [
    (b"",                                              "nothing"),
    (b"secret words",                                  "words"),
    (KEY.pem[:-30],                                    "a key cut short"),
    (KEY.pem.replace(b"PRIVATE", b"PUBLIC"),           "another kind of key"),
]
# fmt: on


@pytest.mark.parametrize(("content", "why"), NOT_KEYS, ids=[row[-1] for row in NOT_KEYS])
def test_what_is_no_key_is_not_used_and_not_replaced(content, why, tmp_path):
    (tmp_path / KEY_NAME).write_bytes(content)
    with pytest.raises(ValueError, match="is not the key of an arena") as caught:
        arena_key(tmp_path)
    assert "secret words" not in str(caught.value)
    assert (tmp_path / KEY_NAME).read_bytes() == content


# The commands.


def run(group, *args):
    return CliRunner().invoke(group, [str(each) for each in args])


def test_the_commands_say_whose_a_replay_is(path, unsigned):
    key = KEY.public_key.hex()
    assert f"signed with the key {key[:16]}" in run(command, "verify", path).stdout
    assert "signed by this arena" in run(command, "verify", path, "--arena", key).stdout
    assert "not signed" in run(command, "verify", unsigned).stdout
    wrong = run(command, "verify", path, "--arena", OTHER_KEY.public_key.hex())
    assert (wrong.exit_code, "signed by another arena" in wrong.stdout) == (1, True)
    assert f'"signed_by": "{key}"' in run(command, "verify", path, "--json").stdout
    assert f'"signed_by":"{key}"' in run(command, "export", path).stdout
    assert '"signed_by":null' in run(command, "export", unsigned).stdout


@pytest.mark.parametrize("text", ["12", "x" * 64, "0" * 66], ids=["short", "no digits", "long"])
def test_what_is_no_public_key_is_called_so(text, path):
    result = run(command, "verify", path, "--arena", text)
    assert result.exit_code == 2
    assert "a key is 64 hexadecimal digits" in result.stderr


def test_the_public_key_is_printed_and_the_private_one_is_not(tmp_path):
    none = run(keys, "arena-key", "--data", tmp_path)
    assert none.exit_code == 1
    assert "there is no key" in none.stderr
    key = arena_key(tmp_path)
    shown = run(keys, "arena-key", "--data", tmp_path)
    assert shown.stdout == f"{key.public_key.hex()}\n"
    (tmp_path / KEY_NAME).write_text("secret words")
    broken = run(keys, "arena-key", "--data", tmp_path)
    assert broken.exit_code == 1
    assert "secret words" not in broken.output
