"""The two gRPC servers of an arena process: one for everybody, one for sandboxed bots."""

from datetime import UTC, datetime

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.server.admission.calls import CallInterceptor
from arena.server.arena import Arena
from arena.server.metrics import Metrics
from arena.server.open_folder import OpenFolder
from arena.server.self_probe import SelfProbe
from arena.server.services.bots import BotCalls
from arena.server.services.call_metrics import CallMetrics
from arena.server.services.comparisons import ComparisonCalls
from arena.server.services.competitions import CompetitionCalls
from arena.server.services.health import Health
from arena.server.services.lobby import LobbyCalls
from arena.server.services.owners import OwnerCalls
from arena.server.services.play import SERVICE, play_handler
from arena.server.services.replays import ReplayCalls
from arena.server.services.spectating import SpectateCalls
from arena.server.services.standings import StandingsCalls
from arena.server.transport import Service, new_server, offer
from arena.server.workers.joined import JoinedWorkers
from cardarena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    comparisons_pb2,
    comparisons_pb2_grpc,
    competitions_pb2,
    competitions_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    owners_pb2,
    owners_pb2_grpc,
    replay_pb2,
    replay_pb2_grpc,
    standings_pb2,
    standings_pb2_grpc,
    watch_pb2,
    watch_pb2_grpc,
    work_pb2,
    work_pb2_grpc,
)


def play_server(arena: Arena, folder: OpenFolder, metrics: Metrics) -> grpc.aio.Server:
    """The server of sandboxed bots: they can play, and nothing else."""
    server = new_server(_interceptors(arena, metrics))
    flush = folder.journal.flush
    play = play_handler(arena, flush, arena.now_s, metrics, sandboxed=True)
    server.add_generic_rpc_handlers((play,))
    return server


def arena_server(
    arena: Arena,
    folder: OpenFolder,
    metrics: Metrics,
    probe: SelfProbe,
    health: Health,
    services: list[Service],
) -> grpc.aio.Server:
    """The server of everybody else; it has `services` besides play and health."""
    server = new_server(_interceptors(arena, metrics, probe.call))
    probe.listen(server)
    play = play_handler(arena, folder.journal.flush, arena.now_s, metrics)
    server.add_generic_rpc_handlers((play,))
    offer(
        server,
        [Service.of(health_pb2, health_pb2_grpc, "Health", health), *services],
        (SERVICE,),
    )
    return server


def services_of(
    arena: Arena, folder: OpenFolder, joined: JoinedWorkers, sandbox: str
) -> list[Service]:
    """The services that people and programs call besides play."""
    matches, tokens = arena.matches, arena.tokens
    spectating = SpectateCalls(
        matches.spectators.buffers, lambda: matches.in_play, folder.journal.flush
    )
    standings = StandingsCalls(folder.service, folder.standings)
    competitions = CompetitionCalls(folder.store, folder.service, tokens)
    comparisons = ComparisonCalls(folder.store, tokens, lambda: datetime.now(UTC))
    bots = BotCalls(folder.intake, tokens, sandbox=sandbox)
    owners = OwnerCalls(folder.intake, tokens)
    replays = ReplayCalls(arena.replays, matches.results)
    lobby = LobbyCalls(matches, arena.sessions, tokens)
    return [
        Service.of(lobby_pb2, lobby_pb2_grpc, "LobbyService", lobby),
        Service.of(replay_pb2, replay_pb2_grpc, "ReplayService", replays),
        Service.of(competitions_pb2, competitions_pb2_grpc, "CompetitionService", competitions),
        Service.of(standings_pb2, standings_pb2_grpc, "StandingsService", standings),
        Service.of(comparisons_pb2, comparisons_pb2_grpc, "ComparisonService", comparisons),
        Service.of(owners_pb2, owners_pb2_grpc, "OwnerService", owners),
        Service.of(bots_pb2, bots_pb2_grpc, "BotService", bots),
        Service.of(watch_pb2, watch_pb2_grpc, "WatchService", spectating),
        Service.of(work_pb2, work_pb2_grpc, "WorkService", joined),
    ]


def _interceptors(
    arena: Arena, metrics: Metrics, own_call: str = ""
) -> tuple[CallMetrics, CallInterceptor]:
    caused = arena.lag.caused if arena.lag is not None else None
    return (
        CallMetrics(metrics),
        CallInterceptor(
            arena.tokens, arena.limits, own_call=own_call, now_s=arena.now_s, caused=caused
        ),
    )
