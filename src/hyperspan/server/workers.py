"""Processes that work for the server, each of which can be ended at any moment.

A thread cannot be stopped, a process can. One process is forked when the models are loaded and warm, and does nothing
but fork others from itself: the *fork server*. It has no threads, so that forking is safe at any time, and a worker is
there within milliseconds, with models and compiled code that it shares with all others.

A worker sets an alarm before it begins, and the system ends it when the time is over, whatever it is doing. Should this
process end, so does the fork server, and with it every worker.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import traceback
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from io import BufferedRWPair
from typing import Any, NoReturn

from starlette.exceptions import HTTPException

from hyperspan.errors import HyperspanError
from hyperspan.server.errors import ApiError

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")
"""Windows cannot: there, work is done in threads."""

_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20

Reply = tuple[str, Any]
"""``("result", value)``, or the kind of an error and what is known of it."""


class WorkerDiedError(Exception):
    """A worker ended before its work was done: its time was over, or something broke it."""


class ForkServer:
    """Makes workers.

    Parameters
    ----------
    context : object
        What every piece of work gets as its first argument; workers have it as it is when the first one is made.
    memory : int
        Bytes that a worker may take beyond what it begins with.
    """

    def __init__(self, context: object, memory: int) -> None:
        self._context = context
        self._memory = memory
        self._control: socket.socket | None = None
        self._end: Callable[[], object] | None = None

    def worker(self) -> Worker:
        """Return a new worker."""
        ours, theirs = socket.socketpair()
        with theirs:
            for _ in range(2):
                if self._control is None:
                    self._start()
                assert self._control is not None
                try:
                    socket.send_fds(self._control, [b"+"], [theirs.fileno()])
                    break
                except OSError:  # somebody ended the fork server: make another
                    self.close()
        ours.setblocking(False)
        return Worker(ours)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with warnings.catch_warnings():
            # Other threads of this process may hold locks; the fork server takes none that they could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            _serve_forks(theirs, self._context, self._memory)
        theirs.close()
        self._control = ours
        self._end = weakref.finalize(self, _end, process, ours, os.getpid())

    def close(self) -> None:
        """End all workers at once."""
        self._control = None
        if self._end is not None:
            self._end()
            self._end = None


def _end(process: int, control: socket.socket, owner: int) -> None:
    if os.getpid() != owner:  # a process that was forked from this one has no say
        return
    control.close()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)


def _serve_forks(control: socket.socket, context: object, memory: int) -> NoReturn:
    """Fork a worker for every socket that is sent, until the other side is gone."""
    try:
        os.setsid()  # not to be reached by Ctrl-C, and to be ended together with all workers
    except OSError:
        os._exit(1)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        _let_go_of_files(control.fileno())
        gc.freeze()
        while True:
            message, files, _, _ = socket.recv_fds(control, 1, 1)
            if not message:
                break
            if os.fork() == 0:
                control.close()
                _work(socket.socket(fileno=files[0]), context, memory)
            os.close(files[0])
    except BaseException:
        traceback.print_exc()
    finally:
        os.killpg(0, signal.SIGKILL)
        os._exit(1)


def _let_go_of_files(kept: int) -> None:
    """Let go of what the parent has open: a connection ends only when nobody has it open any more.

    Objects that own them may still be here, so that their numbers must not be given to others.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number > 2 and number not in (kept, nothing):
            with suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number, inheritable=False)


def _work(connection: socket.socket, context: object, memory: int) -> NoReturn:
    """Do what is asked for, until the other side is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _limit_memory(memory)
    try:
        with connection.makefile("rwb") as stream:
            while (frame := _read(stream)) is not None:
                seconds, work, args = pickle.loads(frame)
                signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
                _write(stream, _done(work, context, args))
                signal.setitimer(signal.ITIMER_REAL, 0.0)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _limit_memory(beyond: int) -> None:
    """Bound the memory of this process, where the system says how much it has."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = taken + beyond
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))
    except (ImportError, OSError, ValueError):
        return


def _done(work: Callable[..., Any], context: object, args: tuple[Any, ...]) -> Reply:
    try:
        return "result", work(context, *args)
    except ApiError as error:
        return "refused", (error.status_code, error.detail, error.details, error.headers)
    except HTTPException as error:
        return "refused", (error.status_code, error.detail, (), error.headers)
    except HyperspanError as error:
        return "ours", str(error)
    except MemoryError:
        return "memory", None
    except Exception:
        return "unexpected", traceback.format_exc()


def _read(stream: BufferedRWPair) -> bytes | None:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = stream.read(length)
    return frame if len(frame) == length else None


def _write(stream: BufferedRWPair, reply: Reply) -> None:
    frame = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


class Worker:
    """A process that does one piece of work at a time, as this process sees it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def ask(self, seconds: float, work: Callable[..., Any], args: tuple[Any, ...]) -> Reply:
        """Have a piece of work done within some seconds.

        Parameters
        ----------
        seconds : float
            After which the worker is ended.
        work : callable
            A function of a module; it gets the context, and then the arguments.
        args : tuple
            Plain data.

        Raises
        ------
        WorkerDiedError
            If no answer will come.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        frame = pickle.dumps((seconds, work, args), pickle.HIGHEST_PROTOCOL)
        try:
            await loop.sock_sendall(self._connection, _LENGTH.pack(len(frame)) + frame)
            (length,) = _LENGTH.unpack(await self._receive(loop, _LENGTH.size))
            reply: Reply = pickle.loads(await self._receive(loop, length))
        except OSError:
            raise WorkerDiedError from None
        return reply

    async def _receive(self, loop: Any, length: int) -> bytes:
        pieces = []
        while length > 0:
            piece = await loop.sock_recv(self._connection, min(length, _CHUNK))
            if not piece:
                raise WorkerDiedError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Let it go: it ends when it is done, or when its time is over."""
        self._connection.close()

    def __del__(self) -> None:
        self.close()
