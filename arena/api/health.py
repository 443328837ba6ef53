"""Health checks, of the arena as a whole."""

from typing import TYPE_CHECKING

from grpc_health.v1 import health, health_pb2

from arena.errors.refused import Refused

if TYPE_CHECKING:
    import grpc


class Health(health.aio.HealthServicer):
    """The health service of gRPC. It refuses unknown names instead of aborting the call."""

    async def Check(  # noqa: N802 - the call's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: "grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]",
    ) -> health_pb2.HealthCheckResponse:
        """Return whether the arena serves.

        Raises `Refused` if a service is named; there is only a status of the whole arena.
        """
        if request.service:
            raise Refused("UNKNOWN_SERVICE", repr(request.service))
        return await super().Check(request, context)
