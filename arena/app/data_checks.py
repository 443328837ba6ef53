"""The findings of `arena doctor data`: whether the parts of a data folder agree.

The store, the replays, the public log of deals and the official standings hold the same results, and each can be changed
or damaged alone. A replay follows from its own records and the arena's signature, so it is compared with the store, and
not the other way round. A match whose replay was pruned is compared with official standings alone.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from arena.app.findings import Finding, Readiness
from arena.app.standings_file import NotVerified, verify
from arena.contests.official_standings import official_lines
from arena.live.matches.results import match_outcome
from arena.records.deal_book import CommitmentLog, read_log
from arena.records.fairness import account_of
from arena.records.read import REPLAY_SUFFIX
from arena.records.signing import kept_key
from arena.records.verify import verify_file
from arena.results.deal_sets import bot_of
from arena.store import Store, StoredMatch, StoreError, is_there, open_store
from arena.store.data_folder import store_path
from arena.store.matches import MAX_PAGE, MatchFilter

MOST_SHOWN: Final = 20
"""The maximal number of problems of one part that are listed; the others are counted."""
RESTORE: Final = "find out who wrote into the folder, and restore a backup: arena restore"

Progress = Callable[[str], None]


def examine_data(data: Path, progress: Progress = lambda _: None) -> Iterator[Finding]:
    """Compare the parts of a data folder. Nothing is changed. Raises `StoreError` if the store cannot be read."""
    if not is_there(store_path(data)):
        cure = "name the folder with --data"
        yield Finding("data", Readiness.LACKS, f"nothing was played in {data} yet", cure)
        return
    # Deals are in the log before their replays, so matches that an arena plays during the check are in both.
    replays = data / "replays"
    files = sorted(replays.glob(f"*{REPLAY_SUFFIX}"))
    try:
        key = kept_key(data).public_key
        log = read_log(data / "commitments")
    except (OSError, ValueError) as error:
        yield Finding("key and log", Readiness.LACKS, str(error), RESTORE)
        return
    yield from _findings("log of deals", "whole", iter(log.damage))
    with open_store(store_path(data)) as store:
        progress("the store")
        yield from _findings("store", "its rows agree with each other", iter(store.violations()))
        problems = _replays(store, replays, files, log, key, progress)
        yield from _findings(
            "replays", f"{len(files)} are true, and as the store has them", problems
        )
        progress("official standings")
        problems = _standings(store, key)
        yield from _findings("standings", "official ones follow from their deal-sets", problems)


def _findings(subject: str, fine: str, problems: Iterator[str]) -> Iterator[Finding]:
    """Yield a finding for each problem; a good one if there is none."""
    has_problems = False
    for problem in islice(problems, MOST_SHOWN):
        has_problems = True
        yield Finding(subject, Readiness.LACKS, problem, RESTORE)
    if further := sum(1 for _ in problems):
        yield Finding(subject, Readiness.LACKS, f"and {further} more", RESTORE)
    if not has_problems:
        yield Finding(subject, Readiness.OK, fine)


def _replays(
    store: Store,
    folder: Path,
    files: Sequence[Path],
    log: CommitmentLog,
    key: bytes,
    progress: Progress,
) -> Iterator[str]:
    """Return problems of replays, and differences from the store. An arena may publish and prune some during the check."""
    missing = {match.outcome.match_id for match in _published(store)}
    logged = []
    for number, path in enumerate(files, 1):
        match_id = path.name.removesuffix(REPLAY_SUFFIX)
        missing.discard(match_id)
        verification = verify_file(path, log=log, arena=key, match_id=match_id)
        verified, stored = verification.verified, store.matches().get(match_id)
        if verification.logged is not None:
            logged.append(verification.logged)
        if verified is None and not path.exists():
            missing.add(match_id)
        elif verified is None:
            yield f"the replay of {match_id}: {verification.problem}"
        elif stored is None:
            yield f"the replay of {match_id} is of no match of the store"
        else:
            played = StoredMatch(
                match_outcome(verified.outcome), verified.game, verified.bots, stored.deal_set, 0
            )
            yield from _differences(stored, played)
        progress(f"{number} of {len(files)} replays")
    for match_id in account_of(log, logged).missing_matches:
        if store.matches().get(match_id) is None:
            yield f"match {match_id} is of a deal that was played, and the store has no result of it"
    for match_id in sorted(missing):
        if (folder / f"{match_id}{REPLAY_SUFFIX}").exists():
            continue
        again = store.matches().get(match_id)
        if again is not None and again.published:
            yield f"the replay of {match_id} is missing, and was not pruned"


def _published(store: Store) -> Iterator[StoredMatch]:
    after = None
    while page := store.matches().find(MatchFilter(published=True), limit=MAX_PAGE, after=after):
        yield from page
        after = page[-1].ended_unix_ms, page[-1].outcome.match_id


def _differences(stored: StoredMatch, played: StoredMatch) -> Iterator[str]:
    match_id = stored.outcome.match_id
    if stored.game != played.game:
        yield f"match {match_id} is of {stored.game} in the store, and of {played.game} by its replay"
    if tuple(map(bot_of, stored.bots)) != tuple(map(bot_of, played.bots)):
        yield (
            f"match {match_id} has the bots {', '.join(stored.bots)} in the store, and "
            f"{', '.join(played.bots)} by its replay"
        )
    for field in dataclasses.fields(stored.outcome):
        if field.name == "evidence" or not field.compare:  # replays do not have this field
            continue
        kept, true = getattr(stored.outcome, field.name), getattr(played.outcome, field.name)
        if kept != true:
            word = field.name.replace("_", " ")
            yield f"match {match_id} has the {word} {_shown(kept)} in the store, and {_shown(true)} by its replay"


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _standings(store: Store, key: bytes) -> Iterator[str]:
    """Return problems of official standings that do not follow from their deal-sets, or that this arena has not signed."""
    held = store.competitions()
    for competition in held.all():
        for number in range(1, competition.official + 1):
            official = held.official(competition.name, number)
            assert official is not None
            try:
                verify(official_lines(official), public_key=key)
            except (NotVerified, StoreError) as error:
                yield f"official standings {number} of {competition.name}: {error}"
