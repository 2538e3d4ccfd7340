"""Fuzz everything that reads what others wrote, for some time and with new seeds: ``make fuzz``.

A find is an exception that is none of ours, a crash, or more than `LONGEST` seconds. Its files go to
``tests/finds/TARGET/NAME``, where `tests/unit/test_finds.py` reads them in every run of the tests: commit them together
with the repair.

    python tests/fuzz.py --seconds 60
    python tests/fuzz.py --seconds 60 --seed 7 --target model
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import multiprocessing
import random
import secrets
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzz_targets import Files, Target, targets
from hyperspan.errors import HyperspanError

FINDS = Path(__file__).parent / "finds"
LONGEST = 20
MOST_FINDS = 20
TARGET = "target"


class TooSlow(BaseException):
    """A piece of input took too long."""


def _give_up(number: int, frame: object) -> None:
    raise TooSlow


def put(files: Files, folder: Path) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def problem(target: Target, folder: Path) -> str | None:
    """Return what is wrong with how a target takes the files of a folder, or None."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.check(folder)
    except HyperspanError:
        return None
    except TooSlow:
        return f"more than {LONGEST} seconds"
    except Exception:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return None


def fuzz(chosen: list[Target], seconds: float, seed: int) -> int:
    """Damage and check for some seconds, in a process that may crash; return how many finds there were."""
    end = time.monotonic() + seconds
    n_found = 0
    with tempfile.TemporaryDirectory() as folder:
        while (left := end - time.monotonic()) > 0 and n_found < MOST_FINDS:
            ours, theirs = multiprocessing.Pipe(duplex=False)
            arguments = (chosen, left, seed, folder, theirs)
            process = multiprocessing.get_context("fork").Process(target=_fuzz, args=arguments)
            process.start()
            process.join()
            theirs.close()
            with suppress(EOFError):  # a process that crashed has sent nothing
                n_found += ours.recv()
            ours.close()
            if process.exitcode:
                case = Path(folder, "case")
                inside = [path for path in case.rglob("*") if path.is_file()]
                files = {path.relative_to(case).as_posix(): path.read_bytes() for path in inside}
                _keep(Path(folder, TARGET).read_text(), files, f"the process ended with {process.exitcode}")
                n_found += 1
                shutil.rmtree(case)
            seed += 1
    return n_found


def _fuzz(chosen: list[Target], seconds: float, seed: int, folder: str, report: Any) -> None:
    rng = random.Random(seed)
    done: Counter[str] = Counter()
    found: dict[str, str] = {}
    end = time.monotonic() + seconds
    here = Path(folder, "case")  # where it is found, should this process crash
    while time.monotonic() < end and len(found) < MOST_FINDS:
        target = chosen[sum(done.values()) % len(chosen)]
        files = target.damage(rng)
        here.mkdir()
        put(files, here)
        (here.parent / TARGET).write_text(target.name)
        wrong = problem(target, here)
        done[target.name] += 1
        if wrong is not None:
            place = "\n".join([target.name, *wrong.strip().splitlines()[-3:]])  # the same place is one find
            if place not in found:
                found[place] = wrong
                _keep(target.name, files, wrong)
        shutil.rmtree(here)
    shown = ", ".join(f"{name} {count:,}" for name, count in sorted(done.items()))
    print(f"{sum(done.values()):,} damaged inputs, {len(found)} finds (seed {seed}): {shown}", flush=True)
    report.send(len(found))


def _keep(target: str, files: Files, wrong: str) -> None:
    digest = hashlib.blake2b(repr(sorted(files.items())).encode(), digest_size=5).hexdigest()
    folder = FINDS / target / digest
    put(files, folder)
    print(f"\n{target}: {folder}\n{wrong}", file=sys.stderr, flush=True)


def main() -> None:
    """Read the options and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="do the same damage again; a new one every time if not given")
    parser.add_argument("--target", action="append", help="only these; all if not given")
    given = parser.parse_args()
    logging.disable()
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    chosen = [target for target in targets() if given.target is None or target.name in given.target]
    if not chosen:
        parser.error(f"there is no such target; expected one of {', '.join(target.name for target in targets())}")
    sys.exit(bool(fuzz(chosen, given.seconds, secrets.randbits(32) if given.seed is None else given.seed)))


if __name__ == "__main__":
    main()
