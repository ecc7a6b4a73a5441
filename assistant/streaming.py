"""Reading a backend's reply in a thread of its own, so that a wait can be ended by a clock or by Ctrl-C."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

from assistant.backends.base import Backend
from assistant.messages import Reply, Request, TextDelta

_TICK = 0.05  # seconds between two looks at the clock


class Interrupted(Exception):  # noqa: N818 - not an error: the clock ended the wait
    """The deadline came before the reply was complete."""


def pieces(
    backend: Backend, request: Request, *, deadline: float | None, clock: Callable[[], float]
) -> Iterator[TextDelta | Reply]:
    """What `backend.send` yields, in order. Raises its exceptions, and Interrupted when `clock` passes the deadline.

    When it ends early the request is closed at its next piece; the thread is a daemon, so that a silent server holds nobody.
    """
    arrived: queue.Queue[TextDelta | Reply | BaseException | None] = queue.Queue()
    unwanted = threading.Event()

    def read() -> None:
        try:
            with closing(backend.send(request)) as sent:
                for piece in sent:
                    if unwanted.is_set():
                        break
                    arrived.put(piece)
            arrived.put(None)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    try:
        while True:
            try:
                piece = arrived.get(timeout=_TICK)
            except queue.Empty:
                if deadline is not None and clock() >= deadline:
                    raise Interrupted("no reply in time") from None
                continue
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            if isinstance(piece, TextDelta) and deadline is not None and clock() >= deadline:
                # A server that trickles never leaves the queue empty. A whole Reply that is here is taken all the same.
                raise Interrupted("no whole reply in time")
            yield piece
    finally:
        unwanted.set()
