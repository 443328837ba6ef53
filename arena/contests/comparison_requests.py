"""Comparison requests of owners: what they may request, and the verdict so far. Nothing is played here."""

import itertools
import json
import threading
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from arena.bots.manifest import declares
from arena.contests.pair_margins import measure
from arena.errors import RefusalError
from arena.referee.terms import MatchTerms, TimeControl
from arena.referee.wire.terms import terms_json, terms_of_json
from arena.results.anytime.multiple_tests import holds_among
from arena.results.anytime.verdict import Decision, Verdict, verdict
from arena.results.deal_sets import bot_of
from arena.results.states import State
from arena.results.versions import VersionEvent
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.store import (
    BotKind,
    Challenge,
    ComparisonRequest,
    ComparisonRequests,
    ComparisonState,
    Competitions,
    NoComparison,
    Quota,
    Store,
    Version,
)
from arena.store.moments import iso_utc

CORE_MS_A_DAY: Final = 60 * 60_000
"""Processor time for one owner's comparisons on a day, in milliseconds."""
MOST_OPEN: Final = 8
"""Open comparisons of one owner: a request has a cost before any processor time is counted."""
MOST_CHALLENGES: Final = 32
"""Challenges that one owner makes on a day."""
QUOTA: Final = Quota(CORE_MS_A_DAY, MOST_OPEN, MOST_CHALLENGES)
DEFAULT_CHALLENGE_DEAL_SETS: Final = 16
MOST_CHALLENGE_DEAL_SETS: Final = 64
KNOWN_VERDICTS: Final = 4_096
"""The number of cached verdicts.

One takes up to 20 ms, and each answer about a comparison needs the verdicts of all comparisons of its owner.
"""


DECLINED: Final = "the owner of the challenged bot declined it"
"""Why a declined challenge ended. Such a challenge is not opened again."""


class NotAccepted(RefusalError, ValueError, reason="NOT_ACCEPTED"):
    """The bot accepts no challenges in the game."""


class BadComparison(ValueError):
    """The comparison is not possible; the text says why."""


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """A comparison that an owner requests."""

    first: str
    """A version, as `ann@7`."""
    second: str
    terms: MatchTerms
    each_other: bool
    most: int
    """The number of deal-sets after which it ends undecided."""
    same_within: float | None
    challenge: bool = False
    """Whether the second bot may be any bot that accepts challenges. Then neither bot needs a version, and `each_other` is true."""

    def as_json(self, field: tuple[str, ...]) -> dict[str, Any]:
        """Return the request as JSON, with the opponents that were active when it was made."""
        return {
            "first": self.first,
            "second": self.second,
            "terms": terms_json(self.terms),
            "each_other": self.each_other,
            "most": self.most,
            "same_within": self.same_within,
            "field": list(field),
        }


def request_comparison(
    store: Store, owner: str, wanted: ComparisonQuery, *, now: datetime
) -> ComparisonRequest:
    """Request a comparison of two versions of an owner's bots, or a challenge of another bot.

    If the owner has compared these versions by these terms before, that comparison continues with its margins, its
    opponents and the new limits. A decided comparison is returned unchanged.

    Raises:
      BadComparison: if a version does not exist or belongs to another owner, or if the two cannot
        be compared by these terms. NotAccepted, TooManyChallenges: if the challenged bot does not
        accept, or the owner has made too many challenges today.
      QuotaSpent: if the owner's comparisons of today have used the allowed processor time.
      TooManyOpen: if the owner has `MOST_OPEN` other open comparisons.
    """
    challenge, day = None, ""
    if wanted.challenge:
        _require_brief(wanted.terms)
        first, second = _version_of(store, wanted.first), _version_of(store, wanted.second)
        challenge = _challenge_of(store, owner, second, wanted.terms)
        most = min(wanted.most or DEFAULT_CHALLENGE_DEAL_SETS, MOST_CHALLENGE_DEAL_SETS)
        wanted = replace(wanted, first=first, second=second, most=most, each_other=True)
        day = iso_utc(now)[:10]
    mine = (wanted.first,) if wanted.challenge else (wanted.first, wanted.second)
    versions = [_own_version(store, named, owner) for named in mine]
    if wanted.challenge:
        _require_plays(versions[0], wanted.terms)
    if wanted.first == wanted.second:
        raise BadComparison(f"{wanted.first} is not compared with itself")
    field = tuple(
        str(version)
        for version in active_versions(store)
        if not wanted.each_other and version.bot not in _bots(wanted)
    )
    requests, asked = store.comparison_requests(), wanted.as_json(field) | {"day": day}
    for earlier in requests.of_owner(owner):
        if _compared(earlier.query) == _compared(asked):
            return _continued(requests, earlier, asked, now)
    return requests.create(owner, asked, challenge, now=now, quota=QUOTA)


