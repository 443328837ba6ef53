"""A bot of a few lines of protocol, which writes down all it is told and says.

It plays many matches on one stream. What it answers follows from the ask's
game alone, so that it needs no memory: a run with kills and one without play
the same moves. How long it thinks is drawn at random, which changes nothing.

    python -m tests.chaos.client NAME ADDRESS HISTORY_FILE [THINK_S]

runs one in a process of its own, to be killed or frozen.
"""

import asyncio
import contextlib
import sys
import time
import zlib
from pathlib import Path
from random import Random

import grpc

from arena.games.catalogue import GAMES
from cardarena._redial import BACKOFF_BASE_S, BACKOFF_CAP_S, STEADY_S
from cardarena.v1 import play_pb2
from tests.chaos.history import Entry, History, Kind, without_clock
from tests.chaos.processes import die_with_parent

PLAY = "/cardarena.v1.PlayService/Play"
CHANNEL_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection of its own for every stream
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.enable_retries", 0),
)
ALL_GAMES = [play_pb2.GameSupport(game=game.id) for game in GAMES]
MAX_MATCHES = 512
DIAL_S = 5.0
"""A stream that brings no welcome by then is given up: a call whose connection is cut
between its making and its first bytes can wait for ever."""


def choice_of(ask):
    """The place of the move that the bot takes: a function of the ask's game alone."""
    game = getattr(ask, ask.WhichOneof("game"))
    return zlib.crc32(game.SerializeToString(deterministic=True)) % len(game.moves)


class Hung(Exception):
    """The bot hangs up by itself, as its script says."""


