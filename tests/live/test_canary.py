"""Nothing that anybody may read holds a hidden card, a deal's secret, a token or a bot's note.

An arena is made to do everything that could give them away, and stopped in mid
match, while its deal is still secret. Then all that leaves it is searched for
them in every spelling. What the search is worth, the planted leaks show.
"""

import base64
import contextlib
import logging
import os
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime

import grpc
import pytest
from click.testing import CliRunner

from arena.api import metrics_page
from arena.api import status as status_module
from arena.api.admission import calls as guard
from arena.api.lobby import LobbyCalls
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.cli import logs, main
from arena.cli.logs import log_file
from arena.errors.refused import Refused
from arena.games.catalogue import GAMES
from arena.games.contract import SentEvent
from arena.live import metrics as metrics_module
from arena.live.matches import starting
from arena.live.session.session import Session
from arena.records import write
from arena.records.export import export_lines
from arena.records.journal.deal_log import DealLog
from arena.records.read import Replay
from arena.referee.deal import board_key
from arena.referee.match_runner import MatchRunner
from arena.store import data_folder as notice
from arena.store.keys import Key, Scope
from arena.testing.orders import match_request
from cardarena import _deals as sdk
from cardarena.games.v1 import sixty_six_pb2
from cardarena.v1 import game_pb2, lobby_pb2, play_pb2, replay_pb2
from tests.doubles.streams import PATIENCE_S, Client, eventually
from tests.live.running import running
from tests.live.test_metrics import get, notice_of

GAME = "sixty_six"
SUPPORT = [play_pb2.GameSupport(game=game.id) for game in GAMES]
LAST_ASK = 9
"""The ask that is left open: the match is in play, and cards of the first hand are hidden."""
CARD = re.compile(rb"(?<![0-9A-Za-z])(?:[2-9TJQKA][cdhs])+(?![0-9A-Za-z])")
"""A card, or some that are written together."""


# What is searched for.


