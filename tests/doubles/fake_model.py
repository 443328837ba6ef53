"""An OpenAI-compatible endpoint on a loopback port with scripted replies."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeModel:
    """Answers each request by `reply`, a function of the request's JSON that returns a text, bytes, or a status."""

    def __init__(self, reply):
        self.reply = reply
        self.requests = []
        self.headers = []
        self.released = threading.Event()
        """Set at the end, for replies that wait."""

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.requests.append(body)
        self.headers.append(dict(handler.headers))
        reply, status, headers = self.reply(body), 200, {}
        if isinstance(reply, tuple):
            reply, status, headers = reply
        sent = reply if isinstance(reply, bytes) else json.dumps(completion(reply)).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": len(sent), **headers}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(sent)


def completion(text):
    """Return a completion as endpoints send it, without usage."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


@contextlib.contextmanager
def fake_model(reply):
    """Serve a `FakeModel`; gives it, with its address as `url`."""
    model = FakeModel(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            with contextlib.suppress(ConnectionError):
                model.answer(self)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield model
        finally:
            model.released.set()
            server.shutdown()
            thread.join()
