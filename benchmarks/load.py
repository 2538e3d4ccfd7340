"""Load-test a server on this machine: latency, errors and memory.

There are four parts, all bounded: one client with one request after another (the latency of a sentence); many clients
at once, in rounds (errors, and memory after each round); more clients than fit in the queue (how quickly they are
rejected, and whether the server recovers); and two hostile clients whose requests take far longer than the limit
(whether any request exceeds it, whether others are still answered, and how long the server takes to stop).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.commands import HYPERSPAN

SENTENCES = (
    "Left and right kidneys are enlarged and there is blood in the stomach.",
    "Infarctions either water shed or embolic.",
    "The patient had blood in his mouth and on his tongue, pupils were pinpoint and reactive.",
    "Ethanol intoxication and withdrawal.",
    "No fever.",
)
LONGEST_WAIT = 60.0
READY_SECONDS = 300.0
HOSTILE_WORDS = 2_000
HOSTILE_SECONDS = 3.0


@dataclass
class Outcome:
    """The outcomes of requests."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    took: float = 0.0

    def add(self, status: str, seconds: float) -> None:
        """Record a response, or the error that occurred instead."""
        self.statuses[status] += 1
        self.seconds.setdefault(status, []).append(seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return counts and quantiles of the time in milliseconds, by status."""
        return {
            "seconds": self.took,
            "per_second": sum(self.statuses.values()) / self.took if self.took else None,
            "statuses": dict(self.statuses),
            "milliseconds": {status: quantiles(times) for status, times in self.seconds.items()},
        }


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and upper quantiles in milliseconds."""
    ordered = sorted(seconds)
    shares = {"median": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}
    return {
        name: round(1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
        for name, share in shares.items()
    }


class Client:
    """A persistent connection with little overhead of its own, so that the server is what is measured."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def predict(self, text: str) -> int:
        """Request the mentions of a text, and return the status of the response."""
        return await self.post("/api/predict", {"text": text})

    async def post(self, path: str, data: Any) -> int:
        """Send JSON, and return the status of the response."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(data).encode()
        head = (
            f"POST {path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        writer.write("\r\n".join((*head, "", "")).encode() + body)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.split("content-length:")[1].split("\r\n")[0])
        await reader.readexactly(length)
        if "connection: close" in answer:
            await self.close()
        return int(answer.split(" ", 2)[1])

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def load(port: int, n_clients: int, n_requests: int, texts: Sequence[str] = SENTENCES) -> Outcome:
    """Run several clients at once, each with one request after another."""
    outcome = Outcome()

    async def ask(number: int) -> None:
        client = Client(port)
        for turn in range(n_requests):
            begin = time.perf_counter()
            try:
                async with asyncio.timeout(LONGEST_WAIT):
                    status = str(await client.predict(texts[(number + turn) % len(texts)]))
            except (OSError, EOFError, TimeoutError) as error:
                status = type(error).__name__
                await client.close()
            outcome.add(status, time.perf_counter() - begin)
        await client.close()

    begin = time.perf_counter()
    await asyncio.gather(*map(ask, range(n_clients)))
    outcome.took = time.perf_counter() - begin
    return outcome


async def attack(port: int, seconds: float) -> dict[str, Any]:
    """Let two clients repeat slow requests, while two others request the mentions of a sentence."""
    hostile, others = Outcome(), Outcome()
    end = time.perf_counter() + seconds
    long = (SENTENCES[0].split() * 200)[:HOSTILE_WORDS]
    bodies: Sequence[tuple[str, Any]] = (
        ("/api/explain", {"tokens": long, "threshold": 1e-9}),
        ("/api/predict", {"sentences": [long] * 40, "decode": "all", "candidates": True}),
        ("/api/read-brat", {"text": "a " * 200_000, "ann": "".join(f"T{n}\tX 0 400000\tx\n" for n in range(4_000))}),
    )

    async def ask(outcome: Outcome, number: int, chosen: Sequence[tuple[str, Any]]) -> None:
        client = Client(port)
        turn = number
        while time.perf_counter() < end:
            begin = time.perf_counter()
            try:
                async with asyncio.timeout(LONGEST_WAIT):
                    status = str(await client.post(*chosen[turn % len(chosen)]))
            except (OSError, EOFError, TimeoutError) as error:
                status = type(error).__name__
                await client.close()
            outcome.add(status, time.perf_counter() - begin)
            turn += 1
            await asyncio.sleep(0.01)
        await client.close()

    begin = time.perf_counter()
    sentence = (("/api/predict", {"text": SENTENCES[-1]}),)
    await asyncio.gather(
        *(ask(hostile, number, bodies) for number in range(2)), *(ask(others, 0, sentence) for _ in range(2))
    )
    hostile.took = others.took = time.perf_counter() - begin
    return {"hostile": hostile.as_dict(), "others": others.as_dict()}


@contextmanager
def served(model: Path, *options: str) -> Iterator[tuple[int, int]]:
    """Start a server for a model, yield its port and process, and stop it at the end."""
    command = [sys.executable, *HYPERSPAN, "serve", str(model), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("Serving "):
                break
        else:
            raise SystemExit(f"the server did not start: {''.join(said)}")
        yield int(line.rstrip("/\n").rsplit(":", 1)[1]), process.pid
    finally:
        process.terminate()
        process.wait(timeout=READY_SECONDS)
        process.stderr.close()


def memory_of(process: int) -> float | None:
    """Return the memory of a process in megabytes; None where /proc is missing."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def measure(model: Path, n_clients: int, n_requests: int, n_rounds: int = 3) -> dict[str, Any]:
    """Return the latency of one client, the rounds of many clients with the memory after each, and an overload."""
    report: dict[str, Any] = {}
    with served(model) as (port, process):
        first = asyncio.run(load(port, 1, 1))
        report["first"] = first.as_dict()
        report["one_client"] = asyncio.run(load(port, 1, 10 * n_requests)).as_dict()
        report["megabytes"] = [memory_of(process)]
        report["many_clients"] = []
        for _ in range(n_rounds):
            report["many_clients"].append(asyncio.run(load(port, n_clients, n_requests)).as_dict())
            report["megabytes"].append(memory_of(process))
    with served(model, "--queue", "4", "--threads", "1") as (port, _):
        report["overload"] = asyncio.run(load(port, n_clients, 3, [" ".join(SENTENCES) * 5])).as_dict()
        report["recovered"] = asyncio.run(load(port, 1, 10)).as_dict()
    limits = ("--max-explained", str(HOSTILE_WORDS), "--max-words", str(HOSTILE_WORDS))
    with served(model, *limits, "--max-seconds", f"{HOSTILE_SECONDS:g}", "--max-body", "10000000") as (port, _):
        report["attack"] = asyncio.run(attack(port, 10 * HOSTILE_SECONDS))
        report["attack"]["limit"] = HOSTILE_SECONDS
        begin = time.perf_counter()
    report["attack"]["seconds_to_stop"] = time.perf_counter() - begin
    return report


def demo_model(path: Path) -> Path:
    """Train the model of ``hyperspan serve``, and write it to a file."""
    from hyperspan.cli.serve import demo_model as trained

    trained().save(path)
    return path


def show(report: dict[str, Any]) -> None:
    """Print the measurements."""
    rounds = [(f"many clients, round {number}", each) for number, each in enumerate(report["many_clients"], start=1)]
    parts = [("first request", report["first"]), ("one client", report["one_client"]), *rounds]
    attack = report["attack"]
    parts += [("overload", report["overload"]), ("recovered", report["recovered"])]
    parts += [("two hostile clients", attack["hostile"]), ("two others beside them", attack["others"])]
    for name, part in parts:
        for status, times in part["milliseconds"].items():
            shown = "  ".join(f"{key} {value:.1f}" for key, value in times.items())
            print(f"{name:24} {status:>6} x {part['statuses'][status]:<6} {shown} ms")
    sizes = ", ".join("?" if size is None else f"{size:.0f}" for size in report["megabytes"])
    print(f"memory before and after each round: {sizes} MB")
    longest = max(times["most"] for part in ("hostile", "others") for times in attack[part]["milliseconds"].values())
    stopped = attack["seconds_to_stop"]
    print(f"limit {attack['limit']:g} s, longest request {longest / 1e3:.2f} s, stopped in {stopped:.2f} s")