def spellings(secret):
    """The ways in which bytes could be written down, and be found again."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield repr(secret)[2:-1].encode()
    yield str(int.from_bytes(secret, "big")).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            # As part of something longer: the digits at both ends depend on what is beside it.
            yield encode(b"\0" * shift + secret)[4:-4]


def finds(text, secrets):
    """The names of the secrets that a text holds."""
    return {
        name for name, known in secrets.items() if any(each in text for each in spellings(known))
    }


@pytest.mark.parametrize(
    "wrap",
    [
        lambda secret: b"key=" + secret,
        lambda secret: secret.hex().encode(),
        lambda secret: f"{{'key': {secret!r}}}".encode(),
        lambda secret: base64.b64encode(b"key:" + secret + b"!"),
        lambda secret: base64.urlsafe_b64encode(b"a key:" + secret),
        lambda secret: b"%d" % int.from_bytes(secret, "big"),
    ],
    ids=["raw", "hex", "repr", "base64 within", "base64 for addresses", "a number"],
)
def test_a_secret_is_found_in_every_spelling(wrap):
    secret = os.urandom(32)
    assert finds(wrap(secret), {"it": secret}) == {"it"}
    assert finds(wrap(os.urandom(32)), {"it": secret}) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"hand=('7h', 'Td')", 2),
        (b"play 9c", 1),
        (b"AsKdQh", 1),
        (b'{"match": "7d3c5hx", "seconds": 0.25}', 0),
        (b"port 5100, 12 s", 0),
    ],
    ids=["listed", "in notation", "together", "part of an id", "numbers"],
)
def test_cards_are_told_from_other_words(text, found):
    assert len(CARD.findall(text)) == found


# An arena that is given every chance.


ORGANISERS = new_token()


class Player:
    """A bot on a raw stream, which does what a scene wants of it."""

    def __init__(self, scene, name):
        self.scene = scene
        self.name = name
        self.token = new_token()
        self.note = f"note of {name} {os.urandom(6).hex()}"
        self.brain = sdk.Deals()
        self.said = set()
        """Cards that it made up itself; it is told so."""
        self.streams = []

    def dial(self, client, token=None):
        hello = {"games": SUPPORT, "adds_entropy": True, "want_text": True}
        self.streams.append(client.stream(token or self.token, **hello))
        return self.streams[-1]

    def run(self):
        stream = self.streams[0]
        while isinstance(message := stream.next(), play_pb2.ArenaMessage):
            kind = message.WhichOneof("body")
            if kind == "asks":
                for ask in message.asks.asks:
                    if not self.scene.answer(self, stream, ask):
                        return
            react = {"deal_open": self.brain.on_open, "deal_transcript": self.brain.on_transcript}
            if kind in react:
                for said in react[kind](getattr(message, kind)).send:
                    stream.send(said.SerializeToString())

    @property
    def received(self):
        return b"".join(data for stream in self.streams for data in stream.received)


class Scene:
    """A match between two bots, stopped at `LAST_ASK`, with mishaps on the way."""

    def __init__(self, arena, folder, players_of):
        self.arena = arena
        self.folder = folder
        self.asks = 0
        self.reached = threading.Event()
        self.players = players_of(self)
        self.found = {}
        """All that could be read, by who could."""

    def answer(self, player, stream, ask):
        self.asks += 1  # asks come one at a time in this game
        at = self.asks
        if at == LAST_ASK:
            self.reached.set()
            return False
        # A card is played whatever else could be done: a claim might end the match.
        verbs = [move.verb for move in ask.sixty_six.moves]
        index = verbs.index(sixty_six_pb2.SIXTY_SIX_VERB_PLAY)
        answer = {"ask_id": ask.ask_id, "note": player.note, "index": index}
        if at == 1:
            answer["index"] = 999
        if at == 2:
            view = ask.sixty_six.view
            card = next(rank + "h" for rank in "9TJQKA" if rank + "h" not in view.held)
            verb = sixty_six_pb2.SIXTY_SIX_VERB_PLAY
            move = sixty_six_pb2.SixtySixMove(verb=verb, card=card)
            player.said = {card}
            del answer["index"]
            answer["move"] = game_pb2.GameMove(sixty_six=move)
        if at == 3:
            stream.send(b"\xff" + player.note.encode() + player.token.encode())
        else:
            stream.answer(play_pb2.Answer(**answer))
        return True

    def play(self, client):
        for player in self.players:
            player.dial(client).expect("welcome")
        # On one thread until the deal is fixed, then each on its own.
        self.match_id = client.lobby.CreateMatch(
            match_request(
                GAME,
                [player.name for player in self.players],
                time_control={"move_ms": int(PATIENCE_S * 2000)},
            ),
            metadata=(("authorization", f"Bearer {ORGANISERS}"),),
        ).match.match_id
        threads = [threading.Thread(target=player.run) for player in self.players]
        for thread in threads:
            thread.start()
        assert self.reached.wait(PATIENCE_S)
        return threads

    # While the deal is secret.

    @property
    def deal(self):
        (deal,) = self.arena.deal_sets._log.live
        return deal

    @property
    def table(self):
        return self.arena.matches.referee.runners[self.match_id]

    def secrets(self):
        deal = self.deal
        tokens = {f"token of {player.name}": player.token[14:].encode() for player in self.players}
        notes = {f"note of {player.name}": player.note.encode() for player in self.players}
        seats = zip(self.players, self.table.spec.dice.seats, strict=True)
        dice = {f"dice of {each.name}": own for each, own in seats}
        entropies = {f"entropy {at}": each for at, each in enumerate(deal.entropies)}
        assert len(entropies) == 2
        assert all(entropies.values())
        opening = deal.opening
        return {
            "secret": deal.secret,
            "key": opening.key,
            "key of the first board": board_key(opening.key, 0),
            "plan salt": deal.plan_salt,
            **tokens,
            **notes,
            **dice,
            **entropies,
        }

    def hidden_from(self, seat):
        """Cards that a seat cannot know: the other's hand and the stock."""
        deal = self.table.state.deal
        other = deal.sides[1 - seat]
        hidden = {*other.hand, *deal.stock.cards} - {*other.known}
        assert len(hidden) >= 5
        return hidden

    def provoke(self, client):
        """Make calls that fail in every way; what they were told."""
        stray = new_token()
        self.stray = stray
        told = []

        def note(error):
            told.extend([error.details(), *(value for _, value in error.trailing_metadata() or ())])

        def call(method, request, token=None):
            metadata = () if token is None else (("authorization", f"Bearer {token}"),)
            try:
                answer = method(request, metadata=metadata, timeout=PATIENCE_S)
                pieces = [answer] if hasattr(answer, "SerializeToString") else list(answer)
                told.extend(piece.SerializeToString() for piece in pieces)
            except grpc.RpcError as error:
                note(error)

        ann = self.players[0]
        lobby, replays = client.lobby, client.replays
        for token in (stray, stray[:-1], ann.token):
            call(lobby.ListMatches, lobby_pb2.ListMatchesRequest(), token)
        call(lobby.GetMatch, lobby_pb2.GetMatchRequest(match_id=self.match_id))
        call(
            lobby.ListMatches,
            lobby_pb2.ListMatchesRequest(ended=lobby_pb2.MatchFilter(published=True)),
        )
        call(replays.GetReplay, replay_pb2.GetReplayRequest(replay_id=self.match_id))
        call(lobby.CreateMatch, match_request(GAME, ["ann", "nobody"]))
        note(client.stream(stray).error())
        # A bot that comes back is told everything anew.
        self.players[1].dial(client).expect("welcome")
        return told

    def collect(self, client):
        """Everything that leaves the arena while the deal is secret."""
        told = self.provoke(client)
        texts = self.found
        texts["calls"] = b"\n".join(t if isinstance(t, bytes) else t.encode() for t in told)
        url = notice_of(self.folder).metrics
        texts["metrics"] = get(url)[1].encode()
        code, page = get(url, path="/status")
        assert code == 200
        texts["status page"] = page.encode()
        arguments = ["status", "--data", str(self.folder)]
        outputs = [
            CliRunner().invoke(main, [*arguments, *more]).output for more in ([], ["--json"])
        ]
        assert "1 in play" in outputs[0]
        texts["status"] = "\n".join(outputs).encode()
        texts["log"] = b"".join(path.read_bytes() for path in self.folder.glob("arena.log*"))
        texts["notice"] = (self.folder / "server.json").read_bytes()
        texts["commitments"] = (self.folder / "commitments").read_bytes()
        replays = sorted((self.folder / "replays").iterdir())
        texts["replays"] = b"".join(path.read_bytes() for path in replays)
        for player in self.players:
            texts[f"to {player.name}"] = player.received

    def leaks(self):
        """What was found where it may not be."""
        secrets = {**self.secrets(), "stray token": self.stray[14:].encode()}
        leaks = {
            (where, name) for where, text in self.found.items() for name in finds(text, secrets)
        }
        own = {(f"to {player.name}", f"dice of {player.name}") for player in self.players}
        assert own <= leaks, "a bot has its own dice"
        leaks -= own
        for where in ("calls", "metrics", "status page", "status", "log", "notice"):
            if CARD.search(self.found[where]):
                leaks.add((where, "a card"))
        for seat, player in enumerate(self.players):
            shown = {card for text in asked(player) for card in cards_in(text)}
            assert len(shown) >= 6, "the own cards are searched for as well"
            if (shown - player.said) & self.hidden_from(seat):
                leaks.add((f"to {player.name}", "a hidden card"))
        return leaks


