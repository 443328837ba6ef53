"""Matches with fair deals, and the arena's public log of them, made without an arena.

The packs are dealt by the rules from the key, the moves are random and take no
time. The clockwork of a real match is for tests/records.
"""

import hashlib
import random
from dataclasses import dataclass, field

from arena.games.catalogue import game_by_id
from arena.records.deal_book import LOG_MAGIC
from arena.records.records import CHAIN_START, REPLAY_MAGIC, chained, framed
from arena.referee.deal import (
    NO_COMMITMENT,
    DealTerms,
    KeyedDeals,
    bot_commitment,
    context,
    first_pack,
    opened_key,
    plan_hash,
    plan_line,
    planned_bot,
    pseudonym,
    rules_hash,
    seeded_key,
    server_commitment,
    setting_texts,
    transcript,
    view_context,
)
from arena.referee.terms import MatchTerms, TimeControl
from arena.referee.wire.games import codec_of
from arena.referee.wire.settings import settings_of_options, values_of_settings
from arena.referee.wire.terms import terms_message
from cardarena.v1 import deals_pb2, game_pb2, journal_pb2
from tests.games.random_play import random_turns


def drawn(what):
    """32 bytes, other ones for everything, and always the same."""
    return hashlib.sha256(what.encode()).digest()


@dataclass
class Bot:
    name: str
    adds_entropy: bool = True
    instance: int = 0

    @property
    def participant(self):
        return pseudonym(drawn("salt"), planned_bot(self.name, self.instance))

    @property
    def salt(self):
        return drawn(f"salt {self.name} {self.instance}")

    @property
    def entropy(self):
        return drawn(f"entropy {self.name} {self.instance}") if self.adds_entropy else b""


ALPHA, BETA, GAMMA = Bot("alpha"), Bot("beta 2"), Bot("gamma")
BARE = Bot("bare", adds_entropy=False)


@dataclass
class Deal:
    """A deal-set that was fixed, and what opens it."""

    context: bytes
    fair_deal: journal_pb2.FairDeal
    revealed: journal_pb2.Revealed
    log: list = field(default_factory=list)
    """The entries of the public log, up to the opening."""


def head(entries):
    """The head of a log after these entries."""
    at = CHAIN_START
    for entry in entries:
        at = chained(at, entry.SerializeToString())
    return at


def committed(of_context, commitment):
    return deals_pb2.LogEntry(
        committed=deals_pb2.LogCommitted(context=of_context, server_commitment=commitment)
    )


def opened(of_context, revealed, void_reason=""):
    return deals_pb2.LogEntry(
        opened=deals_pb2.LogOpened(
            context=of_context,
            secret=revealed.secret,
            entropies=revealed.entropies,
            void_reason=void_reason,
        )
    )


def fixed(game, options, plan, bots, *, boards=0, deck=None, log=(), salted=True):
    """Run fd2 for a deal-set; without salts it is fd1."""
    bots = sorted(bots, key=lambda bot: bot.participant)
    settings = values_of_settings(settings_of_options(game, options))
    secret, salt = drawn("secret"), drawn("salt")
    seats = len(plan.split("\n")[0].split(" ")) - 2
    terms = DealTerms(
        server_id="arena.example",
        deal_set="a deal-set",
        game=game.id,
        rules_hash=rules_hash(game.id, game.rules_version, setting_texts(settings)),
        deck=first_pack(game.rules, options, seats) if deck is None else deck,
        boards=boards,
        plan_hash=plan_hash(plan, salt),
        participants=tuple(bot.participant for bot in bots),
        log_head=head(log),
    )
    of_deal = context(terms)
    commitment = server_commitment(of_deal, secret)
    salts = {bot.participant: bot.salt if salted else b"" for bot in bots}
    views = {name: view_context(of_deal, name, salt) for name, salt in salts.items()}
    commitments = {
        bot.participant: bot_commitment(views[bot.participant], bot.participant, bot.entropy)
        if bot.adds_entropy
        else NO_COMMITMENT
        for bot in bots
    }
    entropies = {bot.participant: bot.entropy for bot in bots}
    shown = transcript(of_deal, commitment, commitments)
    revealed = journal_pb2.Revealed(
        deal_key=opened_key(of_deal, commitment, commitments, shown, secret, entropies, views),
        secret=secret,
        entropies=[bot.entropy for bot in bots],
        plan=plan,
        plan_salt=salt,
    )
    fair_deal = journal_pb2.FairDeal(
        server_id=terms.server_id,
        deal_set=terms.deal_set,
        rules_hash=terms.rules_hash,
        deck=terms.deck,
        boards=boards,
        plan_hash=terms.plan_hash,
        participants=[
            journal_pb2.DealParticipant(
                participant=bot.participant,
                bot=bot.name,
                instance=bot.instance,
                commitment=commitments[bot.participant],
                salt=salts[bot.participant],
            )
            for bot in bots
        ],
        log_head=terms.log_head,
        server_commitment=commitment,
    )
    entries = [*log, committed(of_deal, commitment), opened(of_deal, revealed)]
    return Deal(of_deal, fair_deal, revealed, entries)


