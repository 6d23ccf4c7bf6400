"""`sitegraph serve` under load: every answer of one generation, no error, memory flat.

    python -m bench.serve_load --seconds 300

Two workers answer eight connections that ask without a pause. Every passage says which edition it is of. In
the middle of the time every tenth page becomes the next edition, and a run publishes them beside the load;
the asking goes on until that has shown. An answer is mixed if a passage in it is of another edition than its
page has in the generation that the answer names.

    python -m bench.serve_load --clients 200 --seconds 60 --rounds 3

Good answers a second under four clients and under many, in turn, each without and beside a publish. Clients
come again when `Retry-After` says; with --impatient at once.
"""

import argparse
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

REPO = Path(__file__).resolve().parents[1]
WORKERS, CONNECTIONS, PAGES, CHANGED = 2, 8, 200, 10
FEW = 4
"""Clients that an overloaded service is compared under."""

COMMAND = (sys.executable, "-m", "sitegraph.cli.app")
TOPICS = (
    "lease",
    "archive",
    "gateway",
    "ledger",
    "turbine",
    "harbour",
    "orchard",
    "signal",
    "quarry",
    "beacon",
)
WARM_SECONDS = 10.0
PASSAGE = re.compile(r"Edition (\d+): (?:about|the \w+ of) \w+ (\d+)")


@dataclass
class Seen:
    """What the connections saw; added to under its lock."""

    seconds: list[float] = field(default_factory=list)
    generations: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def main() -> None:
    """Build an index, load it, and print one line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300.0, help="how long to ask (default: 300)")
    parser.add_argument("--clients", type=int, help="compare good answers a second under 4 and so many")
    parser.add_argument("--rounds", type=int, default=3, help="how often to compare (default: 3)")
    parser.add_argument("--impatient", action="store_true", help="ask again at once when turned away")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        if options.clients is None:
            print(json.dumps(measure(Path(scratch), seconds=options.seconds)))
            return
        for found in compare(Path(scratch), options):
            print(json.dumps(found), flush=True)


def compare(scratch: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Load a service with few clients and with many, in turn, without and beside a publish."""
    source, index = write_source(scratch), scratch / "index"
    publish(source, index, edition=1)
    editions = count(2)
    service, port = start(index)
    try:
        workers = wait_for_workers(service, port)
        ask_in = partial(phase, port, workers, patient=not options.impatient)
        with asking(Seen(), port):
            time.sleep(WARM_SECONDS)
        for _ in range(options.rounds):
            for clients in (FEW, options.clients):
                yield ask_in(clients, lambda: time.sleep(options.seconds))
            for clients in (FEW, options.clients):
                yield ask_in(
                    clients, lambda: publish(source, index, edition=next(editions)), beside="publish"
                )
    finally:
        stop(service)


def phase(
    port: int,
    workers: list[int],
    clients: int,
    wait: Callable[[], object],
    *,
    patient: bool,
    beside: str = "",
) -> dict[str, Any]:
    """Ask while *wait* lasts, and until each client has its last answer; give what was seen.

    CPU seconds of the service for each good answer compare phases on a machine that does other work, too.
    """
    seen, started, cpu = Seen(), time.monotonic(), sum(map(cpu_seconds, workers))
    with asking(seen, port, clients, patient=patient):
        wait()
    took = time.monotonic() - started
    return {
        "clients": clients,
        "beside": beside,
        "seconds": round(took),
        "good": len(seen.seconds),
        "good_a_second": round(len(seen.seconds) / took, 2),
        "cpu_s_of_one": round((sum(map(cpu_seconds, workers)) - cpu) / max(1, len(seen.seconds)), 2),
        "longest_s": round(max(seen.seconds, default=0.0), 1),
        "mixed": seen.mixed,
        "errors": dict(seen.errors),
        "load_average": round(os.getloadavg()[0], 1),
    }


def measure(scratch: Path, *, seconds: float) -> dict[str, Any]:
    """Load a service over a new index in *scratch* and give what was seen."""
    source, index = write_source(scratch), scratch / "index"
    publish(source, index, edition=1)
    service, port = start(index)
    seen, started = Seen(), 0.0
    try:
        workers = wait_for_workers(service, port)
        with asking(Seen(), port):
            time.sleep(WARM_SECONDS)
        started = time.monotonic()
        before = [resident_mb(pid) for pid in workers]
        with asking(seen, port):
            time.sleep(seconds / 2)
            publish(source, index, edition=2)
            time.sleep(max(WARM_SECONDS, seconds / 2 - (time.monotonic() - started - seconds / 2)))
        asked = time.monotonic() - started
        after = [resident_mb(pid) for pid in workers]
    finally:
        ended = stop(service)
    return {
        "seconds": round(asked),
        "requests": len(seen.seconds),
        "errors": dict(seen.errors),
        "mixed": seen.mixed,
        "generations": {str(number): seen.generations[number] for number in sorted(seen.generations)},
        "p50_ms": round(1000 * statistics.median(seen.seconds), 1),
        "p95_ms": round(1000 * statistics.quantiles(seen.seconds, n=20)[18], 1),
        "rss_mb_before": before,
        "rss_mb_after": after,
        "load_average": round(os.getloadavg()[0], 1),
        "ended_after_s": round(ended, 1),
    }


