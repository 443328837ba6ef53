"""Plays cases against the client, each with a new process and new endpoints, and summarises the results."""

import json
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import grpc
from google.protobuf.json_format import ParseError

from arena.testing.conformance.cases import BadCase, Case, Script
from arena.testing.conformance.certificates import Certificates
from arena.testing.conformance.client import Client, RunningClient
from arena.testing.conformance.endpoint import BotStream, Endpoint, StreamEnded
from arena.testing.conformance.script import TOKEN, OnStream, Stage, Unmet, filled

KIT: Final = "Card Arena contract 1"

START_S: Final = 30.0
"""The longest time in seconds for a client to connect: some languages start slowly."""
SEEN_S: Final = 25.0
"""The longest time in seconds for a client to notice a reset connection. gRPC's C core sometimes misses a reset (2 of 100 on a busy machine) until its next ping 20 s later, which the client cannot prevent."""
ENDPOINTS: Final = ("main", "second")
_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a client in one case."""

    case: Case
    passed: bool
    sentence: str
    """The expectation and the observation, in a sentence; empty if the case passed."""
    took_s: float
    stderr_tail: str
    """The last lines of the client's stderr."""


Start: TypeAlias = Callable[[Sequence[str], Mapping[str, str], Path], RunningClient]
"""Starts a client with its command and arguments, additional environment, and folder."""


