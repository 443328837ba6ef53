"""Owners, bots and versions in the store; and the checker, which must find whatever is broken."""

import contextlib
import hashlib
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from arena.results.versions import NotNow, VersionEvent
from arena.store import Key, NameTaken, Scope, StoreError, open_store
from arena.store.registry import (
    MAX_BOTS,
    MAX_REMOTE_VERSIONS,
    Banned,
    NotInvited,
    SubmittedBefore,
    TooManyBots,
)
from arena.store.versions import QUOTAS, BotKind, OverQuota, Unknown
from tests.store.made import made
from tests.store.test_deal_sets import told

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def registry(store):
    return store.registry()


@pytest.fixture
def anns(registry):
    """A registry in which ann has the bot `a`."""
    enter(registry, "ann")
    registry.create_bot("a", "ann", BotKind.UPLOADED, now=NOW)
    return registry


def enter(registry, owner):
    registry.invite(f"code of {owner}", owner, invited_by="org", now=NOW)
    return registry.register(f"code of {owner}", key_of, now=NOW)


def key_of(owner):
    token = hashlib.sha256(owner.encode()).digest()
    return Key(token.hex()[:8], token, Scope.OWNER, owner, "", NOW)


def submit(registry, sha256, *, bot="a", now=NOW):
    return registry.submit(bot, sha256=sha256, manifest={"command": ["bot"]}, now=now)


def qualified(registry, sha256, *, bot="a", now=NOW):
    version = submit(registry, sha256, bot=bot, now=now)
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
        version = registry.record(bot, version.number, event, who="arena", now=now)
    return version


def activate(registry, number, *, bot="a", now=NOW):
    return registry.record(bot, number, VersionEvent.ACTIVE, who="ann", now=now)