def asked(player):
    """What a bot was asked, as text. Other messages hold random bytes, which look like anything."""
    for stream in player.streams:
        for data in stream.received:
            message = play_pb2.ArenaMessage.FromString(data)
            yield from (str(ask).encode() for ask in message.asks.asks)
            yield from (str(ask).encode() for ask in message.welcome.open_asks)


def cards_in(text):
    for card in CARD.findall(text):
        word = card.decode()
        yield from (word[at : at + 2] for at in range(0, len(word), 2))


def played(folder):
    """The leaks of a scene that was played in a folder."""
    handler = log_file(folder)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    made = datetime(2026, 11, 22, tzinfo=UTC)
    digest = token_sha256(ORGANISERS)
    organiser = Key(key_id(ORGANISERS), digest, Scope.ORGANISER, "house", "", made)
    tokens = Tokens(guests=True, keys=[organiser])
    try:
        with running(folder, tokens, metrics_port=0) as arena:
            scene = Scene(arena, folder, lambda scene: [Player(scene, "ann"), Player(scene, "bob")])
            for player in scene.players:
                tokens.add(player.token, BotId(player.name))
            with Client(arena.address) as client:
                SCENES.append(scene)
                threads = scene.play(client)
                scene.collect(client)
                leaks = scene.leaks()
                for player in scene.players:
                    for stream in player.streams:
                        stream.hang_up()
                for thread in threads:
                    thread.join(PATIENCE_S)
        return leaks
    finally:
        SCENES.clear()
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


