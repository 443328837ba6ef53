"""Plays one case against the client: a fresh process, fresh endpoints, stream after stream."""

import json
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import grpc
from google.protobuf.json_format import ParseError

from arena.conformance.cases import BadCase, Case, Script
from arena.conformance.certificates import Certificates
from arena.conformance.client import Client, Running
from arena.conformance.endpoint import Ended, Endpoint, Stream
from arena.conformance.script import TOKEN, OnStream, Stage, Unmet, filled

START_S: Final = 30.0
"""How long a client may take to begin: some languages start slowly."""
SEEN_S: Final = 25.0
"""How long a connection that was reset may go unnoticed. gRPC's C core misses a reset now and then (in 2 of
100 on a busy machine), and sees it at its next ping, 20 s later; the client above it can do nothing."""
ENDPOINTS: Final = ("main", "second")
_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a client fared at one case."""

    case: Case
    passed: bool
    sentence: str
    """What was expected and seen; empty if it passed."""
    took_s: float
    told: str
    """The end of what the client told its author."""


Start: TypeAlias = Callable[[Sequence[str], Mapping[str, str], Path], Running]
"""Starts a client: its command with all arguments, what its environment has besides, and a folder."""


def judge(
    case: Case,
    command: Sequence[str],
    folder: Path,
    *,
    start: Start = Client,
    sockets: Path | None = None,
) -> Verdict:
    """Plays a case.

    Args:
      case: The case.
      command: The client's program and its own arguments.
      folder: Where the recorded asks are.
      start: Starts the client.
      sockets: A folder in which the endpoints are socket files; without it they are ports.

    Raises:
      BadCase: if the case itself is wrong.
      OSError: if the client cannot be started.
    """
    began_s = time.monotonic()
    sentence = ""
    with ExitStack() as stack:
        play = _Play(case, command, folder, start, sockets, stack)
        try:
            play.run()
        except Unmet as unmet:
            sentence = str(unmet)
        except (KeyError, TypeError, ParseError) as error:
            raise BadCase(f"{case.id}: {error}") from error
        finally:
            play.stage.client.kill()
        told = "\n".join(play.stage.client.told.splitlines()[-8:])
    return Verdict(case, not sentence, sentence, time.monotonic() - began_s, told)


class _Play:
    def __init__(
        self,
        case: Case,
        command: Sequence[str],
        folder: Path,
        start: Start,
        sockets: Path | None,
        stack: ExitStack,
    ) -> None:
        self._case = case
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
        certificates = Certificates.make() if case.tls else None
        self._endpoints: dict[str, Endpoint] = {}
        for name in ENDPOINTS:
            at = None if sockets is None else sockets / f"{name}.sock"
            made = Endpoint(name, certificates if name == "main" else None, at)
            stack.callback(made.close)
            self._endpoints[name] = made
        places = {name: made.address for name, made in self._endpoints.items()}
        places |= {"nobody": _closed_port(), "receipts": str(work / "receipts")}
        if certificates is not None:
            places["main"] = f"https://{places['main']}"
            places["ca"] = str(certificates.write_authority(work))
        environment = {name: filled(value, places) for name, value in case.environment.items()}
        # Where the author stands: a command may name files from there, as a class path does.
        client = start([*command, *_arguments(case, places)], environment, Path.cwd())
        stack.callback(client.kill)
        self.stage = Stage(case, folder, client, places)
        self._was_reset = False

    def run(self) -> None:
        """Everything of the case, in order.

        Raises:
          Unmet: at the first thing that is not as expected.
        """
        ended_s: float | None = None
        for script in self._case.streams:
            stream = self._opened(script, ended_s)
            OnStream(self.stage, stream, script).run()
            ended_s = stream.ended_s
            self._was_reset = any("reset" in step for step in script.steps)
        self._ends()
        self._looks_back()

    # Between streams.

    def _opened(self, script: Script, ended_s: float | None) -> Stream:
        wait_s = START_S if ended_s is None else self.stage.most_s
        if script.after_ms is not None:
            wait_s = max(wait_s, script.after_ms[1] / 1000)
        if self._was_reset:
            wait_s += SEEN_S
        stream = self._next_stream(wait_s)
        if stream is None:
            code = self.stage.client.exit_code
            how = "it does not come" if code is None else f"it ended with exit code {code}"
            again = "the first stream" if ended_s is None else "another stream"
            raise Unmet(
                f"expected {again} at endpoint {script.at}; {how} {self.stage.last_words()}"
            )
        if stream.endpoint.name != script.at:
            raise Unmet(
                f"expected a stream at endpoint {script.at}; it came to {stream.endpoint.name}"
            )
        if script.after_ms is not None and ended_s is not None:
            least, most = script.after_ms
            # The kit may hear of a client that hangs up and dials at once in the other order.
            waited = max(0, round((stream.opened_s - ended_s) * 1000))
            if not least <= waited <= most:
                raise Unmet(
                    f"expected the next stream {least} to {most} ms after the last; it came after {waited} ms"
                )
        self.stage.epoch += 1
        return stream

    def _next_stream(self, wait_s: float) -> Stream | None:
        until_s = time.monotonic() + wait_s
        while True:
            for endpoint in self._endpoints.values():
                if not endpoint.streams.empty():
                    return endpoint.streams.get()
            if time.monotonic() >= until_s or self.stage.client.exit_code is not None:
                return None
            time.sleep(_LOOK_S)

    def _ends(self) -> None:
        """The client ends by itself as expected, and opens no other stream."""
        if self._case.exit is None:
            self._opens_no_more()
            return
        code = self.stage.client.wait(self.stage.most_s if self._case.streams else START_S)
        for endpoint in self._endpoints.values():
            if not endpoint.streams.empty():
                raise Unmet(f"expected no other stream; one came to {endpoint.name}")
        expected = " or ".join(map(str, self._case.exit))
        if code is None:
            raise Unmet(f"expected exit code {expected}; it goes on {self.stage.last_words()}")
        if code not in self._case.exit:
            words = self.stage.last_words()
            raise Unmet(f"expected exit code {expected}; it ended with {code} {words}")

    def _opens_no_more(self) -> None:
        """For a while there is no stream where none may be, once it has dialled if it must."""
        start_s = time.monotonic() + START_S
        while self._case.dials and not self._dialled() and time.monotonic() < start_s:
            time.sleep(_LOOK_S)
        until_s = time.monotonic() + self.stage.most_s
        while (stream := self._next_stream(until_s - time.monotonic())) is not None:
            if stream.endpoint.name in self._case.unwanted:
                raise Unmet(f"expected no other stream; one came to {stream.endpoint.name}")
            stream.end(Ended(grpc.StatusCode.UNAVAILABLE))
        if self._case.dials and not self._dialled():
            raise Unmet("expected the client to dial; it never did")

    def _dialled(self) -> bool:
        return any(endpoint.relay.dialled for endpoint in self._endpoints.values())

    def _looks_back(self) -> None:
        """What the client has printed, told and kept."""
        if self._case.stdout is not None:
            printed = self.stage.client.printed
            # Each match may be played on a thread of its own, so that their lines mix.
            if sorted(printed) != sorted(self._case.stdout):
                raise Unmet(
                    f"expected the bot to print {list(self._case.stdout)}; it printed {list(printed)}"
                )
        told = self.stage.client.told
        for words in self._case.stderr:
            if words.lower() not in told.lower():
                raise Unmet(f"expected {words!r} on stderr; there is {told[-300:]!r}")
        if self._case.receipt:
            self._has_receipt()

    def _has_receipt(self) -> None:
        folder = Path(self.stage.places["receipts"])
        files = sorted(folder.glob("*.json"))
        if len(files) != 1:
            raise Unmet(f"expected one receipt in the folder; there are {len(files)}")
        try:
            receipt = json.loads(files[0].read_text("utf-8"))
        except ValueError:
            raise Unmet("expected a receipt in JSON; it cannot be read") from None
        if wrong := self.stage.deal.wrong_receipt(receipt):
            raise Unmet(f"expected the receipt of docs/fair-deals.md; {wrong}")


def _arguments(case: Case, places: Mapping[str, str]) -> list[str]:
    """What the client's command line has besides its own."""
    arguments = [filled(each, places) for each in case.arguments]
    if case.address != "none":
        arguments += ["--address", places[case.address]]
    if "CARDARENA_TOKEN" not in case.environment:
        arguments += ["--token", TOKEN]
    if case.receipt:
        arguments += ["--receipts", places["receipts"]]
    return arguments


def _closed_port() -> str:
    """A port of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"