def challenges_of(store: Store, owner: str) -> tuple[ComparisonRequest, ...]:
    """Return the challenges of other owners to an owner's bots, the oldest first."""
    bots = [bot.name for bot in store.registry().bots_of(owner)]
    requests = store.comparison_requests().of_opponents(bots)
    return tuple(request for request in requests if request.owner != owner)


def seen_by(store: Store, number: int, owner: str) -> ComparisonRequest:
    """Return a comparison of an owner, or a challenge to one of the owner's bots.

    Raises:
      NoComparison: if it does not exist, or is neither of the two.
    """
    request = store.comparison_requests().get(number)
    if request.owner != owner and not _is_challenged(store, request, owner):
        raise NoComparison(str(number))
    return request


def end_request(store: Store, number: int, owner: str) -> None:
    """Cancel a comparison of an owner, or decline a challenge to one of the owner's bots.

    Raises:
      NoComparison: if there is none that the owner may see.
      BadComparison: if the bot has won a competition of the game and therefore accepts every
        challenge.
    """
    request, reason = seen_by(store, number, owner), "its owner stopped it"
    if request.owner != owner:
        game, reason = request.query["terms"]["game"], DECLINED
        if _has_won(store.competitions(), request.opponent, game):
            raise BadComparison(
                f"{request.opponent} has won a competition of {game}, and accepts challenges always"
            )
    store.comparison_requests().end(number, ComparisonState.STOPPED, reason)


def _is_challenged(store: Store, request: ComparisonRequest, owner: str) -> bool:
    bot = store.registry().find_bot(request.opponent) if request.opponent else None
    return bot is not None and bot.owner == owner


def _own_version(store: Store, named: str, owner: str) -> Version:
    registry = store.registry()
    bot, at, number = named.partition("@")
    known = registry.find_bot(bot)
    if not at or not number.isdecimal() or known is None or known.owner != owner:
        raise BadComparison(f"there is no version {named!r} of yours: name it as in my-bot@7")
    version = next((v for v in registry.versions(bot) if v.number == int(number)), None)
    if version is None or version.state not in _PLAYABLE:
        state = "not there" if version is None else version.state
        raise BadComparison(f"{named} is {state}: only what has qualified is compared")
    return version


def _require_plays(version: Version, terms: MatchTerms) -> None:
    if not declares(version.manifest, terms):
        raise BadComparison(f"{version} does not play {terms.game.id} with {terms.seats} seats")


def _version_of(store: Store, named: str) -> str:
    if "@" in named or named in HOUSE_BOTS:
        return named
    active = store.registry().active(named)
    if active is None:
        raise BadComparison(
            f"{named!r} is no submitted bot with an active version; the arena's own bots are "
            f"{', '.join(HOUSE_BOTS)}"
        )
    return str(active)


def _challenge_of(store: Store, owner: str, opponent: str, terms: MatchTerms) -> Challenge:
    """Return the day's count of challenges that a challenge of a version adds to.

    The arena's own bots, the owner's other bots and bots that have won a competition of the game accept every
    challenge.

    Raises `BadComparison` or `NotAccepted` if it cannot be challenged.
    """
    bot, game = bot_of(opponent), terms.game.id
    if opponent in HOUSE_BOTS:
        return Challenge(bot, None)
    known, active = store.registry().find_bot(bot), store.registry().active(bot)
    if known is None or active is None or str(active) != opponent:
        raise BadComparison(f"{opponent} is not active: name the bot alone, as in {bot}")
    _require_plays(active, terms)
    if known.owner == owner or _has_won(store.competitions(), bot, game):
        return Challenge(bot, None)
    declared = {one["id"]: one for one in active.manifest.get("games", ())}
    accepts = declared[game].get("accepts_challenges", 0) if game in declared else 0
    if not accepts:
        raise NotAccepted(f"{bot!r} accepts none in {game}")
    return Challenge(bot, accepts)


def _has_won(competitions: Competitions, bot: str, game: str) -> bool:
    for competition in competitions.all():
        if competition.state is State.FINISHED and competition.official:
            official = competitions.official(competition.name)
            for standings in json.loads(official.body)["games"] if official else ():
                first = [bot_of(row["bot"]) for row in standings["rows"] if row["place"] == 1]
                if standings["game"] == game and bot in first:
                    return True
    return False


