"""Every lie that an arena could tell about its packs, and who finds it out.

A bot of the SDK checks by itself what it is told. Whoever has the replay checks
what is opened in it. What is consistent within the replay, but is not what a
bot was told, shows against that bot's receipt. Each lie is told twice: with
all bots of the SDK, and with one among them that only commits zeros.
"""

import re

import pytest

from arena.records.playback import Discrepancy
from arena.records.receipts import compare
from arena.records.verify import verify
from arena.referee.deal import NO_COMMITMENT, deal_set_key, transcript
from tests.referee.deal.house import BARE, HOUSE, SDK, House, thirty_two

ANN, BEN, EVE = "ann", "ben", "eve"
"""Ann and Ben are honest and have the SDK; Eve plays for the house."""

OTHER = thirty_two("whatever suits the house better")

TABLES = {
    "with a bare bot": {ANN: SDK, "zoe": BARE, BEN: SDK, EVE: HOUSE},
    "without": {ANN: SDK, BEN: SDK, EVE: HOUSE},
}


class SwapsSecret(House):
    """Plays by a secret drawn after it has seen all entropy."""

    def published(self):
        commitment, _, commitments, entropies = super().published()
        return commitment, OTHER, commitments, entropies

    def closed_to(self, player):
        return OTHER, self.commitments, self.entropies


class SwapsSecretInPlay(House):
    """Opens the secret it had committed to, but plays by another one."""

    def key(self):
        commitment, _, commitments, entropies = self.published()
        return deal_set_key(transcript(self.context, commitment, commitments), OTHER, entropies)


class SwapsPacks(House):
    """Shows the bots other cards than those of the replay, which it made up afterwards."""

    def shown_key(self):
        return OTHER


class SwapsReveal(House):
    """Opens other entropy for Eve than she had committed to."""

    def reveals(self, player, sent):
        return OTHER if player.name == EVE else super().reveals(player, sent)


class SwapsRevealOfBen(House):
    """Opens other entropy for Ben than he did, to Ann alone."""

    def closed_to(self, player):
        entropies = dict(self.entropies)
        if player.name == ANN:
            entropies[self.named(BEN).participant] = OTHER
        return self.secret, self.commitments, entropies


class KeepsCommitmentBack(House):
    """Binds itself to one commitment of Eve's, and has another one ready that suits it better."""

    def ready(self, honest_commitments, honest_entropies):
        eve = self.named(EVE)
        return (
            honest_commitments | {eve.participant: self.house_commitment(eve, OTHER)},
            honest_entropies | {eve.participant: OTHER},
        )

    def published(self):
        commitment, secret, commitments, entropies = super().published()
        return commitment, secret, *self.ready(commitments, entropies)

    def closed_to(self, player):
        return self.published()[1:]


class KeepsCommitmentBackQuietly(KeepsCommitmentBack):
    """Opens to the bots what it had bound itself to, and publishes the other."""

    def closed_to(self, player):
        return House.closed_to(self, player)


class ShowsEachAnother(KeepsCommitmentBack):
    """Shows Ann one transcript and Ben another, and opens to each what fits."""

    def shown_to(self, player):
        ready, _ = self.ready(self.commitments, {})
        return [self.commitments if player.name == ANN else ready]

    def closed_to(self, player):
        return House.closed_to(self, player) if player.name == ANN else self.published()[1:]


class ShowsTwoTranscripts(KeepsCommitmentBack):
    """Shows Ann a second transcript after she has revealed."""

    def shown_to(self, player):
        ready, _ = self.ready(self.commitments, {})
        return [ready, self.commitments] if player.name == ANN else [ready]


class CommitsTwice(House):
    """Sends Ann a second commitment of its own."""

    def openings_to(self, player):
        honest = super().openings_to(player)
        return [*honest, self.committed_to(player, OTHER)] if player.name == ANN else honest


class CommitsToEachAnother(House):
    """Commits to another secret before Ann than before Ben, and opens to each the fitting one."""

    def secret_for(self, player):
        return OTHER if player.name == ANN else self.secret


