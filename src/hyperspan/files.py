"""Write files and folders atomically: completely or not at all.

Data goes into a temporary file beside the target, whose name begins with a dot and ends with ``.part``. It replaces the
target once it is complete and on disk. A killed process leaves its temporary file behind; the next process that writes
the same target removes it. A lock, which ends with the process, shows whether the writer is still alive.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hyperspan.errors import UsageError

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

_OWN_STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/[0-9]{1,6})|/proc/self/fd/[0-9]{1,6}")
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}


def kind_of(path: Path) -> str | None:
    """Describe a path that is not a regular file or folder, such as ``"a pipe"``; None if it is one or does not exist.

    Examples
    --------
    >>> kind_of(Path("/dev/null")), kind_of(Path("/")), kind_of(Path("/no such thing"))
    ('a character device', None, None)
    """
    try:
        return _KINDS.get(stat.S_IFMT(path.stat().st_mode))
    except (OSError, ValueError):
        return None


def is_stream(path: Path) -> bool:
    """Return whether a path, such as a pipe, can be written to but neither replaced nor read again.

    Examples
    --------
    >>> is_stream(Path("/dev/null")), is_stream(Path("/dev/stdout")), is_stream(Path("notes.jsonl"))
    (True, True, False)
    """
    return kind_of(path) is not None or _OWN_STREAM.fullmatch(str(path)) is not None


def check_file(path: Path) -> None:
    """Raise an error for a path that cannot become a file: a folder, a block device, a socket, or ``-``.

    Commands that write to stdout handle ``-`` before.
    """
    if str(path) == "-":
        raise UsageError("-, for stdout, cannot be written to here; name a file, or /dev/stdout")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected the name of a file to write")
    if (kind := kind_of(path)) in ("a block device", "a socket"):
        raise UsageError(f"{path} is {kind}; expected the name of a file to write")


def check_folder(path: Path, *, overwrite: bool = False) -> None:
    """Raise an error for a path that cannot become a folder: a file, ``-``, or a folder with content that must stay."""
    if str(path) == "-":
        raise UsageError("-, for stdout, cannot be written to here; name a folder, or /dev/stdout and a format")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is {kind_of(path) or 'a file'}; expected the name of a folder to write")
    if not overwrite and path.is_dir() and any(path.iterdir()):
        raise UsageError(f"the folder {path} is not empty; choose another, or replace it with --overwrite")


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only once it is complete.

    Symbolic links are followed: the file they point to is replaced, and the link stays. Pipes and character devices,
    including ``/dev/stdout``, are written to directly.

    Raises
    ------
    UsageError
        If the path is a folder, a block device or a socket, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with writing(folder / "out.txt") as file:
    ...     _ = file.write(b"whole")
    >>> (folder / "out.txt").read_text()
    'whole'
    """
    check_file(path)
    if is_stream(path):
        with _stream_to(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target)
        handle, temporary = _new_part(target)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _keep_mode(temporary, target)
            if fcntl is None:
                file.close()  # Windows cannot rename an open file
            os.replace(temporary, target)
        _sync(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _stream_to(path: Path) -> Iterator[IO[bytes]]:
    """Open a path that cannot be replaced; streams that this process already has open continue where they are."""
    try:
        if _OWN_STREAM.fullmatch(str(path)):
            sys.stdout.flush()
            number = {"stdout": 1, "stderr": 2}.get(path.name)
            file = os.fdopen(os.dup(int(path.name) if number is None else number), "wb")
        else:
            file = open(path, "wb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def writing_folder(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to fill that appears under its name only once it is complete.

    An existing folder must be empty, unless ``overwrite`` is true: then it is replaced.
    """
    if path.is_symlink() or not path.name:
        path = Path(os.path.realpath(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path)  # may move a folder back here
        check_folder(path, overwrite=overwrite)
        handle, temporary = _new_part(path, folder=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    aside = temporary.with_suffix(".old")
    try:
        yield temporary
        _sync_all(temporary)
        if path.exists():
            # Moved aside first, so that a crash between the two renames loses nothing: see `remove_leftovers`.
            os.replace(path, aside)
        os.replace(temporary, path)
        _sync(path.parent)
        shutil.rmtree(aside, ignore_errors=True)
    except BaseException:
        if aside.exists() and not path.exists():
            os.replace(aside, path)
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        if handle >= 0:
            os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on a path while the ``with`` block runs; a second process gets an error.

    Parameters
    ----------
    path : path
        The file or folder to be written. The lock is a file beside it, and is released when the process ends, however
        it ends.

    Raises
    ------
    UsageError
        If another process has the lock.
    """
    if fcntl is None or is_stream(path):
        yield
        return
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name[:50]}.lock")
    handle = _take_lock(lock, path)
    try:
        yield
    finally:
        if handle is not None:
            lock.unlink(missing_ok=True)
            os.close(handle)


def _take_lock(lock: Path, path: Path) -> int | None:
    assert fcntl is not None
    while True:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(
                f"another process is at work on {path}; wait until it is done, or choose another name"
            ) from None
        except OSError:  # a file system without locks
            os.close(handle)
            lock.unlink(missing_ok=True)
            return None
        if _is_same(handle, lock):  # its last owner may have removed it a moment ago
            return handle
        os.close(handle)


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed processes left beside a target.

    A folder that was moved aside and never replaced is moved back.
    """
    if fcntl is None:
        return
    name = re.compile(rf"\.{re.escape(path.name[:50])}\.[0-9a-f]{{16}}\.(part|old)")
    for entry in list(path.parent.iterdir()):
        if (match := name.fullmatch(entry.name)) and not _is_alive(entry):
            if match[1] == "old" and not path.exists():
                os.replace(entry, path)
            elif entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()


def _is_alive(part: Path) -> bool:
    """Return whether a process is still writing a file or folder; true if in doubt."""
    assert fcntl is not None
    owner = part.with_suffix(".part")
    if part.suffix == ".old" and not owner.exists():
        return False
    try:
        handle = os.open(owner, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _new_part(target: Path, *, folder: bool = False) -> tuple[int, Path]:
    """Create and lock the temporary file or folder; return its descriptor and path."""
    while True:
        part = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.part")
        if folder:
            part.mkdir()
            handle = -1 if fcntl is None else os.open(part, os.O_RDONLY | os.O_CLOEXEC)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            handle = os.open(part, flags, 0o666)
        if fcntl is None:
            return handle, part
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_same(handle, part):  # no other process removed it as a leftover before it was locked
            return handle, part
        os.close(handle)


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _keep_mode(temporary: Path, target: Path) -> None:
    """Give a new file the permissions of the file that it replaces."""
    with suppress(OSError):
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) & 0o777)


def _sync_all(folder: Path) -> None:
    for root, _, names in os.walk(folder):
        for name in names:
            _sync(Path(root, name))
        _sync(Path(root))


def _sync(path: Path) -> None:
    """Flush a file's content, or the names in a folder, to disk, if the file system supports it."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
