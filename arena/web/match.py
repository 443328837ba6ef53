"""The pages of a match that is over, made of its replay.

A replay is played through the rules once and kept for the next page. That takes
seconds for a long match, so whoever serves others has it done in another process, by
`arena.web.drawing`.
"""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from arena.games.contract import Seat
from arena.replay.account import Account, CostlyHand, account_from, costliest_hands
from arena.replay.advice import advice
from arena.replay.beats import beats
from arena.replay.frames import Decision, Discrepancy, Frame, frames, of_hand
from arena.replay.read import Replay, Unplayable
from arena.replay.records import Damaged
from arena.replay.verify import Verified, verify
from arena.replay.words import BEFORE_THE_DEAL, FAULT_WORDS, aborted_words, count, result_words
from arena.scenes import Eyes, Viewer
from arena.web.document import Place
from arena.web.match_paths import Missing, all_eyes, eyes_named, match_path
from arena.web.sheet import Sheet, table_of
from arena.web.slugs import slug
from arena.web.steps import Step, steps_of
from arena.web.trees import Element, Tree, element
from arena.web.viewer import About, HandPage, Links
from arena.web.winners import winning_seats, won_mark

_KEPT: Final = 4
"""Matches that are kept played through."""


@dataclass(frozen=True, slots=True)
class Played:
    """A replay, played through the rules as far as it goes."""

    replay: Replay
    frames: tuple[Frame, ...]
    problem: str
    """Why it goes no further, or is not true; empty if nothing is wrong."""
    verified: Verified | None = None
    accounts: dict[Seat, Account] = field(default_factory=dict)
    """What became of whom, as far as somebody asked."""

    def account(self, seat: Seat) -> Account | None:
        """What became of the bot at a seat; None where the replay is not true."""
        if self.verified is None:
            return None
        if seat not in self.accounts:
            self.accounts[seat] = account_from(self.replay, self.verified, self.frames, seat)
        return self.accounts[seat]

    @property
    def hands(self) -> int:
        """Hands that have pages."""
        return _shown_hand(self.frames[-1]) + 1 if self.frames else 0


def _shown_hand(frame: Frame) -> int:
    return frame.next_hand if frame.game.rules.to_act(frame.state) else frame.hand


