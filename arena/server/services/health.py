"""Health checks, of the arena as a whole."""

from typing import TYPE_CHECKING

from grpc_health.v1 import health, health_pb2

from arena.server.refusals import not_found

if TYPE_CHECKING:
    import grpc


class Health(health.aio.HealthServicer):
    """gRPC's own, but for names that it does not know: a call is refused here, and never aborted."""

    async def Check(  # noqa: N802 - the call's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: "grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]",
    ) -> health_pb2.HealthCheckResponse:
        """Whether the arena serves.

        Raises:
          Refused: if a service is named; only the arena as a whole is told of.
        """
        if request.service:
            raise not_found(
                "UNKNOWN_SERVICE", "only the arena as a whole is told of: name no service"
            )
        return await super().Check(request, context)
