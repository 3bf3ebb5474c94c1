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
from support.crash.sweep import sweep


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="support.crash")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="kept; default: a temporary one")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as temporary:
        folder: Path = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        broker = KafkaBroker(
            folder / "kafka",
            ports.choose(ports.ANY),
            ensure_jars("kafka"),
            java_options=("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            delete=False,
        )
        broker.start()
        try:
            broker.wait(lambda: False)
            admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 2})
            for made in admin.create_topics([NewTopic("in", 2, 1), NewTopic("out", 1, 1)]).values():
                made.result(30)
            began = time.monotonic()
            document = sweep(
                folder,
                broker.bootstrap_servers,
                arguments.seed,
                arguments.kills,
                _say,
            )
            document["minutes"] = round((time.monotonic() - began) / 60, 1)
        finally:
            broker.process.stop()
    text = json.dumps(document, indent=1) + "\n"
    if arguments.output is not None:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