class Bot:
    """A bot that comes back whenever it is cut off, until `stop`."""

    def __init__(
        self,
        name,
        address,
        *,
        think_s=0.0,
        seed=0,
        generation=lambda: 1,
        history=None,
        max_open_asks=MAX_MATCHES,
        backoff_cap_s=BACKOFF_CAP_S,
        at_boundary=lambda bot, boundary: None,
        says_again=False,
        dial_s=DIAL_S,
    ):
        """Prepare a bot.

        Args:
          name: Its name; it says hello as a guest.
          address: Gives host and port, asked at each dial.
          think_s: Mean time it thinks.
          seed: Of its thinking and of its patience between dials.
          generation: Gives the life of the server that is running.
          history: Where it writes; one in memory if none is given.
          max_open_asks: As in hello.
          backoff_cap_s: Longest wait between dials; the SDK's, if not given.
          at_boundary: Called between any two messages, with their number; may
            raise `Hung`, and may do something to the bot's connection.
          dial_s: How long a dial may take until its welcome.
          says_again: Whether it repeats its last answer on each new stream,
            though nobody asks for it.
        """
        self.name = name
        self.history = history or History(name)
        self.think_s = think_s
        self.max_matches = MAX_MATCHES
        self.welcomed = asyncio.Event()
        """Set while it is connected and was welcomed."""
        self.boundary = 0
        """Messages received and said so far, over all streams."""
        self.ended = {}
        """`MatchEnd` by the match's id."""
        self.retired = False
        """Set by a script: it is to be stopped."""
        self.last_words = None
        """What a script has still to do with the stream."""
        self._address = address
        self._random = Random(f"{seed}:{name}")
        self._generation = generation
        self._at_boundary = at_boundary
        self._max_open_asks = max_open_asks
        self._backoff_cap_s = backoff_cap_s
        self._says_again = says_again
        self._dial_s = dial_s
        self._last_said = None
        self._stream = 0
        self._out = asyncio.Queue()
        self._stopping = False
        self._task = None
        self._call = None

    # Its life.

    def start(self):
        """Begin to play, as a task of the running loop."""
        self._task = asyncio.ensure_future(self._run())
        return self

    async def stop(self):
        """Hang up and come back no more."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.history.close()

    def hang_up(self):
        """Drop the stream, as one whose process has died; it comes back."""
        if self._call is not None:
            self._call.cancel()

    async def half_close(self):
        """Say that nothing more will be said, and listen on."""
        if self._call is not None:
            with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError):
                await self._call.done_writing()

    def say(self, **body):
        """Say something on the stream that there is."""
        self._out.put_nowait(play_pb2.BotMessage(**body))

    async def _run(self):
        failures = 0
        while not self._stopping:
            began_s = time.monotonic()
            why = await self._play()
            self.welcomed.clear()
            self._add(Kind.LOST, body=why.encode())
            if time.monotonic() - began_s >= STEADY_S:
                failures = 0
            # Full jitter, as the SDK has it.
            cap_s = min(self._backoff_cap_s, BACKOFF_BASE_S * 2.0 ** min(failures, 16))
            failures += 1
            await asyncio.sleep(self._random.uniform(0.0, cap_s))

    async def _play(self):
        """One stream; how it ended, in words."""
        self._stream += 1
        self._out = asyncio.Queue()
        self._add(Kind.DIALLED)
        writer = None
        try:
            # Not closed by its `close`, which looks through all tasks of the loop: a thousand bots
            # that are cut at once would be at that for minutes. Let go of, it closes itself.
            channel = grpc.aio.insecure_channel(self._address(), CHANNEL_OPTIONS)
            self._call = call = channel.stream_stream(PLAY)()
            patience = asyncio.get_running_loop().call_later(self._dial_s, self._give_up, call)
            try:
                writer = asyncio.ensure_future(self._write(call))
                self.say(hello=self._hello())
                while (frame := await call.read()) is not grpc.aio.EOF:
                    self._take(play_pb2.ArenaMessage.FromString(frame))
                    self._cross_boundary()
                code = await call.code()
                return f"{code.name}: {await call.details()}"
            finally:
                self._call = None
                patience.cancel()
                call.cancel()
                if writer is not None:
                    writer.cancel()
                    await asyncio.gather(writer, return_exceptions=True)
        except Hung:
            return "hung up by itself"
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
        except asyncio.CancelledError:
            if self._stopping:
                raise
            return "cancelled"

    def _give_up(self, call):
        if not self.welcomed.is_set():
            call.cancel()

    def _hello(self):
        return play_pb2.Hello(
            token=f"guest:{self.name}",
            sdk="cardarena-chaos",
            games=ALL_GAMES,
            max_matches=self.max_matches,
            max_open_asks=self._max_open_asks,
        )

    async def _write(self, call):
        out = self._out
        with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError):
            while True:
                message = await out.get()
                while message.HasField("answers") and not out.empty():
                    more = out.get_nowait()
                    if more.HasField("answers"):
                        message.answers.answers.extend(more.answers.answers)
                    else:
                        await call.write(message.SerializeToString())
                        message = more
                await call.write(message.SerializeToString())
                with contextlib.suppress(Hung):
                    self._cross_boundary()

    def _cross_boundary(self):
        self.boundary += 1
        self._at_boundary(self, self.boundary)

    # What it is told.

    def _add(self, kind, match=0, ask_id=0, body=b""):
        entry = Entry(time.monotonic(), self._generation(), self._stream, kind, match, ask_id, body)
        self.history.add(entry)

    def _take(self, message):
        kind = message.WhichOneof("body")
        if kind == "asks":
            self._asked(message.asks.asks)
        elif kind == "welcome":
            self._welcome(message.welcome)
        elif kind == "match_start":
            start = message.match_start
            self._add(Kind.SEATED, start.match, body=start.SerializeToString(deterministic=True))
        elif kind == "match_end":
            end = message.match_end
            self.ended[end.replay_id] = end
            self._add(Kind.ENDED, end.match, body=end.SerializeToString(deterministic=True))
        elif kind == "ask_closed":
            closed = message.ask_closed
            self._add(Kind.WITHDRAWN, 0, closed.ask_id, closed.SerializeToString())
        elif kind == "refusal":
            refusal = message.refusal
            self._add(Kind.REFUSED, 0, refusal.ask_id, refusal.SerializeToString())
        else:
            self._add(Kind.TOLD, body=message.SerializeToString())

    def _welcome(self, welcome):
        asks = list(welcome.open_asks)
        welcome.ClearField("open_asks")
        self._add(Kind.WELCOMED, body=welcome.SerializeToString(deterministic=True))
        self.welcomed.set()
        if self._says_again and self._last_said is not None:
            self.say(answers=play_pb2.Answers(answers=[self._last_said]))
        self._asked(asks)

    def _asked(self, asks):
        answers = []
        for ask in asks:
            self._add(Kind.ASKED, ask.match, ask.ask_id, without_clock(ask))
            answer = play_pb2.Answer(ask_id=ask.ask_id, index=choice_of(ask))
            if self.think_s:
                think_s = self._random.uniform(0.0, 2 * self.think_s)
                loop = asyncio.get_running_loop()
                loop.call_later(think_s, self._answer, self._out, ask.match, [answer])
            else:
                answers.append((ask.match, answer))
        for match, answer in answers:
            self._answer(self._out, match, [answer])

    def _answer(self, out, match, answers):
        """Say answers on the stream that asked; what came too late for it is dropped."""
        if out is not self._out or self._call is None:
            return
        for answer in answers:
            self._last_said = answer
            self._add(Kind.ANSWERED, match, answer.ask_id, answer.SerializeToString())
        out.put_nowait(play_pb2.BotMessage(answers=play_pb2.Answers(answers=answers)))


async def _alone(name, address, path, think_s="0"):
    history = History(name, Path(path))
    bot = Bot(name, lambda: address, think_s=float(think_s), history=history, backoff_cap_s=0.3)
    bot.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    die_with_parent()
    asyncio.run(_alone(*sys.argv[1:]))
