"""A batch whose rows are stepped by several processes, which share its arrays."""

import signal
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.envs.stepped_batch import Batch, Stepped

_ENDLESS: Final = range(1 << 62)
"""The seeds by default. A range travels to a process, which an endless iterator does not on each Python."""
_SIGNAL: Final = b""
"""What processes tell each other: that arrays are ready."""

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of all rows or of a part of them, by name."""


class BatchInProcesses:
    """A batch of the same arrays as `Batch`. This process steps the first of its parts, others the further ones.

    Of `processes` processes each takes a part of the rows, and every `processes`-th seed. The processes are started
    anew, so a program calls this below `if __name__ == "__main__":`. They end with `close`, and with this process.
    """

    rows: NDArray[np.intp]
    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]
    seats: NDArray[np.intp]

    def __init__(
        self,
        game: str,
        size: int,
        processes: int,
        *,
        options: Mapping[str, Any] | None = None,
        seats: int | None = None,
        seeds: Sequence[object] | None = None,
    ) -> None:
        """Begin the matches.

        Raises:
          LookupError: if there is no such game.
          ValueError: if the game cannot be played with these seats or options, or there are fewer rows than processes.
        """
        if not 0 < processes <= size:
            raise ValueError(f"{size} rows cannot be shared among {processes} processes")
        # No step of this batch is taken: it says what the arrays are like.
        first = Batch(game, 1, options=options, seats=seats, seeds=())
        self.layout = first.layout
        context = get_context("spawn")
        kinds = _kinds_of(first, size)
        memory = context.RawArray("b", kinds.itemsize)
        self._arrays = _arrays_of(memory, kinds)
        terms = {"game": game, "options": options, "seats": seats}
        listed = _ENDLESS if seeds is None else seeds
        starts = [size * part // processes for part in range(processes + 1)]
        parts = [
            (slice(start, end), terms | {"size": end - start, "seeds": listed[part::processes]})
            for part, (start, end) in enumerate(pairwise(starts))
        ]
        self._connections: list[Connection] = []
        for part in parts[1:]:
            ours, theirs = context.Pipe()
            given = (theirs, memory, kinds, *part)
            context.Process(target=_play, args=given, daemon=True).start()
            theirs.close()
            self._connections.append(ours)
        self._end = weakref.finalize(self, _close, self._connections)
        self._part = _Part(self._arrays, *parts[0])
        self._wait()
        self.observations, self.masks = self._arrays["observations"], self._arrays["masks"]
        self.seats = self._arrays["seats"]
        self.rows = np.flatnonzero(self._arrays["lives"])

    def step(self, actions: NDArray[np.intp]) -> Stepped:
        """Choose a legal action for each of `rows`, as `Batch.step`.

        Raises `RuntimeError` if a process has ended.
        """
        rows, arrays = self.rows, self._arrays
        arrays["actions"][rows] = actions
        with suppress(OSError):  # of a process that has ended
            for connection in self._connections:
                connection.send_bytes(_SIGNAL)
        self._part.step()
        self._wait()
        self.rows = np.flatnonzero(arrays["lives"])
        return Stepped(arrays["rewards"][rows], arrays["hand_ended"][rows])

    def close(self) -> None:
        """End the processes."""
        self._end()

    def _wait(self) -> None:
        for number, connection in enumerate(self._connections, 1):
            try:
                connection.recv_bytes()
            except (EOFError, OSError):
                raise RuntimeError(f"process {number} of the batch has ended") from None


class _Part:
    """The matches of one process, and its part of the arrays."""

    def __init__(self, arrays: Arrays, rows: slice, terms: dict[str, Any]) -> None:
        self._arrays = {name: array[rows] for name, array in arrays.items()}
        self._batch = Batch(**terms)
        self._show()

    def step(self) -> None:
        rows, arrays = self._batch.rows, self._arrays
        arrays["rewards"][rows], arrays["hand_ended"][rows] = self._batch.step(
            arrays["actions"][rows]
        )
        self._show()

    def _show(self) -> None:
        batch, arrays = self._batch, self._arrays
        arrays["observations"][:] = batch.observations
        arrays["masks"][:] = batch.masks
        arrays["seats"][:] = batch.seats
        arrays["lives"].fill(0)
        arrays["lives"][batch.rows] = True


def _kinds_of(batch: Batch, size: int) -> np.dtype[Any]:
    width, actions = batch.observations.shape[1], batch.masks.shape[1]
    return np.dtype(
        [
            ("observations", np.float32, (size, width)),
            ("masks", np.bool_, (size, actions)),
            ("seats", np.intp, (size,)),
            ("lives", np.bool_, (size,)),
            ("actions", np.intp, (size,)),
            ("rewards", np.float32, (size, batch.table_size)),
            ("hand_ended", np.bool_, (size,)),
        ],
        align=True,
    )


def _arrays_of(memory: Any, kinds: np.dtype[Any]) -> Arrays:
    whole = np.frombuffer(memory, kinds)
    return {name: whole[name][0] for name in kinds.names or ()}


def _play(
    connection: Connection,
    memory: Any,
    kinds: np.dtype[Any],
    rows: slice,
    terms: dict[str, Any],
) -> None:
    """Step a part of the rows until the other side closes the connection, also by its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    part = _Part(_arrays_of(memory, kinds), rows, terms)
    with suppress(EOFError, OSError):
        connection.send_bytes(_SIGNAL)
        while True:
            connection.recv_bytes()
            part.step()
            connection.send_bytes(_SIGNAL)


def _close(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