class TestOwners:
    @pytest.mark.parametrize("code", ["", "wrong", "code of bob"], ids=["none", "wrong", "used"])
    def test_registration_needs_an_invitation(self, registry, code):
        enter(registry, "bob")
        with pytest.raises(NotInvited, match="R-BAD-CODE"):
            registry.register(code, key_of, now=NOW)

    @pytest.mark.parametrize(
        ("lifetime", "after", "valid", "why"),
        [
            (None, timedelta(days=30, seconds=-1), True, "30 days by default"),
            (None, timedelta(days=30), False, "and no longer"),
            (DAY, timedelta(hours=23), True, "a day, before it is over"),
            (DAY, DAY, False, "a day that is over"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_an_invitation_expires(self, registry, lifetime, after, valid, why):
        given = {} if lifetime is None else {"lifetime": lifetime}
        registry.invite("code", "bob", invited_by="org", now=NOW, **given)
        refused = contextlib.nullcontext() if valid else pytest.raises(NotInvited)
        with refused:
            registry.register("code", key_of, now=NOW + after)
        assert [owner.name for owner in registry.owners()] == ["bob"] * valid

    def test_open_invitations_are_listed_with_their_lifetime(self, registry):
        enter(registry, "ann")
        for name in ("eve", "bob", "ann-2"):
            registry.invite(f"of {name}", name, invited_by="org", now=NOW, lifetime=DAY)
        registry.register("of ann-2", key_of, now=NOW)
        until = "2026-11-21T12:00:00+00:00"
        assert [(row.invited, row.expires) for row in registry.invitations()] == [
            ("bob", until),
            ("eve", until),
        ]

    def test_registering_gives_the_invited_name_and_a_key(self, store, registry):
        assert enter(registry, "bob").name == "bob"
        (key,) = store.keys().all()
        assert (key.scope, key.owner, key.bot) == (Scope.OWNER, "bob", "")

    @pytest.mark.parametrize("name", ["bob", "BOB", "Bob"])
    def test_no_invitation_for_a_name_like_anothers(self, registry, name):
        enter(registry, "bob")
        with pytest.raises(StoreError, match=r"bob is registered|spelled 'bob'"):
            registry.invite("more", name, invited_by="org", now=NOW)

    def test_of_two_invitations_for_one_name_one_is_used(self, registry):
        for code in ("one", "other"):
            registry.invite(code, "eve", invited_by="org", now=NOW)
        registry.register("other", key_of, now=NOW)
        with pytest.raises(StoreError, match="eve is registered"):
            registry.register("one", key_of, now=NOW)

    def test_without_a_stored_key_no_owner_is_registered(self, registry):
        enter(registry, "bob")
        registry.invite("more", "eve", invited_by="org", now=NOW)
        with pytest.raises(StoreError, match="there is a key"):
            registry.register("more", lambda _: key_of("bob"), now=NOW)
        registry.register("more", key_of, now=NOW)
        assert [each.name for each in registry.owners()] == ["bob", "eve"]

    @pytest.mark.parametrize("name", ["", " bob", "bоb", "bob\n", "x" * 33], ids=repr)
    def test_what_is_no_name_is_refused(self, registry, name):
        with pytest.raises(ValueError, match="a name has 1 to 32"):
            registry.invite("more", name, invited_by="org", now=NOW)

    def test_a_banned_owner_has_no_valid_key(self, store, anns):
        anns.ban("ann", reason="two accounts", who="org", now=NOW)
        assert [key.revoked for key in store.keys().all()] == [NOW]
        assert anns.owner("ann").banned == "two accounts"

    def test_a_banned_owner_cannot_submit_and_all_versions_are_banned(self, anns):
        activate(anns, qualified(anns, "1").number)
        anns.ban("ann", reason="two accounts", who="org", now=NOW)
        assert [each.state for each in anns.versions("a")] == [VersionEvent.BANNED]
        for act in (
            lambda: submit(anns, "2"),
            lambda: activate(anns, 1),
            lambda: anns.create_bot("b", "ann", BotKind.REMOTE, now=NOW),
        ):
            with pytest.raises(Banned, match="ann, because two accounts"):
                act()


class TestBots:
    def test_a_bot_is_its_owners_for_good(self, anns):
        enter(anns, "bob")
        with pytest.raises(NameTaken, match="belongs to the owner 'ann'"):
            anns.create_bot("A", "bob", BotKind.REMOTE, now=NOW)
        with pytest.raises(StoreError, match="has a bot 'a'"):
            anns.create_bot("a", "ann", BotKind.REMOTE, now=NOW)

    @pytest.mark.parametrize(
        ("act", "sentence"),
        [
            (lambda r: r.create_bot("b", "who", BotKind.REMOTE, now=NOW), "no such owner: 'who'"),
            (lambda r: submit(r, "1", bot="who"), "no such bot: 'who'"),
            (lambda r: activate(r, 7), "no such version: a@7"),
            (lambda r: r.version("a", 7), "no such version: a@7"),
            (lambda r: r.ban("who", reason="", who="org", now=NOW), "no such owner: 'who'"),
        ],
        ids=["an owner", "a bot", "a version", "a version to see", "an owner to ban"],
    )
    def test_unknown_names_are_reported(self, anns, act, sentence):
        with pytest.raises(Unknown, match=sentence):
            act(anns)


class TestVersions:
    def test_they_count_up_and_know_their_parent(self, anns):
        first = qualified(anns, "1")
        activate(anns, first.number)
        second, third = submit(anns, "2"), submit(anns, "3")
        assert [first.number, second.number, third.number] == [1, 2, 3]
        assert [first.parent, second.parent, third.parent] == [None, 1, 1]
        assert str(second) == "a@2"

    def test_the_same_contents_are_submitted_once(self, anns):
        submit(anns, "1")
        with pytest.raises(SubmittedBefore, match="a@1, which is submitted"):
            submit(anns, "1")

    def test_another_bot_may_have_the_same_contents(self, anns):
        anns.create_bot("b", "ann", BotKind.UPLOADED, now=NOW)
        assert submit(anns, "1").number == submit(anns, "1", bot="b").number == 1

    def test_when_one_becomes_active_the_other_steps_back(self, anns):
        for sha256 in "12":
            activate(anns, qualified(anns, sha256).number)
        assert [each.state for each in anns.versions("a")] == [
            VersionEvent.INACTIVE,
            VersionEvent.ACTIVE,
        ]

    def test_a_rejected_one_is_not_activated(self, anns):
        number = submit(anns, "1").number
        anns.record("a", number, VersionEvent.REJECTED, who="arena", reason="no bot.toml", now=NOW)
        with pytest.raises(NotNow, match="rejected and cannot become active, only banned, ret"):
            activate(anns, number)


class TestQuotas:
    def test_ten_submissions_a_day(self, anns):
        for number in range(QUOTAS[VersionEvent.SUBMITTED]):
            submit(anns, str(number), now=NOW + timedelta(minutes=number))
        with pytest.raises(
            OverQuota, match="ann has had 10 versions submitted within a day"
        ) as over:
            submit(anns, "more", now=NOW + timedelta(hours=1))
        assert over.value.retry_s == 23 * 3600
        submit(anns, "more", now=NOW + DAY)

    def test_of_all_bots_of_an_owner_together(self, anns):
        anns.create_bot("b", "ann", BotKind.UPLOADED, now=NOW)
        for number in range(QUOTAS[VersionEvent.SUBMITTED]):
            submit(anns, str(number), bot="ab"[number % 2])
        with pytest.raises(OverQuota):
            submit(anns, "more")

    def test_and_not_of_other_owners(self, anns):
        enter(anns, "bob")
        anns.create_bot("b", "bob", BotKind.UPLOADED, now=NOW)
        for number in range(QUOTAS[VersionEvent.SUBMITTED]):
            submit(anns, str(number))
        submit(anns, "1", bot="b")

    def test_three_activations_a_day_and_the_version_before_stays(self, anns):
        for number in range(4):
            qualified(anns, str(number))
        for number in (1, 2, 3):
            activate(anns, number)
        with pytest.raises(OverQuota, match="3 versions active"):
            activate(anns, 4)
        states = [each.state for each in anns.versions("a")]
        assert states == [
            VersionEvent.INACTIVE,
            VersionEvent.INACTIVE,
            VersionEvent.ACTIVE,
            VersionEvent.QUALIFIED,
        ]

    def test_a_clock_that_is_set_back_gives_no_more(self, anns):
        for number in range(QUOTAS[VersionEvent.SUBMITTED]):
            submit(anns, str(number))
        with pytest.raises(OverQuota):
            submit(anns, "more", now=NOW - 3 * DAY)


class TestRemoteBots:
    """What a remote bot says that it is becomes a version, which nobody has verified."""

    @pytest.fixture
    def remote(self, anns):
        anns.create_bot("r", "ann", BotKind.REMOTE, now=NOW)
        return anns

    def test_the_first_version_plays_at_once_and_the_next_takes_its_place(self, remote):
        first = remote.dialled_in("r", "1.0", now=NOW)
        assert (str(first), first.state, first.manifest) == (
            "r@1",
            VersionEvent.ACTIVE,
            {"said": "1.0"},
        )
        second = remote.dialled_in("r", "1.1", now=NOW)
        assert (second.number, second.parent) == (2, 1)
        assert [each.state for each in remote.versions("r")] == [
            VersionEvent.INACTIVE,
            VersionEvent.ACTIVE,
        ]

    def test_the_same_version_again_changes_nothing_and_an_older_one_comes_back(self, remote):
        for said in ("1.0", "1.0", "1.1", "1.0"):
            remote.dialled_in("r", said, now=NOW)
        assert [each.state for each in remote.versions("r")] == [
            VersionEvent.ACTIVE,
            VersionEvent.INACTIVE,
        ]

    def test_what_is_retired_stays_so(self, remote):
        remote.dialled_in("r", "1.0", now=NOW)
        remote.record("r", 1, VersionEvent.RETIRED, who="ann", now=NOW)
        assert remote.dialled_in("r", "1.0", now=NOW) is None

    @pytest.mark.parametrize(
        "bot", ["a", "nobody's"], ids=["an uploaded bot", "a bot that is not registered"]
    )
    def test_others_make_no_versions(self, remote, bot):
        assert remote.dialled_in(bot, "1.0", now=NOW) is None
        assert remote.versions(bot) == ()

    @pytest.mark.slow
    def test_a_new_name_every_time_fills_no_disk(self, remote):
        for number in range(MAX_REMOTE_VERSIONS + 5):
            last = remote.dialled_in("r", str(number), now=NOW)
        assert last.number == MAX_REMOTE_VERSIONS == len(remote.versions("r"))
        assert remote.dialled_in("r", "new", now=NOW + DAY).number == MAX_REMOTE_VERSIONS + 1

    def test_it_costs_no_quota_of_submissions(self, remote):
        for number in range(QUOTAS[VersionEvent.SUBMITTED] + 1):
            remote.dialled_in("r", str(number), now=NOW)
        assert activate(remote, qualified(remote, "1").number).state is VersionEvent.ACTIVE


def test_an_owner_has_only_so_many_bots(anns):
    for number in range(1, MAX_BOTS):
        anns.create_bot(f"b{number}", "ann", BotKind.UPLOADED, now=NOW)
    with pytest.raises(TooManyBots, match="ann has 20 "):
        anns.create_bot("more", "ann", BotKind.UPLOADED, now=NOW)


class TestReports:
    def test_a_later_report_replaces_the_stored_one(self, anns):
        submit(anns, "1")
        assert anns.report("a", 1) is None
        for took_s in (1, 2):
            anns.keep_report("a", 1, {"took_s": took_s}, now=NOW)
        assert anns.report("a", 1) == {"took_s": 2}

    def test_of_a_version_that_is_not_there_there_is_none(self, anns):
        for act in (
            lambda: anns.report("a", 7),
            lambda: anns.keep_report("a", 7, {}, now=NOW),
        ):
            with pytest.raises(Unknown, match="a@7"):
                act()


def test_what_waits_for_qualification_is_in_the_order_of_submission(anns):
    anns.create_bot("0", "ann", BotKind.UPLOADED, now=NOW)
    for bot, sha256 in (("a", "1"), ("0", "1"), ("a", "2"), ("a", "3"), ("0", "2")):
        submit(anns, sha256, bot=bot)
    anns.record("a", 2, VersionEvent.CHECKED, who="arena", now=NOW)
    anns.record("a", 3, VersionEvent.REJECTED, who="arena", now=NOW)
    anns.record("0", 1, VersionEvent.RETIRED, who="ann", now=NOW)
    assert [*map(str, anns.unqualified())] == ["a@1", "a@2", "0@2"]


def test_only_versions_that_may_play_need_a_runtime(anns):
    for sha256, runtime_sha256 in (("1", "f"), ("2", "f"), ("3", "f"), ("4", "e"), ("5", "")):
        anns.submit("a", sha256=sha256, manifest={}, runtime_sha256=runtime_sha256, now=NOW)
    anns.record("a", 2, VersionEvent.REJECTED, who="arena", now=NOW)
    anns.record("a", 4, VersionEvent.RETIRED, who="ann", now=NOW)
    found = {key: [*map(str, versions)] for key, versions in anns.run_by().items()}
    assert found == {"f": ["a@1", "a@3"]}


# The checker.


def populated(store):
    """A store with a complete deal-set, one in play, and two versions."""
    registry = store.registry()
    enter(registry, "ann")
    registry.create_bot("a", "ann", BotKind.UPLOADED, now=NOW)
    for sha256 in "12":
        activate(registry, qualified(registry, sha256).number)
    deal_sets = made(store).deal_sets("autumn", 0)
    done, _ = deal_sets.take(2)
    deal_sets.report_many([(done, told(done))], now_unix_ms=1)


BREAKS = [
    ("UPDATE match_seats SET bot = 'eve' WHERE seat = 0", "are not those of its bots"),
    ("DELETE FROM match_seats WHERE seat = 1", "are not those of its bots"),
    ("UPDATE deal_sets SET state = 'complete'", "is complete, but results are missing"),
    ("UPDATE matches SET status = 'planned'", "is complete, but results are missing"),
    ("UPDATE versions SET parent = 2 WHERE number = 1", "is not an earlier version"),
    (
        "UPDATE version_events SET event = 'active' WHERE event = 'inactive'",
        "has 2 active versions",
    ),
    ("DELETE FROM version_events WHERE event = 'qualified'", "cannot become active"),
    ("DELETE FROM version_events WHERE number = 2", "a@2 was never submitted"),
    ("UPDATE audit SET who = 'eve' WHERE id = 1", "row 1 of the audit was changed"),
    ("DELETE FROM audit WHERE id = 2", "or one before it was removed"),
]


def test_a_store_that_was_used_as_meant_breaks_no_rule(store):
    populated(store)
    assert store.violations() == ()


@pytest.mark.parametrize(
    ("statement", "sentence"), BREAKS, ids=[statement for statement, _ in BREAKS]
)
def test_rows_that_were_changed_by_hand_are_found(store, statement, sentence):
    populated(store)
    with store._database.writing() as connection:
        connection.exec_driver_sql(statement)
    assert any(sentence in each for each in store.violations())


class Life(RuleBasedStateMachine):
    """Owners do what they like, in any order; whatever is refused leaves the store sound."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(Path(self.folder.name) / "arena.db")
        self.registry = self.store.registry()
        self.now = NOW
        for owner in ("ann", "bob"):
            enter(self.registry, owner)
            self.registry.create_bot(f"bot of {owner}", owner, BotKind.UPLOADED, now=NOW)

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    bots = st.sampled_from(["bot of ann", "bot of bob", "nobody's"])

    @rule(bot=bots, sha256=st.sampled_from("1234"))
    def submit(self, bot, sha256):
        self.attempt(lambda: submit(self.registry, sha256, bot=bot, now=self.now))

    @rule(bot=bots, number=st.integers(1, 4), event=st.sampled_from(VersionEvent))
    def record(self, bot, number, event):
        self.attempt(lambda: self.registry.record(bot, number, event, who="somebody", now=self.now))

    @rule(hours=st.integers(-5, 30))
    def wait(self, hours):
        self.now += timedelta(hours=hours)

    def attempt(self, act):
        with contextlib.suppress(StoreError, NotNow):
            act()

    @invariant()
    def every_rule_holds(self):
        assert self.store.violations() == ()


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=8, stateful_step_count=15, deadline=None)