class ReplacesCommitment(House):
    """Puts a commitment of its own in the place of Ann's, before the eyes of all."""

    def commits(self, player, sent):
        if player.name == ANN:
            return self.house_commitment(player, self.house_entropy(player))
        return super().commits(player, sent)

    def reveals(self, player, sent):
        return self.house_entropy(player) if player.name == ANN else super().reveals(player, sent)


class ReplacesCommitmentUnseen(ReplacesCommitment):
    """The same, but Ann herself is shown her own commitment and entropy."""

    def shown_to(self, player):
        ann = self.named(ANN)
        self.own = {ann.participant: ann.deals._deals[self.view(ann)].commitment}
        return [self.commitments | self.own if player is ann else self.commitments]

    def closed_to(self, player):
        ann = self.named(ANN)
        if player is not ann:
            return super().closed_to(player)
        entropies = self.entropies | {ann.participant: ann.revealed}
        return self.secret, self.commitments | self.own, entropies


class ReplacesEntropy(House):
    """Opens other entropy in Ann's name than she had revealed."""

    def reveals(self, player, sent):
        return OTHER if player.name == ANN else super().reveals(player, sent)


class AddsEntropyLate(House):
    """Has Eve take no part, and adds her entropy once the others' is known."""

    def commits(self, player, sent):
        return NO_COMMITMENT if player.name == EVE else super().commits(player, sent)


class AddsParticipantLate(House):
    """Binds itself without Eve among the participants, and opens entropy of hers."""

    def shown_to(self, player):
        eve = self.named(EVE).participant
        return [{name: each for name, each in self.commitments.items() if name != eve}]


class CopiesCommitment(House):
    """Has Eve commit to what Ann did, and open what Ann does."""

    def commits(self, player, sent):
        if player.name == EVE:
            return self.commitments[self.named(ANN).participant]
        return super().commits(player, sent)

    def reveals(self, player, sent):
        return self.named(ANN).revealed if player.name == EVE else super().reveals(player, sent)


class BindsItselfToNothing(House):
    """Shows as a seal what nothing can open."""

    def seal(self, player, commitments):
        return OTHER


class SealsNothing(House):
    """Shows no seal."""

    def seal(self, player, commitments):
        return b""


class OpensAnotherDeal(House):
    """Says at the end that Ann's context was of another deal-set."""

    def deal_for(self, player):
        return OTHER if player.name == ANN else self.context


class OpensAnotherSalt(House):
    """Opens another context for Ann than she was told."""

    def opened_salt(self, player):
        return OTHER if player.name == ANN else super().opened_salt(player)


class OpensAnotherSaltUnseen(OpensAnotherSalt):
    """The same, but to Ann it opens the true one, and what it shows her in the end is consistent."""

    def opened_salt(self, player):
        return self.salt_for(player) if self.telling else super().opened_salt(player)

    def close(self, player):
        self.telling = player.name == ANN
        super().close(player)
        self.telling = False


SECRET = "its secret does not open its commitment"
REPLACED = "it replaced this bot's entropy"
UNOPENED = r"the entropy of participant \w+ does not open its commitment"
LATE = r"participant \w+ added entropy without having committed to it"
BOUND = "it opens other commitments than it had bound itself to"
ANOTHER = "it opens another deal-set than it had named to this bot"
TRANSCRIPT = "was shown another transcript"

