"""The two gRPC servers of an arena process: a public one, and one for sandboxed bots."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import grpc

from arena.api.admission.calls import CallInterceptor
from arena.api.bots import BotCalls
from arena.api.call_metrics import CallMetrics
from arena.api.comparisons import ComparisonCalls
from arena.api.competitions import FRESH_S, CompetitionCalls, RecentResults
from arena.api.health import Health
from arena.api.keys import KeyCalls
from arena.api.lobby import LobbyCalls
from arena.api.owners import OwnerCalls
from arena.api.play import SERVICE, play_handler
from arena.api.replays import ReplayCalls
from arena.api.spectating import SpectateCalls
from arena.api.standings import StandingsCalls
from arena.api.transport import new_server, offer
from arena.api.webhooks import WebhookCalls
from arena.api.work import WorkCalls
from arena.app.open_folder import OpenFolder
from arena.contests.human_opponents import HumanOpponents
from arena.contests.webhook_post import WebhookPost
from arena.live.arena import Arena
from arena.live.metrics import Metrics
from arena.live.self_probe import SelfProbe


def play_server(arena: Arena, folder: OpenFolder, metrics: Metrics) -> grpc.aio.Server:
    """Return the server of sandboxed bots, which has only the play service."""
    server = new_server(_interceptors(arena, metrics))
    flush = folder.records.journal.flush
    play = play_handler(arena, flush, arena.now_s, metrics, sandboxed=True)
    server.add_generic_rpc_handlers((play,))
    return server


def arena_server(
    arena: Arena,
    folder: OpenFolder,
    metrics: Metrics,
    probe: SelfProbe,
    health: Health,
    servicers: Sequence[object],
) -> grpc.aio.Server:
    """Return the public server; it has `servicers` besides play and health."""
    server = new_server(_interceptors(arena, metrics, probe.call))
    probe.listen(server)
    play = play_handler(arena, folder.records.journal.flush, arena.now_s, metrics)
    server.add_generic_rpc_handlers((play,))
    offer(server, [health, *servicers], (SERVICE,))
    return server


def servicers_of(
    arena: Arena,
    folder: OpenFolder,
    work: WorkCalls,
    people: HumanOpponents,
    sandbox: str,
    webhook_hosts: Collection[str] = (),
) -> Sequence[object]:
    """Return the servicers of the calls besides play."""
    matches, tokens = arena.matches, arena.tokens
    flush, recent = folder.records.journal.flush, RecentResults(FRESH_S)
    return (
        LobbyCalls(matches, arena.sessions, tokens, people),
        ReplayCalls(folder.intake.data, tokens, folder.intake.registry.find_bot),
        CompetitionCalls(folder.store, folder.service, tokens, recent=recent),
        StandingsCalls(folder.service, folder.standings, recent=recent),
        ComparisonCalls(folder.store, tokens, lambda: datetime.now(UTC)),
        KeyCalls(folder.store, tokens, lambda: datetime.now(UTC), folder.providers),
        OwnerCalls(folder.intake, tokens),
        BotCalls(folder.intake, tokens, sandbox=sandbox),
        WebhookCalls(folder.store, tokens, WebhookPost(webhook_hosts), lambda: datetime.now(UTC)),
        SpectateCalls(matches.spectators, lambda: matches.in_play, flush),
        work,
    )


def _interceptors(
    arena: Arena, metrics: Metrics, own_call: str = ""
) -> tuple[CallMetrics, CallInterceptor]:
    worked = arena.lag.worked if arena.lag is not None else None
    return (
        CallMetrics(metrics),
        CallInterceptor(
            arena.tokens, arena.limits, own_call=own_call, now_s=arena.now_s, worked=worked
        ),
    )
