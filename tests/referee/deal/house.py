"""An arena in memory that deals by the book, with bots of the SDK; a liar overrides a page.

Everything is played at once and without time: moves are drawn at random, no
clock runs. What comes out is what bots and visitors would have: each bot's
lies and receipt, and the replay.
"""

import hashlib
import random
from dataclasses import dataclass, field
from functools import cached_property

from arena.games.catalogue import game_by_id
from arena.records.read import Replay
from arena.records.receipts import Receipt
from arena.records.records import CHAIN_START, REPLAY_MAGIC, chained, framed, read_records
from arena.referee.deal import (
    NO_COMMITMENT,
    DealTerms,
    KeyedDeals,
    context,
    deal_set_key,
    first_pack,
    plan_hash,
    plan_line,
    planned_bot,
    pseudonym,
    rules_hash,
    seal,
    server_commitment,
    setting_texts,
    transcript,
    view_context,
    view_transcript,
)
from arena.referee.terms import MatchTerms
from arena.referee.wire.games import codec_of
from arena.referee.wire.settings import settings_of_options, values_of_settings
from arena.referee.wire.terms import terms_message
from cardarena._deals import Deals
from cardarena._receipts import Folder
from cardarena.v1 import game_pb2, journal_pb2, play_pb2

SDK, BARE, HOUSE = "sdk", "bare", "house"
"""Bots of the SDK, bots that commit zeros, and bots that the arena itself plays."""


def thirty_two(text):
    return hashlib.sha256(text.encode()).digest()


PLAN_SALT = thirty_two("salt")


@dataclass(eq=False)
class Player:
    name: str
    kind: str
    deals: Deals | None = None
    revealed: bytes = b""
    said: list = field(default_factory=list)

    @property
    def participant(self):
        return pseudonym(PLAN_SALT, planned_bot(self.name, 0))

    @property
    def lies(self):
        return self.deals.lies

    def tell(self, reaction):
        """What the bot sends back; its lines are kept."""
        self.said += reaction.say
        return reaction.send


@dataclass
class Sitting:
    """A match that was played out: its records, and what each seat was shown."""

    decided: list = field(default_factory=list)
    asks: list = field(default_factory=list)
    """Seat and message, in the order in which they were sent."""
    trailing: list = field(default_factory=list)
    """By seat."""
    scores: tuple = ()
    places: tuple = ()


def play_out(game, options, deals, number, *, seats, absent=()):
    """Play a match at random. Seats that are `absent` are never asked."""
    rules, codec, draw = game.rules, codec_of(game), random.Random(number)
    sitting, untold, count = Sitting(), [[] for _ in range(seats)], [0] * seats
    state, told = rules.start(options, seats, deals)
    while True:
        for event, to in told:
            for seat in range(seats) if to is None else to:
                untold[seat].append(event)
        acting = rules.to_act(state)
        if not acting:
            break
        chosen = []
        for seat in acting:
            count[seat] += 1
            moves = rules.moves(state, seat)
            move = moves.sample(draw.randrange)
            if seat in absent:
                move = rules.fallback(state, seat)
            else:
                events = [codec.event(event) for event in untold[seat]]
                body = codec.ask(rules.view(state, seat), events, moves)
                ask = play_pb2.Ask.FromString(body)
                ask.ask_id, ask.match, ask.seat = number << 20 | count[seat], number, seat
                ask.decision = count[seat]
                sitting.asks.append((seat, ask))
                untold[seat] = []
            sitting.decided.append(
                journal_pb2.Decided(
                    seat=seat,
                    decision=count[seat],
                    move=game_pb2.GameMove.FromString(codec.game_move(move)),
                    bank_ms=60_000,
                    unasked=seat in absent,
                    forfeited=seat in absent,
                )
            )
            chosen.append((seat, move))
        state, told = rules.step(state, tuple(chosen), deals)
    result = rules.result(state)
    sitting.trailing = [
        [game_pb2.GameEvent.FromString(codec.game_event(event)) for event in events]
        for events in untold
    ]
    sitting.scores, sitting.places = result.scores, result.places
    return sitting