# Who is told by the SDK; what the replay shows; what Ann's and Ben's receipts show.
# fmt: off
LIES = [
    # the lie                     Ann's SDK           Ben's SDK    the replay                       Ann's receipt   Ben's receipt
    # seed swap
    (SwapsSecret,                 SECRET,             SECRET,      "secret does not open",          None,           None),
    (SwapsSecretInPlay,           None,               None,        "key of the deals does not fol", None,           None),
    (SwapsPacks,                  None,               None,        None,                            "decision 1 of seat 0 was shown otherwise", "decision 1 of seat . was shown otherwise"),
    # reveal swap
    (SwapsReveal,                 UNOPENED,             UNOPENED,      r"entropy of participant \w+ does not open", None, None),
    (SwapsRevealOfBen,            UNOPENED,             None,        None,                            None,           None),
    # other transcript
    (KeepsCommitmentBack,         BOUND,              BOUND,            None,                            TRANSCRIPT,     TRANSCRIPT),
    (KeepsCommitmentBackQuietly,  None,               None,        None,                            TRANSCRIPT,     TRANSCRIPT),
    # equivocation
    (ShowsEachAnother,            None,               None,        None,                            TRANSCRIPT,     None),
    (ShowsTwoTranscripts,         "second transcript, which differs", None, None,                  None,           None),
    (CommitsTwice,                "committed itself twice, and diff", UNOPENED, r"participant \w+ does not open", None, None),
    (CommitsToEachAnother,        None,               None,        None,                            "another commitment of the arena's", None),
    # replaced entropy
    (ReplacesCommitment,          "replaced this bot's commitment", None, None,                    "never revealed, by its receipt", None),
    (ReplacesCommitmentUnseen,    None,               None,        None,                            TRANSCRIPT,     None),
    (ReplacesEntropy,             REPLACED,           UNOPENED,      r"entropy of participant \w+ does not open", None, None),
    # late entropy
    (AddsEntropyLate,             LATE,               LATE,        "entropy that it had not committed to", None,    None),
    (AddsParticipantLate,         BOUND,              BOUND,       None,                            TRANSCRIPT,     TRANSCRIPT),
    # copied commitment
    (CopiesCommitment,            UNOPENED,             UNOPENED,      r"participant \w+ does not open", None,          None),
    # views
    (BindsItselfToNothing,        BOUND,              BOUND,       None,                            TRANSCRIPT,     TRANSCRIPT),
    (SealsNothing,                "does not bind itself", "does not bind itself", r"participant \w+ does not open", None, None),
    (OpensAnotherDeal,            ANOTHER,            None,        None,                            None,           None),
    (OpensAnotherSalt,            ANOTHER,            UNOPENED,    r"participant \w+ does not open", None,          None),
    (OpensAnotherSaltUnseen,      None,               UNOPENED,    r"participant \w+ does not open", None,          None),
]
# fmt: on

WORDS = [liar.__doc__.split(".")[0].replace(",", "").lower() for liar, *_ in LIES]


def assert_told(player, says):
    """The author was told of this lie, or of none."""
    lies = player.lies
    assert [lie for lie in lies if lie.startswith("the arena LIED about deal-set ")] == lies
    if says is None:
        assert lies == []
    else:
        assert any(re.search(says, lie) for lie in lies), lies
    assert set(lies) <= set(player.said)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("liar", "ann", "ben", "replay", "of_ann", "of_ben"), LIES, ids=WORDS)
def test_a_lie_is_found_out(liar, ann, ben, replay, of_ann, of_ben, table, tmp_path):
    house = liar(tmp_path, TABLES[table]).run()
    assert_told(house.named(ANN), ann)
    assert_told(house.named(BEN), ben)
    if replay is not None:
        with pytest.raises(Discrepancy, match=replay):
            verify(house.replay())
        return
    verify(house.replay())
    for name, says in ((ANN, of_ann), (BEN, of_ben)):
        if says is None:
            assert compare(house.replay(), house.receipt(name))
        else:
            with pytest.raises(Discrepancy, match=says):
                compare(house.replay(), house.receipt(name))


@pytest.mark.parametrize("row", LIES, ids=WORDS)
def test_no_lie_goes_unnoticed(row):
    assert any(row[1:])


@pytest.mark.parametrize("table", TABLES)
def test_an_honest_arena_is_believed(table, tmp_path):
    house = House(tmp_path, TABLES[table]).run()
    verified = verify(house.replay())
    assert str(verified.fairness) == f"fair deal, entropy from 3 of {house.seats}"
    for name in (ANN, BEN):
        assert house.named(name).lies == house.named(name).said == []
        assert compare(house.replay(), house.receipt(name)) == verified.outcome.decisions / (
            house.seats
        )


def test_the_bots_receive_what_the_key_gives_and_reveal_before_it_is_known(tmp_path):
    house = House(tmp_path, TABLES["without"]).run()
    assert house.named(ANN).revealed == thirty_two("entropy of ann")
    assert house.replay().revealed.deal_key == house.key()
