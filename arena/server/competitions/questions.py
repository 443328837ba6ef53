"""Answers the questions of owners, one after the other, on what the competitions leave of the machine."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import trio
from trio.to_thread import run_sync

from arena.anytime.bet import BeyondBound
from arena.anytime.verdict import Decision, Verdict, verdict
from arena.jail import BadCommand
from arena.server.arena import Arena
from arena.server.competitions.comparison import Comparison, Unfinished, name_of, play
from arena.server.competitions.players import Players
from arena.server.inquiries import CORE_MS_A_DAY
from arena.server.refusals import Refused
from arena.store import Question, Questions, QuestionState, Store, StoreError
from arena.wire.terms import terms_of_json

LOOK_S: Final = 1.0

_log = logging.getLogger(__name__)


class Answering:
    """Answers what is asked, from the store. Run in trio."""

    def __init__(
        self, store: Store, arena: Arena, players: Players, *, now: Callable[[], datetime]
    ) -> None:
        self._store, self._questions = store, store.questions()
        self._arena, self._players = arena, players
        self._now = now
        self._news = store.news()

    async def run(self) -> None:
        """Answer one question after the other, until cancelled."""
        while True:
            try:
                if self._news():
                    for question in await run_sync(self._questions.open):
                        await self._answer(question)
            except StoreError as error:
                self._news.forget()
                _log.warning("questions wait for the store", extra={"why": str(error)})
            await trio.sleep(LOOK_S)

    async def _answer(self, question: Question) -> None:
        try:
            comparison = await run_sync(self._comparison, question)
            await answered(
                question, comparison, self._questions, self._arena, self._players, self._spent
            )
        except (BadCommand, BeyondBound, Unfinished, KeyError, ValueError) as error:
            # Not the text of an error of ours: what its owner may know is that it ended.
            _log.warning(
                "a question was stopped", extra={"question": question.id, "why": str(error)}
            )
            why = (
                str(error) if isinstance(error, (BadCommand, Unfinished)) else "it cannot be played"
            )
            await run_sync(self._questions.end, question.id, QuestionState.STOPPED, why)
        except Refused as refused:
            _log.info("a question waits for the arena", extra={"why": refused.text})
            await trio.sleep_forever()  # it is closing; the next process goes on

    def _comparison(self, question: Question) -> Comparison:
        wanted: Mapping[str, Any] = question.ask
        registry = self._store.registry()
        for each in (wanted["first"], wanted["second"], *wanted["field"]):
            if not self._players.is_launched(each):
                bot, _, number = each.partition("@")
                self._players.add_version(registry.version(bot, int(number)))
        return Comparison(
            name_of("question", question.id, question.asked_unix_ms),
            terms_of_json(wanted["terms"]),
            wanted["first"],
            wanted["second"],
            tuple(wanted["field"]),
            wanted["each_other"],
            seed=f"question {question.id}",
        )

    def _spent(self, question: Question) -> bool:
        spent = self._questions.spent_ms(question.owner, now=self._now())
        return spent >= CORE_MS_A_DAY


async def answered(
    question: Question,
    comparison: Comparison,
    questions: Questions,
    arena: Arena,
    players: Players,
    spent: Callable[[Question], bool],
) -> None:
    """Play for a question until it is decided, stopped, or has reached its limit."""
    margins, core_ms = list(question.margins), question.core_ms
    bound, most = comparison.measure.bound, question.ask["most"]
    while True:
        said = await run_sync(_said, margins, bound, question.ask["same_within"])
        if said.decision is not Decision.OPEN:
            await run_sync(questions.end, question.id, QuestionState.ANSWERED, "it is decided")
            return
        if len(margins) >= most:
            why = f"not decided after {most} deal-sets"
            await run_sync(questions.end, question.id, QuestionState.STOPPED, why)
            return
        if await run_sync(spent, question):
            why = "the owner's play for a day is used up"
            await run_sync(questions.end, question.id, QuestionState.STOPPED, why)
            return
        widest = max((abs(each) for each in margins), default=0.0)
        margin, lasted_s = await play(comparison, len(margins) + 1, widest, arena, players)
        margins.append(margin)
        core_ms += int(lasted_s * 1000)
        if not await run_sync(questions.played, question.id, margins, core_ms):
            return  # cancelled meanwhile


def _said(margins: list[float], bound: float | None, same_within: float | None) -> Verdict:
    return verdict(margins, bound, same_within=same_within)