def judge(
    case: Case,
    command: Sequence[str],
    folder: Path,
    *,
    start: Start = Client,
    sockets: Path | None = None,
) -> CaseResult:
    """Play a case.

    Args:
      command: The client's program and its own arguments.
      sockets: A folder for the endpoints as Unix sockets; None uses ports.

    Raises `BadCase` if the case itself is wrong, and `OSError` if the client cannot be started.
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
        tail = "\n".join(play.stage.client.stderr_text.splitlines()[-8:])
    return CaseResult(case, not sentence, sentence, time.monotonic() - began_s, tail)


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
        # The current folder: a command may have relative paths, as in a class path.
        client = start([*command, *_arguments(case, places)], environment, Path.cwd())
        stack.callback(client.kill)
        self.stage = Stage(case, folder, client, places)
        self._was_reset = False

    def run(self) -> None:
        """Play all streams, and check exit and outputs. Raises `Unmet` at the first unmet expectation."""
        ended_s: float | None = None
        for script in self._case.streams:
            stream = self._expect_stream(script, ended_s)
            OnStream(self.stage, stream, script).run()
            ended_s = stream.ended_s
            self._was_reset = any("reset" in step for step in script.steps)
        self._check_exit()
        self._check_outputs()

    # Between streams.

    def _expect_stream(self, script: Script, ended_s: float | None) -> BotStream:
        wait_s = START_S if ended_s is None else self.stage.most_s
        if script.after_ms is not None:
            wait_s = max(wait_s, script.after_ms[1] / 1000)
        if self._was_reset:
            wait_s += SEEN_S
        stream = self._next_stream(wait_s)
        if stream is None:
            code = self.stage.client.exit_code
            how = "none came" if code is None else f"it ended with exit code {code}"
            again = "the first stream" if ended_s is None else "another stream"
            raise Unmet(
                f"expected {again} at endpoint {script.at}; {how} {self.stage.stderr_tail()}"
            )
        if stream.endpoint.name != script.at:
            raise Unmet(
                f"expected a stream at endpoint {script.at}; it came to {stream.endpoint.name}"
            )
        if script.after_ms is not None and ended_s is not None:
            least, most = script.after_ms
            # If a client hangs up and connects at once, the two events may arrive in the other order.
            waited = max(0, round((stream.opened_s - ended_s) * 1000))
            if not least <= waited <= most:
                raise Unmet(
                    f"expected the next stream {least} to {most} ms after the last; it came after {waited} ms"
                )
        self.stage.stream_opened()
        return stream

    def _next_stream(self, wait_s: float) -> BotStream | None:
        until_s = time.monotonic() + wait_s
        while True:
            for endpoint in self._endpoints.values():
                if not endpoint.streams.empty():
                    return endpoint.streams.get()
            if time.monotonic() >= until_s or self.stage.client.exit_code is not None:
                return None
            time.sleep(_LOOK_S)

    def _check_exit(self) -> None:
        if self._case.exit is None:
            self._expect_no_stream()
            return
        code = self.stage.client.wait(self.stage.most_s if self._case.streams else START_S)
        for endpoint in self._endpoints.values():
            if not endpoint.streams.empty():
                raise Unmet(f"expected no other stream; one came to {endpoint.name}")
        expected = " or ".join(map(str, self._case.exit))
        if code is None:
            raise Unmet(
                f"expected exit code {expected}; it is still running {self.stage.stderr_tail()}"
            )
        if code not in self._case.exit:
            words = self.stage.stderr_tail()
            raise Unmet(f"expected exit code {expected}; it ended with {code} {words}")

    def _expect_no_stream(self) -> None:
        """Check that no unwanted stream comes for a while, and that the client connects if it must."""
        start_s = time.monotonic() + START_S
        while self._case.dials and not self._dialled() and time.monotonic() < start_s:
            time.sleep(_LOOK_S)
        until_s = time.monotonic() + self.stage.most_s
        while (stream := self._next_stream(until_s - time.monotonic())) is not None:
            if stream.endpoint.name in self._case.unwanted:
                raise Unmet(f"expected no other stream; one came to {stream.endpoint.name}")
            stream.end(StreamEnded(grpc.StatusCode.UNAVAILABLE))
        if self._case.dials and not self._dialled():
            raise Unmet("expected the client to connect; it did not")

    def _dialled(self) -> bool:
        return any(endpoint.relay.dialled for endpoint in self._endpoints.values())

    def _check_outputs(self) -> None:
        if self._case.stdout is not None:
            printed = self.stage.client.stdout_lines
            # The threads of several matches may print in any order.
            if sorted(printed) != sorted(self._case.stdout):
                raise Unmet(
                    f"expected the bot to print {list(self._case.stdout)}; it printed {list(printed)}"
                )
        stderr = self.stage.client.stderr_text
        for words in self._case.stderr:
            if words.lower() not in stderr.lower():
                raise Unmet(f"expected {words!r} on stderr; there is {stderr[-300:]!r}")
        if self._case.receipt:
            self._check_receipt()

    def _check_receipt(self) -> None:
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
    arguments = [filled(argument, places) for argument in case.arguments]
    if case.address != "none":
        arguments += ["--address", places[case.address]]
    if "CARDARENA_TOKEN" not in case.environment:
        arguments += ["--token", TOKEN]
    if case.receipt:
        arguments += ["--receipts", places["receipts"]]
    return arguments


def _closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def run(
    cases: Sequence[Case],
    command: Sequence[str],
    folder: Path,
    *,
    jobs: int,
    on_done: Callable[[CaseResult], None],
) -> tuple[CaseResult, ...]:
    """Play the cases.

    Args:
      cases: In the order in which they are reported.
      folder: The folder of the recorded asks.
      jobs: The number of cases that are played at a time.

    Raises `BadCase` if a case is wrong, and `OSError` if the client cannot be started.
    """
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="case") as pool:
        results: dict[str, CaseResult] = {}
        longest_first = sorted(cases, key=lambda case: not case.long)
        waiting = [pool.submit(judge, case, command, folder) for case in longest_first]
        try:
            for future in as_completed(waiting):
                verdict = future.result()
                results[verdict.case.id] = verdict
                on_done(verdict)
        finally:
            pool.shutdown(cancel_futures=True)
    return tuple(results[case.id] for case in cases)


def result_line(verdicts: Sequence[CaseResult]) -> str:
    """Return the result in one line: PASS if every case passed."""
    passed = sum(verdict.passed for verdict in verdicts)
    word = "PASS" if passed == len(verdicts) else "FAIL"
    return f"{word} {passed}/{len(verdicts)}"


def badge_line(verdicts: Sequence[CaseResult], date: str) -> str:
    """Return the line for a README, in Markdown."""
    return f"**{KIT}: {result_line(verdicts)}** (`arena conformance`, {date})"