class House:
    """An arena with one deal-set of one match."""

    match_id = "m1"
    number = 7
    """The match's number on every bot's stream."""
    absent = ()
    """Seats that had forfeited before the deal."""
    public_key = b""
    """The key that it says it signs with."""

    def __init__(self, folder, players, game="democracy"):
        self.players = [Player(name, kind) for name, kind in players.items()]
        for player in self.players:
            if player.kind == SDK:
                player.deals = Deals(shelf=Folder(folder / player.name), draw=self.drawing(player))
        self.folder = folder
        self.game = game_by_id(game)
        self.seats = len(self.players)
        self.options = self.game.options({"hands": self.seats}, self.seats)
        self.secret = thirty_two("the arena's secret")
        self.salt = PLAN_SALT
        self.commitments = {}
        self.entropies = {}

    @staticmethod
    def drawing(player):
        return lambda size: thirty_two(f"entropy of {player.name}")[:size]

    def named(self, name):
        return next(player for player in self.players if player.name == name)

    @property
    def voices(self):
        """Those who may add entropy."""
        return [player for seat, player in enumerate(self.players) if seat not in self.absent]

    # The terms.

    @cached_property
    def settings(self):
        return settings_of_options(self.game, self.options)

    @cached_property
    def plan(self):
        return plan_line(self.match_id, 0, [(player.name, 0) for player in self.players])

    @cached_property
    def terms(self):
        values = setting_texts(values_of_settings(self.settings))
        return DealTerms(
            server_id="arena",
            deal_set="g1",
            game=self.game.id,
            rules_hash=rules_hash(self.game.id, self.game.rules_version, values),
            deck=first_pack(self.game.rules, self.options, self.seats),
            boards=0,
            plan_hash=plan_hash(self.plan, self.salt),
            participants=tuple(sorted(player.participant for player in self.voices)),
            log_head=bytes(32),
        )

    @cached_property
    def context(self):
        return context(self.terms)

    def committed(self, secret):
        return server_commitment(self.context, secret)

    def view(self, player):
        """The context that a bot is told."""
        return view_context(self.context, player.participant, self.salt_for(player))

    def committed_to(self, player, secret):
        """The arena's commitment as a bot is told it."""
        return server_commitment(self.view(player), secret)

    # Pages that a liar overrides. All are given the book's own answer's ingredients.

    def salt_for(self, player):
        """What a bot's context is made with."""
        return thirty_two(f"salt of {player.name}")

    def secret_for(self, player):
        """What the arena says towards a bot is its secret."""
        return self.secret

    def openings_to(self, player):
        """What a bot is told at the beginning: commitments of the arena's."""
        return [self.committed_to(player, self.secret_for(player))]

    def commits(self, player, sent):
        """What is noted as a bot's commitment."""
        if player.kind == HOUSE:
            return self.house_commitment(player, self.house_entropy(player))
        return sent

    def shown_to(self, player):
        """The transcripts that a bot is shown: everybody's commitments, of which it sees its own."""
        return [self.commitments]

    def seal(self, player, commitments):
        """What binds the arena to them."""
        fixed = transcript(self.context, self.committed(self.secret_for(player)), commitments)
        return seal(self.view(player), fixed, self.salt_for(player))

    def shown(self, player, commitments):
        """The hash over all that a bot is shown."""
        committed = self.committed_to(player, self.secret_for(player))
        name = player.participant
        own = commitments[name]
        return view_transcript(
            self.view(player), committed, name, own, self.seal(player, commitments)
        )

    def signature(self, player, commitments):
        """What it says is its signature of that."""
        return b""

    def reveals(self, player, sent):
        """What is noted as a bot's entropy."""
        return self.house_entropy(player) if player.kind == HOUSE else sent

    def published(self):
        """What stands in the replay: commitment, secret, commitments, entropies."""
        return self.committed(self.secret), self.secret, self.commitments, self.entropies

    def key(self):
        """What the packs of the replay follow from."""
        commitment, secret, commitments, entropies = self.published()
        return deal_set_key(transcript(self.context, commitment, commitments), secret, entropies)

    def shown_key(self):
        """What the packs follow from that the bots are shown."""
        return self.key()

    def closed_to(self, player):
        """What a bot is told at the end: secret, commitments, entropies."""
        return self.secret_for(player), self.commitments, self.entropies

    def deal_for(self, player):
        """What a bot is told at the end is the context of the deal-set itself."""
        return self.context

    def opened_salt(self, player):
        """What the replay and the end say that a bot's context was made with."""
        return self.salt_for(player)

    # The house's own bots.

    @staticmethod
    def house_entropy(player):
        return thirty_two(f"the house plays {player.name}")

    def house_commitment(self, player, entropy):
        by_hand = Deals(draw=lambda size: entropy)
        opening = play_pb2.DealOpen(
            context=self.view(player),
            server_commitment=bytes(32),
            participant=player.participant,
        )
        return by_hand.on_open(opening).send[0].deal_commit.commitment

    # The book.

    def run(self):
        for player in self.voices:
            self.commitments[player.participant] = self.commits(player, self.open(player))
        for player in self.voices:
            self.entropies[player.participant] = self.reveals(player, self.show(player))
        self.sitting = self.play(self.key())
        shown = self.play(self.shown_key())
        self.show_match(shown)
        for player in self.voices:
            self.close(player)
        return self

    def open(self, player):
        sent = NO_COMMITMENT
        for commitment in self.openings_to(player) if player.kind == SDK else []:
            opening = play_pb2.DealOpen(
                context=self.view(player),
                server_commitment=commitment,
                participant=player.participant,
                deadline_ms=5000,
                public_key=self.public_key,
            )
            for message in player.tell(player.deals.on_open(opening)):
                assert message.deal_commit.context == self.view(player)
                sent = message.deal_commit.commitment
        return sent

    def show(self, player):
        sent = b""
        for commitments in self.shown_to(player) if player.kind == SDK else []:
            message = play_pb2.DealTranscript(
                context=self.view(player),
                commitment=commitments[player.participant],
                seal=self.seal(player, commitments),
                signature=self.signature(player, commitments),
            )
            for reveal in player.tell(player.deals.on_transcript(message)):
                assert reveal.deal_reveal.context == self.view(player)
                sent = player.revealed = reveal.deal_reveal.entropy
        return sent

    def play(self, key):
        deals = KeyedDeals(key)
        return play_out(
            self.game, self.options, deals, self.number, seats=self.seats, absent=self.absent
        )

    def show_match(self, sitting):
        for seat, player in enumerate(self.players):
            if player.kind != SDK or player not in self.voices:
                continue
            start = play_pb2.MatchStart(
                match=self.number,
                terms=game_pb2.MatchTerms(game=self.game.id),
                seat=seat,
                deal_context=self.view(player),
                match_id=self.match_id,
            )
            player.tell(player.deals.on_match_start(start))
            for to, ask in sitting.asks:
                if to == seat:
                    player.tell(player.deals.on_ask(ask))
            end = play_pb2.MatchEnd(
                match=self.number,
                replay_id=self.match_id,
                trailing_events=sitting.trailing[seat],
                ending=game_pb2.ENDING_COMPLETED,
            )
            player.tell(player.deals.on_match_end(end))

    def close(self, player):
        if player.kind == SDK:
            secret, commitments, entropies = self.closed_to(player)
            parts = [
                play_pb2.Entropy(
                    participant=each.participant,
                    entropy=entropies[each.participant],
                    commitment=commitments[each.participant],
                    salt=self.opened_salt(each),
                )
                for each in sorted(self.voices, key=lambda each: each.participant)
            ]
            close = play_pb2.DealClose(
                context=self.view(player),
                secret=secret,
                entropies=parts,
                deal=self.deal_for(player),
            )
            player.tell(player.deals.on_close(close))

    # What is left of it.

    def records(self):
        terms, key = self.terms, self.key()
        commitment, secret, commitments, entropies = self.published()
        of_participant = {player.participant: player for player in self.voices}
        participants = [
            journal_pb2.DealParticipant(
                participant=name,
                bot=of_participant[name].name,
                commitment=commitments[name],
                salt=self.opened_salt(of_participant[name]),
            )
            for name in sorted(commitments)
        ]
        fair_deal = journal_pb2.FairDeal(
            server_id=terms.server_id,
            deal_set=terms.deal_set,
            rules_hash=terms.rules_hash,
            deck=terms.deck,
            boards=terms.boards,
            plan_hash=terms.plan_hash,
            participants=participants,
            log_head=terms.log_head,
            server_commitment=commitment,
        )
        opened = journal_pb2.Opened(
            match_id=self.match_id,
            terms=terms_message(MatchTerms(self.game, self.options, self.seats)),
            entrants=[journal_pb2.Entrant(name=player.name) for player in self.players],
            deal_key_sha256=hashlib.sha256(key).digest(),
            deal_set="g1",
            fair_deal=fair_deal,
            forfeited_seats=[
                journal_pb2.ForfeitedSeat(seat=seat, fault=game_pb2.FAULT_KIND_TIMEOUT)
                for seat in self.absent
            ],
        )
        closed = journal_pb2.Closed(
            scores=self.sitting.scores,
            places=self.sitting.places,
            ending=game_pb2.ENDING_COMPLETED,
        )
        revealed = journal_pb2.Revealed(
            deal_key=key,
            secret=secret,
            entropies=[entropies[name] for name in sorted(commitments)],
            plan=self.plan,
            plan_salt=self.salt,
        )
        yield journal_pb2.Record(match=1, opened=opened)
        for decided in self.sitting.decided:
            yield journal_pb2.Record(match=1, decided=decided)
        yield journal_pb2.Record(match=1, closed=closed)
        yield journal_pb2.Record(match=1, revealed=revealed)

    def replay_file(self, change=lambda records: None):
        """The path of the replay; `change` gets its records first."""
        path = self.folder / f"{self.match_id}.replay"
        records, chain, bodies = list(self.records()), CHAIN_START, []
        change(records)
        for record in records:
            if record.HasField("closed"):
                record.closed.chain = chain
            body = record.SerializeToString()
            chain = chained(chain, body)
            bodies.append(framed(body))
        path.write_bytes(REPLAY_MAGIC + b"".join(bodies))
        return path

    def replay(self, change=lambda records: None):
        with self.replay_file(change).open("rb") as file:
            return Replay.of_records(read_records(file, REPLAY_MAGIC))

    def receipt_file(self, name):
        (path,) = (self.folder / name).glob("*.json")
        return path

    def receipt(self, name):
        return Receipt.open(self.receipt_file(name))
