"""Files are written whole or not at all, and what cannot be replaced is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hyperspan.errors import UsageError
from hyperspan.files import kind_of, locked, remove_leftovers, writing, writing_folder


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "deep" / "out.txt"
    with writing(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["out.txt"]


def test_a_failure_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines([b"half", 7])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_file_cannot_be_written_over_a_folder_or_below_a_file(tmp_path):
    with pytest.raises(UsageError, match="is a folder; expected the name of a file to write"), writing(tmp_path):
        pass
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=r"cannot write .*out"), writing(tmp_path / "file" / "out"):
        pass


def test_stdout_is_no_name_of_a_file_or_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (writing, writing_folder):
        with pytest.raises(UsageError, match="-, for stdout, cannot be written to here"), write(Path("-")):
            pass
    assert not list(tmp_path.iterdir())


def test_a_written_file_has_the_usual_permissions(tmp_path):
    with writing(tmp_path / "ours"):
        pass
    (tmp_path / "theirs").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


def test_a_folder_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "deep" / "out"
    with writing_folder(path) as folder:
        (folder / "a").write_bytes(b"whole")
        assert not path.exists()
    assert (path / "a").read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["out"]


def test_a_folder_that_is_not_empty_is_replaced_only_on_demand(tmp_path):
    path = tmp_path / "out"
    path.mkdir()
    with writing_folder(path) as folder:
        (folder / "a").touch()
    advice = "is not empty; choose another, or replace it with --overwrite"
    with pytest.raises(UsageError, match=advice), writing_folder(path):
        pass
    with pytest.raises(FileNotFoundError), writing_folder(path, overwrite=True) as folder:
        (folder / "b" / "c").touch()
    assert os.listdir(path) == ["a"]
    with writing_folder(path, overwrite=True) as folder:
        (folder / "b").touch()
    assert os.listdir(path) == ["b"]
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing_folder(tmp_path / "link", overwrite=True) as folder:
        (folder / "a").touch()
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "real") == ["a"]
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_a_folder_cannot_be_written_over_a_file(tmp_path):
    (tmp_path / "out").touch()
    advice = "is a file; expected the name of a folder to write"
    with pytest.raises(UsageError, match=advice), writing_folder(tmp_path / "out"):
        pass
    with pytest.raises(UsageError, match="cannot write"), writing_folder(tmp_path / "out" / "below"):
        pass


def test_a_file_that_is_replaced_keeps_who_may_read_it(tmp_path):
    path = tmp_path / "private"
    path.touch(mode=0o600)
    with writing(path) as file:
        file.write(b"new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "out"
    (tmp_path / "link").symlink_to(target)
    for content in (b"to nothing", b"to a file"):
        with writing(tmp_path / "link") as file:
            file.write(content)
        assert (tmp_path / "link").is_symlink()
        assert target.read_bytes() == content
    assert os.listdir(tmp_path / "real") == ["out"]


def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(path.read_bytes()))
    reader.start()
    with writing(path) as file:
        file.write(b"through")
    reader.join(10)
    assert seen == [b"through"]
    assert kind_of(path) == "a pipe"


def test_a_device_is_written_to_and_stays():
    before = os.stat("/dev/null").st_rdev
    with writing(Path("/dev/null")) as file:
        file.write(b"gone")
    assert os.stat("/dev/null").st_rdev == before
    assert kind_of(Path("/dev/null")) == "a character device"


def test_a_socket_is_refused(tmp_path):
    import socket

    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
        with pytest.raises(UsageError, match="is a socket; expected the name of a file to write"), writing(path):
            pass
    with pytest.raises(UsageError, match="is a socket; expected the name of a folder to write"), writing_folder(path):
        pass


def run(code: str, **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], check=True, timeout=60, **options)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_stdout_by_name_is_our_stdout(tmp_path, name):
    code = (
        "from pathlib import Path; from hyperspan.files import writing; print('first', flush=False)\n"
        f"with writing(Path({name!r})) as file: file.write(b'second\\n')\n"
        "print('third')"
    )
    assert run(code, capture_output=True).stdout.splitlines() == [b"first", b"second", b"third"]
    kept = tmp_path / "kept"
    kept.write_bytes(b"before\n")
    with open(kept, "ab") as file:
        run(code, stdout=file)
    assert kept.read_bytes().splitlines() == [b"before", b"first", b"second", b"third"]


KILLED = """
import os, signal, sys
from pathlib import Path
from hyperspan.files import writing, writing_folder
write = writing_folder if sys.argv[2] == "folder" else writing
with write(Path(sys.argv[1])) as there:
    if sys.argv[2] == "folder":
        (there / "half").touch()
    if sys.argv[3] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    print("writing", flush=True)
    sys.stdin.read()
"""


def start(path: Path, kind: str, end: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), kind, end], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, kind):
    with start(tmp_path / "out", kind, "killed") as process:
        assert process.wait(60) == -signal.SIGKILL
    assert [name[-5:] for name in os.listdir(tmp_path)] == [".part"]
    with writing_folder(tmp_path / "other"):
        pass
    assert len(os.listdir(tmp_path)) == 2, "that of another output is not ours"
    with (writing_folder if kind == "folder" else writing)(tmp_path / "out"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["other", "out"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_living_process_is_writing_is_left_alone(tmp_path, kind):
    with start(tmp_path / "out", kind, "lives") as process:
        assert process.stdout.readline() == b"writing\n"
        remove_leftovers(tmp_path / "out")
        assert [name[-5:] for name in os.listdir(tmp_path)] == [".part"]
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_that_was_moved_aside_comes_back(tmp_path):
    aside = tmp_path / f".out.{'a' * 16}.old"
    aside.mkdir()
    (aside / "precious").touch()
    (tmp_path / f".out.{'a' * 16}.part").mkdir()
    with pytest.raises(UsageError, match="is not empty"), writing_folder(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(tmp_path / "out") == ["precious"]


def test_files_of_the_user_are_no_leftovers(tmp_path):
    for name in (".out.part", ".out.mine.part", "out.part", f".outer.{'a' * 16}.part"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "out")
    assert len(os.listdir(tmp_path)) == 4


def test_the_second_of_two_is_refused(tmp_path):
    code = (
        "import sys; from pathlib import Path; from hyperspan.files import locked\n"
        "with locked(Path(sys.argv[1])): print('has it', flush=True); sys.stdin.read()"
    )
    path = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"has it\n"
        refused = "another process is at work on .*out; wait until it is done, or choose another name"
        with pytest.raises(UsageError, match=refused), locked(path):
            pass
        process.kill()
        process.wait(60)
    with locked(path):  # what it left behind holds nobody up
        pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("write", [writing, writing_folder])
def test_the_name_is_on_the_disk_too(tmp_path, monkeypatch, write):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino) or fsync(handle))
    with write(tmp_path / "out"):
        pass
    assert synced[-1] == tmp_path.stat().st_ino, "the folder, after the rename"
    assert (tmp_path / "out").stat().st_ino in synced[:-1], "what was written, before it"
