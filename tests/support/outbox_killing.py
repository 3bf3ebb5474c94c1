"""Processes that put events into one outbox folder and are killed -9: each says what it put and what is durable.

    python -m support.outbox_killing FOLDER ROUNDS SEED

A process that has imported everything forks one child per round and kills it at a moment drawn from the seed: some
milliseconds after a number of its answers. In every other round Kafka is there, as a stand-in that notes what it was
given before it acknowledges; of an odd number of rounds the last has none, and leaves something durable. What each
child did is in FOLDER/log, a line per event: `put NAME`, `durable NAME` (all up to it), and in FOLDER/kafka what was
delivered.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

from headwater_producers.outbox import Outbox
from support.fake_producer import FakeCluster
from support.outbox import EVENTS, metrics, name_of, publisher, record
from support.waiting import patience


def main() -> None:
    folder, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    for turn in range(rounds):
        answers, delay = chance.choice([0, 0, 1, 2, 5, 20]), chance.random() * 0.03
        if turn == rounds - 1:
            answers = max(answers, 1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _put_until_killed(folder, turn, chance.randrange(2**32), writing, kafka=turn % 2 == 1)
        os.close(writing)
        seen = 0
        while seen < answers and (got := os.read(reading, answers - seen)):
            seen += len(got)
        # The moment is drawn, not waited for: anything may be half done.
        threading.Event().wait(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)


def _put_until_killed(folder: Path, turn: int, seed: int, writing: int, *, kafka: bool) -> NoReturn:
    chance = random.Random(seed)
    cluster = FakeCluster()
    cluster.holding = not kafka
    notes = os.open(folder / "kafka", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(topic: str, values: list[bytes]) -> None:
        if topic == EVENTS:
            os.write(notes, "".join(f"{name_of(value)}\n" for value in values).encode())

    cluster.answer = note
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    outbox = Outbox(folder / "outbox", publisher(cluster), metrics=metrics())
    number, name = 0, ""
    while True:
        for _ in range(chance.randrange(1, 30)):
            number += 1
            name = f"r{turn}-{number}"
            os.write(log, f"put {name}\n".encode())
            outbox.put(record(name, size=chance.choice([10, 300, 5_000])))
        if outbox.await_durable(patience(30)) == 0:
            os.write(log, f"durable {name}\n".encode())
            os.write(writing, b".")


if __name__ == "__main__":
    main()