@dataclass
class Match:
    """A match that was played, as the records of its replay."""

    deal: Deal | None
    records: list

    @property
    def replay(self):
        return written(self.records)


def played(
    game_id="chinese_poker",
    bots=(ALPHA, BETA),
    options=None,
    *,
    company=(),
    forfeited=(),
    strangers=(),
    **terms,
):
    """A match with a fair deal.

    `company` are lines of other matches in the plan, `forfeited` seats whose
    bots were left out, and `strangers` bots that take part but do not play.
    """
    game = game_by_id(game_id)
    chosen = game.options(options or {"hands": len(bots)}, len(bots))
    line = plan_line("m1", 0, [(bot.name, bot.instance) for bot in bots])
    taking_part = [bot for seat, bot in enumerate(bots) if seat not in forfeited]
    taking_part += strangers
    deal = fixed(game, chosen, "\n".join([line, *company]), taking_part, **terms)
    records = _records(game, chosen, [bot.name for bot in bots], deal.revealed)
    records[0].opened.fair_deal.CopyFrom(deal.fair_deal)
    for seat in forfeited:
        records[0].opened.forfeited_seats.add(
            seat=seat,
            fault=game_pb2.FAULT_KIND_TIMEOUT,
            reason="it did not open its commitment in time",
        )
    return Match(deal, records)


def seeded(seed="a seed", game_id="chinese_poker"):
    """A match whose deals follow from a seed; without one, the arena drew them alone."""
    game = game_by_id(game_id)
    key = seeded_key(seed) if seed else drawn("alone")
    revealed = journal_pb2.Revealed(deal_key=key, seed=seed)
    records = _records(game, game.options({"hands": 2}, 2), ["alpha", "beta 2"], revealed)
    records[0].opened.terms.seeded = bool(seed)
    return Match(None, records)


def _records(game, options, names, revealed):
    control = TimeControl(move_ms=1000)
    first = journal_pb2.Opened(
        match_id="m1",
        terms=terms_message(MatchTerms(game, options, len(names), control)),
        entrants=[journal_pb2.Entrant(name=name, version="1.0") for name in names],
        start_unix_ms=1_790_000_000_000,
        deal_key_sha256=hashlib.sha256(revealed.deal_key).digest(),
    )
    bodies = [{"opened": first}]
    rules, codec, deals = game.rules, codec_of(game), KeyedDeals(revealed.deal_key)
    draw, made = random.Random(game.id), [0] * len(names)
    for turn in random_turns(rules, options, len(names), draw, deals):
        for seat, move in turn.chosen:
            made[seat] += 1
            message = game_pb2.GameMove.FromString(codec.game_move(move))
            decided = journal_pb2.Decided(
                seat=seat, decision=made[seat], move=message, bank_ms=control.bank_ms
            )
            bodies.append({"decided": decided})
    result = rules.result(turn.after)
    closed = journal_pb2.Closed(
        scores=result.scores, places=result.places, ending=game_pb2.ENDING_COMPLETED, end_us=1
    )
    bodies += [{"closed": closed}, {"revealed": revealed}]
    return [journal_pb2.Record(match=1, **body) for body in bodies]


def written(records):
    """Records as a file, with checksums and hash chain made to fit."""
    chain, pieces = CHAIN_START, [REPLAY_MAGIC]
    for record in records:
        if record.HasField("closed"):
            record.closed.chain = chain
        body = record.SerializeToString()
        chain = chained(chain, body)
        pieces.append(framed(body))
    return b"".join(pieces)


def log_file(entries):
    """A public log as a file."""
    return LOG_MAGIC + b"".join(framed(entry.SerializeToString()) for entry in entries)
