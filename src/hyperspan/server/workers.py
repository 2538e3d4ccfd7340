"""Worker processes of the server, each of which can be terminated at any time.

A thread cannot be stopped, but a process can. When the models are loaded and warm, one process is forked that only
forks others from itself: the *fork server*. It has no threads, so forking is always safe, and a new worker is ready
within milliseconds, sharing models and compiled code with all others.

A worker sets an alarm before it starts, and the system terminates it when the time is over, whatever it is doing. If
this process ends, so do the fork server and every worker.
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
"""Windows cannot fork: there, work is done in threads."""

_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20

Reply = tuple[str, Any]
"""``("result", value)``, or the kind of an error and its data."""


class WorkerDiedError(Exception):
    """A worker ended before its work was done: its time was over, or it crashed."""


class ForkServer:
    """Makes workers.

    Parameters
    ----------
    context : object
        The first argument of every piece of work; workers have it in the state at the first fork.
    memory : int
        The maximum number of bytes that a worker may use beyond its initial memory.
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
                except OSError:  # the fork server was killed: start another
                    self.close()
        ours.setblocking(False)
        return Worker(ours)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with warnings.catch_warnings():
            # Other threads of this process may hold locks; the fork server must not need any of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            _serve_forks(theirs, self._context, self._memory)
        theirs.close()
        self._control = ours
        self._end = weakref.finalize(self, _end, process, ours, os.getpid())

    def close(self) -> None:
        """Terminate all workers at once."""
        self._control = None
        if self._end is not None:
            self._end()
            self._end = None


def _end(process: int, control: socket.socket, owner: int) -> None:
    if os.getpid() != owner:  # a forked child must not do this
        return
    control.close()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)


def _serve_forks(control: socket.socket, context: object, memory: int) -> NoReturn:
    """Fork a worker for every socket received, until the other side closes."""
    try:
        os.setsid()  # so that Ctrl-C does not reach it, and it can be killed together with all workers
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
    """Close the files that the parent has open: a connection ends only when no process has it open.

    Objects that own them may still exist, so their numbers must not be reused.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number > 2 and number not in (kept, nothing):
            with suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number, inheritable=False)


def _work(connection: socket.socket, context: object, memory: int) -> NoReturn:
    """Process requests until the other side closes."""
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
    """Limit the memory of this process, if the system reveals its current size."""
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
    """A handle to a process that does one piece of work at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def ask(self, seconds: float, work: Callable[..., Any], args: tuple[Any, ...]) -> Reply:
        """Run a piece of work within a time limit.

        Parameters
        ----------
        seconds : float
            The time after which the worker is terminated.
        work : callable
            A module-level function of the context and the arguments.
        args : tuple
            Plain data.

        Raises
        ------
        WorkerDiedError
            If the worker ended without a reply.
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
        """Close the connection: the worker ends when it is done, or when its time is over."""
        self._connection.close()

    def __del__(self) -> None:
        self.close()
