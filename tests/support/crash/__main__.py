"""`PYTHONPATH=tests uv run python -m support.crash --kills 50 --seed 7 --output docs/reliability/crash.json`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from headwater.stack import ensure_jars, ports
from headwater.stack.kafka import KafkaBroker
from support.crash.broker import LineageBroker
from support.crash.sweep import sweep
from support.waiting import patience


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _broker(folder: Path) -> KafkaBroker:
    return KafkaBroker(
        folder,
        ports.choose(ports.ANY),
        ensure_jars("kafka"),
        java_options=("-Xmx320m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        delete=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="support.crash")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="kept, and gone on with; default: a temporary one")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as temporary:
        folder: Path = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        # Two, since the one that takes lineage is stopped in its tracks now and then.
        brokers = data, lineage = _broker(folder / "kafka"), _broker(folder / "kafka-lineage")
        try:
            for broker in brokers:
                broker.start()
            for broker in brokers:
                broker.wait(lambda: False)
            admin = AdminClient({"bootstrap.servers": data.bootstrap_servers, "log_level": 2})
            there = admin.list_topics(timeout=patience(30)).topics
            missing = [topic for topic in (NewTopic("in", 2, 1), NewTopic("out", 1, 1)) if topic.topic not in there]
            for made in (admin.create_topics(missing) if missing else {}).values():
                made.result(patience(30))
            began = time.monotonic()
            document = sweep(
                folder,
                data.bootstrap_servers,
                LineageBroker(lineage.bootstrap_servers, lineage.process.pid),
                arguments.seed,
                arguments.kills,
                _say,
            )
            document["minutes"] = round((time.monotonic() - began) / 60, 1)
        finally:
            for broker in brokers:
                if broker.started:
                    broker.process.stop()
    text = json.dumps(document, indent=1) + "\n"
    if arguments.output is not None:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