def _require_brief(terms: MatchTerms) -> None:
    """Require the standard time control or a faster one, as other owners wait for the same processors."""
    longest, given = TimeControl(), terms.time_control
    if given.move_ms > longest.move_ms or given.bank_ms > longest.bank_ms or given.increment_ms > 0:
        raise BadComparison("a challenge is played at the standard time control or a faster one")


def _continued(
    requests: ComparisonRequests,
    earlier: ComparisonRequest,
    asked: Mapping[str, Any],
    now: datetime,
) -> ComparisonRequest:
    """Return an earlier comparison with the new limits; it is reopened if they allow more deal-sets."""
    if earlier.reason == DECLINED:
        return earlier
    query = {**earlier.query, **{name: asked[name] for name in _LIMITS}}
    judged = verdict_of(replace(earlier, query=query))
    if earlier.state is ComparisonState.OPEN:
        is_same = query == earlier.query
    else:
        is_over = judged.decision is not Decision.OPEN or len(earlier.margins) >= query["most"]
        is_same = is_over and judged.decision is verdict_of(earlier).decision
    if is_same:
        return earlier
    return requests.reopen(earlier, query, now=now, quota=QUOTA)


_LIMITS: Final = ("most", "same_within")
"""What may change when the same comparison is requested again."""


def _compared(query: Mapping[str, Any]) -> dict[str, Any]:
    asked = {name: query[name] for name in ("first", "second", "terms", "each_other", "day")}
    as_stored: dict[str, Any] = json.loads(json.dumps(asked))  # lists instead of tuples
    return as_stored


def _bots(wanted: ComparisonQuery) -> frozenset[str]:
    return frozenset(version.partition("@")[0] for version in (wanted.first, wanted.second))


_PLAYABLE: Final = frozenset({VersionEvent.QUALIFIED, VersionEvent.ACTIVE, VersionEvent.INACTIVE})


def active_versions(store: Store) -> tuple[Version, ...]:
    """Return the active versions of all uploaded bots, by name."""
    registry = store.registry()
    return tuple(
        version
        for bot in registry.names(BotKind.UPLOADED)
        for version in registry.versions(bot)
        if version.state is VersionEvent.ACTIVE
    )


class JudgedComparison(NamedTuple):
    """A comparison with its verdict so far, and its place among all comparisons of its owner."""

    request: ComparisonRequest
    verdict: Verdict
    number: int
    """Its number among the owner's comparisons, from 1."""
    holds_among_all: bool
    """Whether the verdict also holds after a correction for the number of comparisons of the owner."""


def judged(all_of_owner: Sequence[ComparisonRequest]) -> dict[int, JudgedComparison]:
    """Return all comparisons of one owner by id, in order. Challenges have numbers and a count of their own."""
    judged_by_id: dict[int, JudgedComparison] = {}
    for challenges in (False, True):
        requests = [one for one in all_of_owner if bool(one.opponent) is challenges]
        verdicts = [verdict_of(request) for request in requests]
        holds = holds_among([verdict.e_value for verdict in verdicts])
        rows = zip(requests, verdicts, itertools.count(1), holds, strict=False)
        judged_by_id |= {row[0].id: JudgedComparison(*row) for row in rows}
    return dict(sorted(judged_by_id.items()))


def verdict_of(request: ComparisonRequest) -> Verdict:
    """Return the verdict of one comparison so far."""
    bound = measure(terms_of_json(request.query["terms"])).bound
    return _VERDICTS.of(request.margins, bound, request.query["same_within"])


class _KnownVerdicts:
    """A cache of the latest verdicts. The key has all that a verdict depends on except the margins. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[bytes, float | None, float | None], Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self, margins: Sequence[float], bound: float | None, same_within: float | None
    ) -> Verdict:
        """Return what `verdict` returns, computed once."""
        name = sha256(array("d", margins)).digest(), bound, same_within
        with self._lock:
            if name not in self._known:
                # The lock is held, so that two calls for the same comparison do not compute it twice.
                self._known[name] = verdict(margins, bound, same_within=same_within)
                if len(self._known) > KNOWN_VERDICTS:
                    self._known.popitem(last=False)
            self._known.move_to_end(name)
            return self._known[name]


_VERDICTS: Final = _KnownVerdicts()
