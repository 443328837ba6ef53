"""gRPC calls without gRPC: what a handler, an interceptor and the call limits of the server see of one."""

import grpc


class Aborted(grpc.aio.AbortError):
    """A call was ended with a status."""


class Call:
    """A servicer's context, as far as handlers use one: `grpc.aio.ServicerContext`.

    A list of requests comes one after the other, and then the end; a single one as often as it is read.
    """

    def __init__(self, request=b"", peer="ipv4:192.0.2.1:1", authorization=""):
        self._request, self._peer = request, peer
        self._requests = iter(request) if isinstance(request, list) else None
        self._callbacks = []
        self._metadata = (("authorization", authorization),) if authorization else ()
        self.trailers = ()
        self.code, self.text = grpc.StatusCode.OK, ""

    def peer(self):
        return self._peer

    def invocation_metadata(self):
        return self._metadata

    def set_trailing_metadata(self, trailers):
        self.trailers = trailers

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    async def read(self):
        if self._requests is not None:
            return next(self._requests, grpc.aio.EOF)
        return self._request

    def set_code(self, code):
        self.code = code

    def set_details(self, text):
        self.text = text

    async def abort(self, code, text=""):
        self.code, self.text = code, text
        raise Aborted

    def end(self):
        """The call is over, and whoever wanted to know is told."""
        for callback in self._callbacks:
            callback(self)


class Details:
    """A call's name and metadata: `grpc.HandlerCallDetails`."""

    def __init__(self, method, authorization=""):
        self.method = method
        self.invocation_metadata = (("authorization", authorization),) if authorization else ()