SCENES = []
"""The one that is played, for what is planted to know its secrets."""


def everything():
    """A text that holds all that is secret, as an error's text might."""
    (scene,) = SCENES
    names = [*scene.table.state.deal.sides[0].hand]
    tokens = [player.token for player in scene.players]
    notes = [player.note for player in scene.players]
    return f"{names} {scene.deal.secret.hex()} {scene.deal.opening.key!r} {tokens} {notes}"


@pytest.fixture(autouse=True)
def mishap(monkeypatch):
    """An error of the arena's own, which quotes everything, in one of the calls."""

    def get_match(self, request, context):
        try:
            raise KeyError(everything())
        except KeyError as error:
            raise RuntimeError(everything()) from error

    monkeypatch.setattr(LobbyCalls, "GetMatch", get_match)


def test_nothing_that_leaves_the_arena_holds_what_is_secret(tmp_path):
    assert played(tmp_path) == set()
    text = (tmp_path / "arena.log").read_text("utf-8")
    for event in (
        "a bot is at fault",
        "an error in a call",
        "a call was refused",
        "a match begins",
    ):
        assert event in text, "what could give something away did happen"
    assert "RuntimeError" in text


# When the match is over, and its replay is published.


NOTES = {name: f"note of {name} {os.urandom(6).hex()}" for name in ("ann", "bob")}