def write_source(scratch: Path) -> Path:
    """Write the source file of a folder of pages."""
    source = scratch / "pages.yaml"
    source.write_text(f"name: pages\nkind: files\nroots: [{scratch / 'pages'}]\n")
    return source


def publish(source: Path, index: Path, *, edition: int) -> None:
    """Write all pages, or those that change, as they are in *edition* and publish it, as that generation."""
    folder = source.parent / "pages"
    folder.mkdir(exist_ok=True)
    for number in range(0, PAGES, 1 if edition == 1 else CHANGED):
        (folder / f"page-{number}.md").write_text(page(number, edition))
    call = [*COMMAND, "run", str(source), "--index", str(index), "--format", "json"]
    done = subprocess.run(call, cwd=REPO, capture_output=True, text=True, check=True)
    if (generation := json.loads(done.stdout)["generation"]) != edition:
        raise SystemExit(f"edition {edition} became generation {generation}")


def page(number: int, edition: int) -> str:
    """A page of three sections about two topics; each passage says its edition."""
    first, second = TOPICS[number % 10], TOPICS[(number // 10) % 10]
    paragraphs = [
        f"## {kind.title()} of {first} {number}\n\n"
        f"Edition {edition}: the {kind} of {first} {number} follows the {second}. "
        f"When the {second} is renewed, {first} {number} is checked twice and its {kind} is written down."
        for kind in ("purpose", "upkeep", "failure")
    ]
    return (
        f"# {first.title()} {number}\n\nEdition {edition}: about {first} {number} and {second}.\n\n"
        + "\n\n".join(paragraphs)
    )


def start(index: Path) -> tuple[subprocess.Popen[str], int]:
    """Start the service on a free port."""
    call = [*COMMAND, "serve", "--index", str(index), "--port", "0", "--workers", str(WORKERS)]
    service = subprocess.Popen(call, cwd=REPO, stderr=subprocess.PIPE, text=True)
    assert service.stderr is not None
    found = re.search(r":(\d+);", service.stderr.readline())
    assert found is not None
    # Else its access log would fill the pipe.
    threading.Thread(target=service.stderr.read, daemon=True).start()
    return service, int(found[1])


def wait_for_workers(service: subprocess.Popen[str], port: int) -> list[int]:
    """Return the processes that answer, once they do."""
    ask(http.client.HTTPConnection("127.0.0.1", port, timeout=120), "lease")
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    return sorted(int(pid) for pid in children if "resource_tracker" not in command_of(pid))


def command_of(pid: str) -> str:
    """The command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def cpu_seconds(pid: int) -> float:
    """What a process has taken of processors so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> int:
    """Memory of a process that is its own: pages of files are shared and go when they must."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"RssAnon:\s+(\d+)", status)[0]) // 1024


def stop(service: subprocess.Popen[str]) -> float:
    """Tell the service to end and give how long that took."""
    started = time.monotonic()
    service.send_signal(signal.SIGTERM)
    service.wait(timeout=30)
    return time.monotonic() - started


@contextmanager
def asking(seen: Seen, port: int, clients: int = CONNECTIONS, *, patient: bool = False) -> Iterator[None]:
    """Ask over so many connections until the block ends; the *patient* come again when they are told to."""
    done = threading.Event()
    threads = [
        threading.Thread(target=ask_on, args=(seen, port, done, range(n, PAGES**3, clients), patient))
        for n in range(clients)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


class TurnedAway(ValueError):
    """An answer that is none, and after how many seconds the service wants to be asked again."""

    def __init__(self, said: str, again: float) -> None:
        super().__init__(said)
        self.again = again


def ask_on(seen: Seen, port: int, done: threading.Event, numbers: range, patient: bool) -> None:
    """Ask one question after the other over one connection; a new one after an error."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in numbers:
        if done.is_set():
            break
        started = time.perf_counter()
        try:
            bundle = ask(connection, f"upkeep of {TOPICS[number % 10]} {number % PAGES} after a failure")
        except (OSError, http.client.HTTPException, ValueError) as error:
            with seen.lock:
                seen.errors[f"{type(error).__name__}: {error}"[:80]] += 1
            if isinstance(error, TurnedAway):
                done.wait(error.again if patient else 0)
            else:
                connection.close()
            continue
        took = time.perf_counter() - started
        with seen.lock:
            seen.seconds.append(took)
            seen.generations[bundle["generation"]] += 1
            seen.mixed += is_mixed(bundle)
    connection.close()


def ask(connection: http.client.HTTPConnection, text: str) -> dict[str, Any]:
    """Return the bundle that answers a question; any other answer is a ValueError."""
    body = json.dumps({"query": text, "top_k": 8})
    connection.request("POST", "/retrieve", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200:
        again = float(response.headers.get("Retry-After", "0"))
        raise TurnedAway(f"{response.status} {response.reason}", again)
    bundle: dict[str, Any] = json.loads(answer)
    if not bundle["evidence"] or bundle["degraded"]:
        raise ValueError("an answer without evidence, or degraded")
    return bundle


def is_mixed(bundle: dict[str, Any]) -> bool:
    """Whether anything in the bundle is of another edition than its page has in the bundle's generation."""
    texts = [one["text"] for one in bundle["evidence"]] + [one["gist"] for one in bundle["summaries"]]
    found = [map(int, passage) for text in texts for passage in PASSAGE.findall(text)]
    return any(edition != (1 if number % CHANGED else bundle["generation"]) for edition, number in found)


if __name__ == "__main__":
    main()