def played_through(replay: Replay) -> Played:
    """Play a replay as far as it goes by the rules.

    Raises:
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    found: list[Frame] = []
    try:
        verified = verify(replay, seen=found.append)
    except Discrepancy as error:
        # What is false may be the deals or the result, and the pictures go further than that.
        pictures: list[Frame] = []
        with contextlib.suppress(Discrepancy):
            pictures.extend(frames(replay))
        return Played(replay, tuple(pictures), str(error))
    return Played(replay, tuple(found), "", verified)


@lru_cache(_KEPT)
def _opened(path: Path, stamp: int) -> Played:  # noqa: ARG001
    """A replay file, played through; `stamp` tells one content from another."""
    return played_through(Replay.open(path))


def render(path: Path, stamp: int, eye: str, hand: int, step: str, tournament: str) -> str:
    """A page of the viewer, as HTML: the match seen with `eye`, its hand counted from 1.

    Raises:
      Missing: if the match has no such eyes, hand or step.
    """
    try:
        played = _opened(path, stamp)
    except (Damaged, Unplayable) as error:
        return without_pictures(path.stem, str(error), tournament)
    if not played.frames:
        return without_pictures(path.stem, played.problem or "Nothing was played.", tournament)
    return hand_page(played, eye, hand, step, tournament)


def hand_page(played: Played, eye: str, hand: int, step: str = "", tournament: str = "") -> str:
    """As `render`, of a match that was played through."""
    replay = played.replay
    seats = len(replay.names)
    eyes = eyes_named(eye, seats)
    if eyes is None:
        raise Missing(f"the match has no eyes {eye!r}: all, spectator, seat-0 to seat-{seats - 1}")
    if not 1 <= hand <= played.hands:
        raise Missing(f"the match has no hand {hand}: it has 1 to {played.hands}")
    steps = _steps(played, eyes, hand - 1)
    at = next((at for at, each in enumerate(steps) if each.label == step), 0 if not step else -1)
    if at < 0:
        raise Missing(
            f"hand {hand} has no step {step}: it has {steps[0].label} to {steps[-1].label}"
        )
    match_id = replay.opened.match_id
    place = Place(match_path(match_id, eyes, hand - 1))
    page = HandPage(
        _about(played),
        eyes,
        all_eyes(seats),
        hand - 1,
        played.hands,
        steps,
        _costliest(played, eyes),
        _below(played, place, eyes, tournament),
    )
    links = Links(lambda eyes, hand: place.to(match_path(match_id, eyes, hand)), place)
    return page.html(links, at)


def place_of_step(path: Path, stamp: int, step: str) -> int:
    """The hand, from 1, in which a step is.

    Raises:
      Missing: if there is no such step.
    """
    played = _opened(path, stamp)
    index = step.partition(".")[0]
    frame = next((each for each in played.frames if str(each.index) == index), None)
    if frame is None:
        raise Missing(f"the match has no step {step}: it has 0 to {len(played.frames) - 1}")
    part = frame.next_hand if "." in step or not frame.decisions else frame.hand
    return min(part, played.hands - 1) + 1


def _steps(played: Played, eyes: Eyes, hand: int) -> Sequence[Step]:
    terms = played.replay.spec().terms
    where = of_hand(played.frames, hand)
    bank_s = terms.time_control.bank_ms / 1000
    seen = beats(played.frames[where], eyes, terms.options, terms.seats)
    before = _latest(played.frames[: where.start], terms.seats)
    return list(steps_of(seen, eyes, played.replay.names, bank_s, hand, before))


def _latest(played: Sequence[Frame], seats: int) -> Sequence[Decision]:
    """The last decision of each seat that has made one."""
    found: dict[Seat, Decision] = {}
    for frame in reversed(played):
        for each in reversed(frame.decisions):
            found.setdefault(each.seat, each)
        if len(found) == seats:
            break
    return list(found.values())


def _costliest(played: Played, eyes: Eyes) -> int | None:
    """The hand, from 0, in which one of those who are looked at fell furthest behind."""
    if played.verified is None:
        return None
    scores, seats = played.verified.outcome.hand_scores, range(len(played.replay.names))
    seen = seats if isinstance(eyes, Viewer) else [eyes]
    found = [each for seat in seen for each in costliest_hands(scores, Seat(seat))[:1]]
    return max(found, key=lambda each: each.behind).hand if found else None


def _about(played: Played) -> About:
    replay = played.replay
    return About(
        replay.spec().terms.game.title,
        replay.opened.match_id,
        replay.names,
        _begun(replay),
        result_words(replay),
        played.problem,
    )


def _begun(replay: Replay) -> str:
    return f"{datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC):%d %B %Y, %H:%M} UTC"


def _below(played: Played, place: Place, eyes: Eyes, tournament: str) -> Element:
    replay = played.replay
    match_id = replay.opened.match_id
    ended: list[Tree] = [_result(played, place)]
    if replay.cause is not None:
        ended.insert(0, element("p", "problem fault", aborted_words(replay.cause, "")))
    own = [eyes] if not isinstance(eyes, Viewer) else list(map(Seat, range(len(replay.names))))
    stories = [] if replay.cause is not None else _stories(played, own, place)
    links: list[Tree] = [
        element(
            "li",
            "",
            element(
                "a",
                "",
                "replay file",
                href=place.to(f"replays/{slug(match_id)}", ".replay"),
                download="",
            ),
        ),
        element("li", "", element("a", "", "as JSON", href=place.to(f"m/{match_id}", ".json"))),
        element("li", "", element("a", "", "verify its deals", href=place.to("fair"))),
        element(
            "li",
            "",
            element(
                "a",
                "",
                f"about {replay.spec().terms.game.title}",
                href=place.to(f"games/{replay.spec().terms.game.id}"),
            ),
        ),
    ]
    if tournament:
        words = element(
            "a",
            "",
            "tournament ",
            element("bdi", "", tournament),
            href=place.to(f"t/{slug(tournament)}"),
        )
        links.append(element("li", "", words))
    return element(
        "div",
        "below",
        element("section", "", element("h2", "", "Result"), *ended, element("ul", "links", *links)),
        *stories,
    )


def _result(played: Played, place: Place) -> Element:
    replay = played.replay
    won = winning_seats(replay.closed.places)
    return table_of(
        "Result by seat",
        ("seat", "bot", "score", "place", "faults", "mean time", "longest"),
        [
            (
                str(row["seat"]),
                element(
                    "span",
                    "",
                    element(
                        "a",
                        "",
                        element("bdi", "", row["bot"]),
                        href=place.to(f"bots/{slug(row['bot'])}"),
                    ),
                    *((" ", won_mark(len(won))) if row["seat"] in won else ()),
                ),
                "" if row["score"] is None else f"{row['score']:+d}",
                "" if row["place"] is None else str(row["place"]),
                ", ".join(f"{number} {kind}" for kind, number in row["faults"].items()) or "none",
                f"{row['mean_ms']:.1f} ms",
                f"{row['longest_ms']:.1f} ms",
            )
            for row in _seats(replay)
        ],
        numbers=(0, 2, 3, 5, 6),
        phone=(1, 2, 3, 4),
    )


def _seats(replay: Replay) -> list[dict[str, Any]]:
    """What a match came to, seat by seat."""
    from arena.referee.spec import FaultKind

    rows = []
    for seat, name in enumerate(replay.names):
        own = [each for each in replay.decided if each.seat == seat]
        times = [each.charged_us / 1000 for each in own if not each.unasked]
        kinds = Counter(FaultKind(each.fault).name.lower() for each in own if each.fault)
        rows.append(
            {
                "seat": seat,
                "bot": name,
                "score": replay.closed.scores[seat] if replay.closed.scores else None,
                "place": replay.closed.places[seat] if replay.closed.places else None,
                "decisions": len(own),
                "faults": dict(kinds),
                "mean_ms": fmean(times) if times else 0.0,
                "longest_ms": max(times, default=0.0),
            }
        )
    return rows


def _stories(played: Played, seats: Sequence[Seat], place: Place) -> list[Tree]:
    """For each seat that was not first: what it lost by, from what everybody may read now."""
    replay = played.replay
    made: list[Tree] = []
    for seat in seats:
        if not replay.closed.places or replay.closed.places[seat] == 1:
            continue
        account = played.account(seat)
        if account is None:
            continue
        said: list[Tree] = [
            element(
                "li",
                "",
                element(
                    "a",
                    "",
                    f"Step {each.step}",
                    href=_step_link(place, replay, seat, each.hand, each.step),
                ),
                f": it {FAULT_WORDS[each.kind]}.",
            )
            for each in account.faults[:10]
        ]
        if account.forfeited_before:
            said.append(element("li", "", f"It {BEFORE_THE_DEAL}."))
        said += [element("li", "", text) for _, text in advice(account)]
        said += [_costly(each, place, replay, seat) for each in account.costliest]
        if said:
            heading = element(
                "h2", "", "Why did ", element("bdi", "", replay.names[seat]), " lose?"
            )
            made.append(element("section", "why", heading, element("ul", "", *said)))
    return made


def _costly(costly: CostlyHand, place: Place, replay: Replay, seat: Seat) -> Element:
    link = place.to(match_path(replay.opened.match_id, seat, costly.hand))
    words = f": {costly.score:+d}, {costly.behind:g} behind the others."
    return element("li", "", element("a", "", f"Hand {costly.hand + 1}", href=link), words)


def _step_link(place: Place, replay: Replay, seat: Seat, hand: int, step: int) -> str:
    return f"{place.to(match_path(replay.opened.match_id, seat, hand))}?step={step}"


def as_json(path: Path) -> Mapping[str, Any]:
    """What a match came to, as values that JSON can hold."""
    replay = Replay.open(path)
    return {
        "match": replay.opened.match_id,
        "game": replay.opened.terms.game,
        "rules_version": replay.opened.terms.rules_version,
        "started_unix_ms": replay.opened.start_unix_ms,
        "ending": replay.ending.name.lower(),
        "decisions": len(replay.decided),
        "winners": [replay.names[seat] for seat in winning_seats(replay.closed.places)],
        "seats": _seats(replay),
        "replay": f"/replays/{slug(replay.opened.match_id)}.replay",
    }


def without_pictures(match_id: str, why: str, tournament: str) -> str:
    """The page of a match that cannot be drawn: why, and its file."""
    place = Place(f"m/{match_id}/all/1")
    links: list[Tree] = [
        element("a", "", "The replay file", href=place.to(f"replays/{slug(match_id)}", ".replay"))
    ]
    if tournament:
        links += [" · ", element("a", "", "its tournament", href=place.to(f"t/{slug(tournament)}"))]
    sheet = Sheet(
        f"Match {match_id}",
        (element("p", "problem fault", f"It cannot be shown: {why}"), element("p", "", *links)),
        {},
    )
    return sheet.html(place)


def deals_in_words(hands: int, decisions: int) -> str:
    """How long a match was."""
    return f"{count(hands, 'hand')}, {count(decisions, 'decision')}"
