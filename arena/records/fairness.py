"""Checks that the packs of a replay are fair: protocol fd2, recomputed from the openings.

Fair means: the rules and the pack are those that the replay names, the plan names this match, the arena and every bot
opened their commitments, and the key of the deals follows from all of these. `docs/fair-deals.md` says what this proves
and what it does not. Replays of protocol fd1 have no salts for the participants.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from arena.games.catalogue import BadOptions
from arena.records.deal_book import CommitmentLog, bot_of, view_of
from arena.records.playback import Discrepancy
from arena.records.read import Replay
from arena.referee.deal import (
    COMMON,
    ENTROPY_BYTES,
    NO_COMMITMENT,
    SALT_BYTES,
    DealTerms,
    Lie,
    context,
    first_pack,
    opened_key,
    plan_hash,
    pseudonym,
    rules_hash,
    seal,
    setting_texts,
    transcript,
    view_transcript,
)
from arena.referee.wire.settings import values_of_settings
from cardarena.v1 import journal_pb2

_HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Fairness:
    """The bots that added entropy to the packs of a match."""

    seeded: bool
    """Whether the packs follow from a seed that somebody chose."""
    entropy_from: int
    """The bots that added entropy."""
    participants: int
    """The number of bots that took part in the deal; 0 without a fair deal."""

    def __str__(self) -> str:
        if self.seeded:
            return "seeded, not a fair deal"
        if not self.participants:
            return "the arena drew the deals alone"
        return f"fair deal, entropy from {self.entropy_from} of {self.participants}"


def check(replay: Replay) -> Fairness:
    """Recompute the fair deal of a replay.

    Raises:
      Discrepancy: naming the first contradiction.
      Unplayable: if this arena has no such game, rules version or options.
    """
    opened, revealed = replay.opened, replay.revealed
    fair_deal = opened.fair_deal
    if opened.terms.seeded or not opened.HasField("fair_deal"):
        if opened.HasField("fair_deal"):
            raise Discrepancy("it is seeded, but claims a fair deal")
        if revealed.secret or revealed.entropies or revealed.plan:
            raise Discrepancy("it opens a fair deal that it does not have")
        return Fairness(seeded=opened.terms.seeded, entropy_from=0, participants=0)
    _check_terms(replay)
    _check_participants(replay)
    _check_dice(replay)
    try:
        key = opened_key(
            context_of(opened),
            fair_deal.server_commitment,
            commitments_of(fair_deal),
            transcript_of(opened),
            revealed.secret,
            entropies_of(replay),
            views_of(opened),
        )
    except Lie as lie:
        raise Discrepancy(str(lie)) from lie
    if key != revealed.deal_key:
        raise Discrepancy("the key of the deals does not follow from the fair deal")
    _check_pseudonyms(replay)
    return Fairness(
        seeded=False,
        entropy_from=sum(bot.commitment != NO_COMMITMENT for bot in fair_deal.participants),
        participants=len(fair_deal.participants),
    )


def context_of(opened: journal_pb2.Opened) -> bytes:
    """Return the context of a match's fair deal.

    Raises `Discrepancy` if the participants are not sorted, or two have one name.
    """
    fair_deal = opened.fair_deal
    terms = DealTerms(
        server_id=fair_deal.server_id,
        deal_set=fair_deal.deal_set,
        game=opened.terms.game,
        rules_hash=fair_deal.rules_hash,
        deck=tuple(fair_deal.deck),
        boards=fair_deal.boards,
        plan_hash=fair_deal.plan_hash,
        participants=tuple(bot.participant for bot in fair_deal.participants),
        log_head=fair_deal.log_head,
    )
    try:
        return context(terms)
    except ValueError as error:
        raise Discrepancy(f"its fair deal is damaged: {error}") from error


def views_of(opened: journal_pb2.Opened) -> dict[str, bytes]:
    """Return the contexts for the participants, by participant.

    Raises `Discrepancy` as `context_of` does, or if some have salts and others have none.
    """
    participants = opened.fair_deal.participants
    lengths = {len(bot.salt) for bot in participants}
    if len(lengths) > 1 or lengths - {0, SALT_BYTES}:
        raise Discrepancy("its fair deal has salts that are not of 32 bytes, or not for all")
    context = context_of(opened)
    return {bot.participant: view_of(context, bot) for bot in participants}


def commitments_of(fair_deal: journal_pb2.FairDeal) -> dict[str, bytes]:
    """Return the commitments by participant."""
    return {bot.participant: bot.commitment for bot in fair_deal.participants}


def transcript_of(opened: journal_pb2.Opened) -> bytes:
    """Return the transcript that follows from the commitments of a match's fair deal.

    Raises `Discrepancy` as `context_of` does.
    """
    fair_deal = opened.fair_deal
    return transcript(context_of(opened), fair_deal.server_commitment, commitments_of(fair_deal))


def shown_transcript(
    opened: journal_pb2.Opened, participant: str, server_commitment: bytes
) -> bytes:
    """Return the hash over everything that a participant saw before it revealed, if the replay is true.

    Args:
      opened: How the match began.
      participant: Its name, one of the fair deal's.
      server_commitment: The arena's, as the participant received it.

    Raises `Discrepancy` as `context_of` does.
    """
    (salted,) = (bot for bot in opened.fair_deal.participants if bot.participant == participant)
    fixed, view = transcript_of(opened), view_of(context_of(opened), salted)
    if not salted.salt:
        return fixed  # protocol fd1 showed all commitments
    sealed = seal(view, fixed, salted.salt)
    return view_transcript(view, server_commitment, participant, salted.commitment, sealed)


def entropies_of(replay: Replay) -> dict[str, bytes]:
    """Return the entropy that each participant opened. Raises `Discrepancy` if there are not as many as participants."""
    participants, entropies = replay.opened.fair_deal.participants, replay.revealed.entropies
    if len(participants) != len(entropies):
        raise Discrepancy(
            f"it opens the entropy of {len(entropies)} participants, but has {len(participants)}"
        )
    return {bot.participant: entropy for bot, entropy in zip(participants, entropies, strict=True)}


def seats_of(replay: Replay) -> tuple[str, ...]:
    """Return the bots of the match by seat, as its plan has them: quoted name, slash, instance.

    Raises `Discrepancy` if the plan was not committed to, or does not name this match with its bots.
    """
    return _planned(replay)[replay.opened.match_id]


def check_log(replay: Replay, log: CommitmentLog) -> "LoggedMatch | None":
    """Compare the fair deal of a verified replay with the arena's public log.

    Returns:
      What the log contains of it; None if the replay is seeded.

    Raises `Discrepancy` naming the first difference.
    """
    opened, revealed = replay.opened, replay.revealed
    if not opened.HasField("fair_deal"):
        if opened.terms.seeded:
            return None
        raise Discrepancy(
            "it has neither a seed nor a fair deal, and every match of an arena with a public log "
            "has one of them: the fair deal was removed"
        )
    context = context_of(opened)
    committed, opening = log.committed.get(context), log.opened.get(context)
    if committed is None:
        raise Discrepancy("its fair deal is not in the public log")
    if committed.server_commitment != opened.fair_deal.server_commitment:
        raise Discrepancy("the public log has another commitment of the arena's")
    if log.heads[context] != opened.fair_deal.log_head:
        raise Discrepancy("its fair deal has another place in the public log")
    if opening is not None:  # a log that was copied before the opening lacks it
        if opening.void_reason:
            raise Discrepancy(f"by the public log its fair deal is void: {opening.void_reason}")
        if (opening.secret, *opening.entropies) != (revealed.secret, *revealed.entropies):
            raise Discrepancy("the public log opens its fair deal with other secrets")
    return LoggedMatch(opened.match_id, context, tuple(_planned(replay)))


@dataclass(frozen=True, slots=True)
class LoggedMatch:
    """A match whose fair deal is in the public log."""

    match_id: str
    context: bytes
    """Of its fair deal."""
    planned: tuple[str, ...]
    """The ids of all matches of the deal."""


@dataclass(frozen=True, slots=True)
class LogAccount:
    """The state of the deals of a public log, according to the replays that were verified with it."""

    missing_deals: tuple[bytes, ...]
    """The contexts of deals that were played according to the log and have no true replay."""
    missing_matches: tuple[str, ...]
    """The ids of matches without a true replay that are planned in the deal of a match that has one."""
    open_deals: int
    """The contexts of deals that are committed to, and neither opened nor void: they are in play, or the arena dropped them."""
    void_deals: Mapping[str, int]
    """Void deals by reason."""

    @property
    def complete(self) -> bool:
        """Whether each match that was played by the log has a true replay."""
        return not (self.missing_deals or self.missing_matches)


def account_of(log: CommitmentLog, logged: Collection[LoggedMatch]) -> LogAccount:
    """Search the matches of all deals of a public log among the `logged` ones."""
    deals = {match.context for match in logged}
    planned = {match_id for match in logged for match_id in match.planned}
    played = {context for context, entry in log.opened.items() if not entry.void_reason}
    void = Counter(entry.void_reason for entry in log.opened.values() if entry.void_reason)
    return LogAccount(
        tuple(sorted(played - deals)),
        tuple(sorted(planned - {match.match_id for match in logged})),
        len(log.unopened - deals),
        void,
    )


def _check_terms(replay: Replay) -> None:
    opened, spec = replay.opened, replay.spec()
    fair_deal = opened.fair_deal
    settings = {
        name: value
        for name, value in values_of_settings(opened.terms.options).items()
        if value is not None  # `replay.spec` has refused those
    }
    rules = rules_hash(opened.terms.game, opened.terms.rules_version, setting_texts(settings))
    if fair_deal.rules_hash != rules:
        raise Discrepancy("its fair deal was made for other rules or options")
    try:
        pack = first_pack(spec.terms.game.rules, spec.terms.options, spec.terms.seats)
    except BadOptions as error:
        raise Discrepancy(f"the rules cannot start this match: {error}") from error
    if tuple(fair_deal.deck) != pack:
        raise Discrepancy("its fair deal was made for another pack")
    if len(fair_deal.log_head) != _HASH_BYTES:
        raise Discrepancy("its fair deal does not name the head of the public log")


def _planned(replay: Replay) -> dict[str, tuple[str, ...]]:
    """Return the matches of the deal-set, with the bots by seat."""
    opened, revealed = replay.opened, replay.revealed
    if plan_hash(revealed.plan, revealed.plan_salt) != opened.fair_deal.plan_hash:
        raise Discrepancy("the plan is not the one that was committed to")
    if len(revealed.plan_salt) != ENTROPY_BYTES:
        raise Discrepancy(f"the plan's salt has {len(revealed.plan_salt)} bytes, not 32")
    planned: dict[str, tuple[str, ...]] = {}
    for line in revealed.plan.split("\n"):
        match_id, *seats = line.split(" ")
        if match_id in planned:
            raise Discrepancy(f"the plan names match {match_id} twice")
        planned[match_id] = tuple(seats[1:])  # the first is the rotation
    if opened.match_id not in planned:
        raise Discrepancy("the plan does not name this match")
    names = tuple(bot.rpartition("/")[0] for bot in planned[opened.match_id])
    if names != tuple(quote(name, safe="") for name in replay.names):
        raise Discrepancy("the plan has other bots at the seats of this match")
    return planned


def _check_participants(replay: Replay) -> None:
    opened, planned = replay.opened, _planned(replay)
    participants = [bot_of(bot) for bot in opened.fair_deal.participants]
    if len(set(participants)) < len(participants):
        raise Discrepancy("a bot takes part in the fair deal twice")
    players = {bot for seats in planned.values() for bot in seats}
    idle = sorted(set(participants) - players)
    if idle:
        raise Discrepancy(f"{idle[0]} takes part in the fair deal, but plays no match of it")
    forfeited = {out.seat for out in opened.forfeited_seats}
    for seat, bot in enumerate(planned[opened.match_id]):
        if bot not in participants and seat not in forfeited:
            raise Discrepancy(f"{bot} at seat {seat} was left out of the fair deal")


def _check_pseudonyms(replay: Replay) -> None:
    """Check which participant was which bot; protocol fd1 does not show it."""
    for bot in replay.opened.fair_deal.participants:
        name = pseudonym(replay.revealed.plan_salt, bot_of(bot))
        if bot.salt and bot.participant != name:
            raise Discrepancy(
                f"{bot_of(bot)} took part in the fair deal as {name}, and not as {bot.participant}"
            )


def _check_dice(replay: Replay) -> None:
    opened = replay.opened
    table = list(_planned(replay)).index(opened.match_id) + 1
    if opened.dice_table not in (COMMON, table):
        raise Discrepancy(
            f"its dice are those of table {opened.dice_table}, and it is table {table}"
        )