def published(folder, publishing=()):
    """All that the arena served and wrote of a match, by place, and its replay's path.

    Its bots noted something at every decision; those of `publishing` said that everybody may read it.
    """
    places = {}
    with (
        running(folder, Tokens(guests=True), metrics_port=0) as arena,
        Client(arena.address) as client,
    ):
        streams = {
            name: client.stream(f"guest:{name}", games=SUPPORT, publish_notes=name in publishing)
            for name in NOTES
        }
        for stream in streams.values():
            stream.expect("welcome")
        request = match_request(GAME, list(NOTES), {"hands": 2}, seed="s")
        match_id = client.lobby.CreateMatch(request).match.match_id
        threads = [
            threading.Thread(target=stream.play, kwargs={"note": NOTES[name]})
            for name, stream in streams.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        path = folder / "replays" / f"{match_id}.replay"
        assert eventually(path.is_file)
        for replay_id in (match_id, f"../notes/{match_id}.0", f"{match_id}.0"):
            asked = replay_pb2.GetReplayRequest(replay_id=replay_id)
            with contextlib.suppress(grpc.RpcError):
                pieces = client.replays.GetReplay(asked)
                places[f"GetReplay {replay_id}"] = b"".join(piece.piece for piece in pieces)
        published = lobby_pb2.ListMatchesRequest(ended=lobby_pb2.MatchFilter(published=True))
        listed = client.lobby.ListMatches(published)
        places["ListMatches"] = listed.SerializeToString()
        places["status page"] = get(notice_of(folder).metrics, path="/status")[1].encode()
        places["metrics"] = get(notice_of(folder).metrics)[1].encode()
    assert places[f"GetReplay {match_id}"] == path.read_bytes()
    for name, stream in streams.items():
        places[f"to {name}"] = b"".join(stream.received)
    for file in folder.rglob("*"):
        if file.is_file():
            places[str(file.relative_to(folder)).replace(match_id, "MATCH")] = file.read_bytes()
    return places, path


def tools_show(path):
    """What the commands show of a replay, by command."""
    yield "export", "\n".join(export_lines(Replay.open(path))).encode()
    shows = [
        ["replay", "show", "--print", *eyes] for eyes in ([], ["--seat", "0"], ["--spectator"])
    ]
    for arguments in (*shows, ["replay", "verify"], ["replay", "verify", "--json"]):
        result = CliRunner().invoke(main, [*arguments, str(path)])
        assert result.exit_code == 0, result.output
        yield " ".join(arguments), result.output.encode()


def noted(places):
    """Where notes are, with whose they are."""
    secrets = {name: note.encode() for name, note in NOTES.items()}
    return {
        ("journal" if where.startswith("journal/") else where, *sorted(found))
        for where, text in places.items()
        if (found := finds(text, secrets))
    }


OWNERS_ALONE = {
    ("journal", "ann", "bob"),
    ("notes/MATCH.0.notes", "ann"),
    ("notes/MATCH.1.notes", "bob"),
    ("replay show --print --seat 0", "ann"),
}


def test_a_note_is_nowhere_but_in_the_journal_and_with_its_owner(tmp_path):
    places, path = published(tmp_path)
    assert noted({**places, **dict(tools_show(path))}) == OWNERS_ALONE


def test_the_notes_of_a_bot_that_publishes_them_lie_beside_the_replay(tmp_path):
    places, path = published(tmp_path, publishing=("ann",))
    private, public = ("notes/MATCH.0.notes", "ann"), ("replays/MATCH.0.notes", "ann")
    assert noted({**places, **dict(tools_show(path))}) == OWNERS_ALONE - {private} | {public}


def plant_notes_in_the_replay(patch):
    split = write.without_notes
    patch.setattr(write, "without_notes", lambda bodies: (tuple(bodies), split(bodies)[1]))


def plant_notes_files_among_the_replays(patch):
    patch.setattr(write, "notes_folder", lambda replays: replays)


@pytest.mark.parametrize(
    ("plant", "where"),
    [
        (plant_notes_in_the_replay, "replays/MATCH.replay"),
        (plant_notes_files_among_the_replays, "replays/MATCH.0.notes"),
    ],
    ids=["notes in the replay", "notes files among the replays"],
)
def test_a_planted_note_is_found(tmp_path, monkeypatch, plant, where):
    plant(monkeypatch)
    places, _ = published(tmp_path)
    assert where in {place for place, *_ in noted(places)}


# What would be found.


def plant_a_note_in_the_log(patch):
    decided = metrics_module._CountedLedger.decided

    def telling(self, settled):
        metrics_module._log.info("decided", extra={"note": settled.note})
        decided(self, settled)

    patch.setattr(metrics_module._CountedLedger, "decided", telling)


def plant_the_reason_of_a_fault_in_the_log(patch):
    decided = metrics_module._CountedLedger.decided

    def telling(self, settled):
        metrics_module._log.info("fault: %s", settled.reason)
        decided(self, settled)

    patch.setattr(metrics_module._CountedLedger, "decided", telling)


def plant_the_text_of_errors_in_the_log(patch):
    patch.setattr(logs, "_trace", lambda error, _: [repr(error)])


def plant_a_token_in_the_log(patch):
    patch.setattr(logs, "_TOKEN", re.compile("(never)$^"))
    bot = Tokens.bot

    def telling(self, token, **door):
        logging.getLogger("arena.x").info("hello with %s", token)
        return bot(self, token, **door)

    patch.setattr(Tokens, "bot", telling)


def plant_a_key_in_a_label(patch):
    info = metrics_page._info

    def telling(name, text, labels):
        (scene,) = SCENES
        key = base64.b64encode(scene.deal.opening.key).decode()
        return info(name, text, {**labels, "deal": key})

    patch.setattr(metrics_page, "_info", telling)


def plant_a_bot_s_note_in_the_status(patch):
    status = status_module.status

    def telling(watched, process):
        (scene,) = SCENES
        return replace(status(watched, process), decisions={scene.players[0].note: 1})

    patch.setattr(status_module, "status", telling)


def plant_a_card_in_an_error_that_status_shows(patch):
    def telling(self, request, context):
        (scene,) = SCENES
        hand = scene.table.state.deal.sides[0].hand
        logging.getLogger("arena.x").error("cannot tell of %s", hand[0])
        raise RuntimeError

    patch.setattr(LobbyCalls, "GetMatch", telling)


def plant_the_text_of_errors_in_answers(patch):
    def failing(context, call):
        context.set_code(grpc.StatusCode.INTERNAL)
        context.set_details(everything())

    patch.setattr(guard, "fail", failing)


def plant_the_token_in_its_refusal(patch):
    holder = Tokens.holder

    def telling(self, token, **door):
        try:
            return holder(self, token)
        except Refused as refused:
            raise Refused(refused.reason, token) from None

    patch.setattr(Tokens, "holder", telling)


def plant_the_secret_in_the_public_log(patch):
    drawn = DealLog.drawn

    def telling(self, context, fair_deal, secret, *more):
        drawn(self, context, fair_deal, secret, *more)
        os.write(self._public._fd, secret)

    patch.setattr(DealLog, "drawn", telling)


def plant_a_replay_ahead_of_time(patch):
    fixed = DealLog.fixed

    def telling(self, *args):
        deal = fixed(self, *args)
        replays = self.folder.parent / "replays"
        (replays / "x.replay").write_bytes(deal.opening.key)
        return deal

    patch.setattr(DealLog, "fixed", telling)


def plant_a_token_in_the_notice(patch):
    decided = metrics_module._CountedLedger.decided

    def telling(self, settled):
        (scene,) = SCENES
        told = notice.read_notice(scene.folder)
        token = scene.players[0].token
        notice.write_notice(scene.folder, replace(told, version=token))
        decided(self, settled)

    patch.setattr(metrics_module._CountedLedger, "decided", telling)


def plant_all_events_for_all_seats(patch):
    tell = MatchRunner._add_events

    def telling(self, step):
        step = step._replace(events=tuple(SentEvent(event) for event, _ in step.events))
        tell(self, step)

    patch.setattr(MatchRunner, "_add_events", telling)


def plant_a_note_in_what_is_sent(patch):
    attach = Session.attach

    def telling(self, hello, outbox, address):
        attach(self, hello, outbox, address)
        (scene,) = SCENES
        refusal = play_pb2.Refusal(text=scene.players[0].note)
        outbox.post(play_pb2.ArenaMessage(refusal=refusal).SerializeToString())

    patch.setattr(Session, "attach", telling)


def plant_the_dice_of_seat_0_at_all_seats(patch):
    dice_of = starting.dice_of

    def telling(key, table, seats):
        dice = dice_of(key, table, seats)
        return replace(dice, seats=dice.seats[:1] * seats)

    patch.setattr(starting, "dice_of", telling)


PLANTED = [
    (plant_a_note_in_the_log, ("log", "note of ann")),
    (plant_the_reason_of_a_fault_in_the_log, ("log", "a card")),
    (plant_the_text_of_errors_in_the_log, ("log", "secret")),
    (plant_a_token_in_the_log, ("log", "stray token")),
    (plant_a_key_in_a_label, ("metrics", "key")),
    (plant_a_bot_s_note_in_the_status, ("status page", "note of ann")),
    (plant_a_card_in_an_error_that_status_shows, ("status", "a card")),
    (plant_the_text_of_errors_in_answers, ("calls", "note of bob")),
    (plant_the_token_in_its_refusal, ("calls", "stray token")),
    (plant_the_secret_in_the_public_log, ("commitments", "secret")),
    (plant_a_replay_ahead_of_time, ("replays", "key")),
    (plant_a_token_in_the_notice, ("notice", "token of ann")),
    (plant_all_events_for_all_seats, ("to bob", "a hidden card")),
    (plant_a_note_in_what_is_sent, ("to bob", "note of ann")),
    (plant_the_dice_of_seat_0_at_all_seats, ("to bob", "dice of ann")),
]


@pytest.mark.parametrize(
    ("plant", "leak"), PLANTED, ids=[each[0].__name__.removeprefix("plant_") for each in PLANTED]
)
def test_what_is_planted_is_found(tmp_path, monkeypatch, plant, leak):
    plant(monkeypatch)
    assert leak in played(tmp_path)
