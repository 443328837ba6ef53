"""Keys that change while the arena runs, without a database and without waiting."""

import logging
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import MockClock

from arena.api.admission.key_reload import MAX_LOOK_UPS, POLL_S, KeyReloader
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.errors.refused import Refused
from arena.store import Key, Scope, StoreError

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Source:
    """A store of keys whose troubles a test decides."""

    def __init__(self):
        self.keys = []
        self.looks = 0
        self.used = []
        self.unreadable = self.unwritable = False

    def changed_since(self, change):
        self.looks += 1
        if self.unreadable:
            raise StoreError("the disk fails")
        return [key for key in self.keys if key.changed > change]

    def mark_used(self, key_ids, day):
        if self.unwritable:
            raise StoreError("the disk is full")
        self.used.append((set(key_ids), day))

    def make(self, bot="alpha", **more):
        token = new_token()
        digest, change = token_sha256(token), len(self.keys) + 1
        self.keys.append(
            Key(key_id(token), digest, Scope.BOT, "ann", bot, NOW, changed=change, **more)
        )
        return token

    def revoke(self, token):
        (old,) = [key for key in self.keys if key.id == key_id(token)]
        digest, change = old.token_sha256, len(self.keys) + 1
        self.keys.append(
            Key(old.id, digest, old.scope, old.owner, old.bot, NOW, revoked=NOW, changed=change)
        )


class Scene:
    def __init__(self):
        self.source = Source()
        self.tokens = Tokens()
        self.closed = []
        self.reloader = KeyReloader(self.source, self.tokens, self._close_stream)
        self.tokens.look_up_with(self.reloader.look_up)

    def _close_stream(self, bot, verdict):
        self.closed.append((bot, verdict.reason))

    def reason(self, token):
        with pytest.raises(Refused) as refused:
            self.tokens.bot(token)
        return refused.value.reason


def scene(play, clock=None):
    async def main():
        await play(Scene())

    trio.run(main, clock=clock)


def test_keys_are_polled_every_second():
    async def play(scene):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(scene.reloader.run)
            for looks in (1, 2, 3):
                # It may still be on its thread, where no clock can jump over it.
                while trio.lowlevel.current_statistics().seconds_to_next_deadline > POLL_S:
                    await trio.lowlevel.checkpoint()
                clock.jump(POLL_S)
                while scene.source.looks < looks:
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()

    clock = MockClock()
    scene(play, clock)
    assert POLL_S <= 1.0, "revoked keys are promised to be noticed within a second"


def test_keys_are_read_only_after_changes_or_uses():
    async def play(scene):
        said = [True, False, False, True]
        scene.reloader = KeyReloader(
            scene.source, scene.tokens, scene._close_stream, lambda: said.pop(0)
        )
        await scene.reloader.poll()
        token = scene.source.make()
        await scene.reloader.poll()
        assert scene.source.looks == 1
        scene.tokens.look_up_with(scene.reloader.look_up)
        scene.tokens.bot(token)
        looks = scene.source.looks
        await scene.reloader.poll()
        assert scene.source.looks == looks + 1, "that the key was used is to be written"
        await scene.reloader.poll()
        assert scene.source.looks == looks + 2
        assert said == []

    scene(play)


def test_a_revoked_key_closes_the_stream_at_the_next_poll():
    async def play(scene):
        token, other = scene.source.make(), scene.source.make("beta")
        await scene.reloader.poll()
        assert scene.tokens.bot(token) == BotId("alpha")
        assert scene.closed == []
        scene.source.revoke(token)
        await scene.reloader.poll()
        assert scene.closed == [(BotId("alpha"), "KEYS_CHANGED")]
        assert scene.reason(token) == "REVOKED_TOKEN"
        assert scene.tokens.bot(other) == BotId("beta")
        await scene.reloader.poll()
        assert len(scene.closed) == 1

    scene(play)


def test_a_key_works_as_soon_as_it_is_made_and_closes_nothing():
    async def play(scene):
        assert scene.tokens.bot(scene.source.make()) == BotId("alpha")
        await scene.reloader.poll()
        assert scene.closed == []

    scene(play)


def test_unknown_tokens_cause_only_so_many_looks():
    async def play(scene):
        said = [scene.reason(new_token()) for _ in range(MAX_LOOK_UPS + 2)]
        assert said == ["UNKNOWN_TOKEN"] * MAX_LOOK_UPS + ["KEYS_BUSY"] * 2
        assert scene.source.looks == MAX_LOOK_UPS
        clock.jump(POLL_S)
        assert scene.reason(new_token()) == "UNKNOWN_TOKEN"

    clock = MockClock()
    scene(play, clock)


def test_without_the_database_known_keys_stay_valid_and_no_others(caplog):
    async def play(scene):
        known = scene.source.make()
        await scene.reloader.poll()
        scene.source.unreadable = True
        late = scene.source.make("beta")
        for _ in range(3):
            await scene.reloader.poll()
        assert scene.tokens.bot(known) == BotId("alpha")
        assert scene.reason(late) == "KEYS_BUSY"
        scene.source.unreadable = False
        assert scene.tokens.bot(late) == BotId("beta")

    with caplog.at_level(logging.WARNING):
        scene(play)
    (record,) = caplog.records
    assert record.getMessage() == "keys that are made or revoked now are not seen"
    assert record.why == "the disk fails"


def test_the_use_of_a_key_is_noted_once_and_again_if_that_failed():
    async def play(scene):
        token = scene.source.make()
        scene.source.unwritable = True
        scene.tokens.bot(token)
        await scene.reloader.poll()
        assert scene.source.used == []
        scene.source.unwritable = False
        for _ in range(3):
            scene.tokens.bot(token)
            await scene.reloader.poll()
        ((key_ids, _),) = scene.source.used
        assert key_ids == {key_id(token)}

    scene(play)


def test_revoked_keys_are_read_from_a_read_only_file():
    async def play(scene):
        token = scene.source.make()
        scene.tokens.bot(token)
        scene.source.unwritable = True
        scene.source.revoke(token)
        await scene.reloader.poll()
        assert scene.reason(token) == "REVOKED_TOKEN"

    scene(play)
