"""`headwater consume` as a process of its own, and what it answers."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater_benchmarks.soak.process import PROGRAM, CommandProcess

_PORT = re.compile(r"Metrics and health on http://[\d.]+:(\d+)")


class ConsumerProcess(CommandProcess):
    """A running consumer.

    Args:
        settings: variables of its environment.
        folder: of its own.
        arguments: further ones of the command.
        program: what Python runs as `headwater`.
    """

    def __init__(
        self, settings: Mapping[str, str], folder: Path, *arguments: str, program: Sequence[str] = PROGRAM
    ) -> None:
        super().__init__(settings, folder, "consume", "--port", "0", *arguments, program=program)

    @property
    def port(self) -> int:
        """Port of its metrics, once it serves them.

        Raises:
            HeadwaterError: it ended, or hasn't begun to in time.
        """
        self.until(lambda: _PORT.search(self.stderr) is not None, "a port")
        return int(_PORT.findall(self.stderr)[0])

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of one of its paths.

        Raises:
            OSError: it doesn't answer.
            HeadwaterError: it ended.
        """
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ready(self) -> bool:
        """True when `/readyz` answers 200; False when nothing answers."""
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def metrics(self, name: str, **labels: str) -> float:
        """Sum of the series of a name that have these labels, `rebalances_total` say."""
        _, text = self.get("/metrics")
        wanted = {f'{label}="{value}"' for label, value in labels.items()}
        values = [
            float(line.split()[-1])
            for line in text.splitlines()
            if line.startswith(f"headwater_materializer_{name}{{") and wanted <= set(re.findall(r'\w+="[^"]*"', line))
        ]
        return sum(values)

    def metric(self, name: str) -> float:
        """Value of a series without labels, `records_consumed_total` say."""
        _, text = self.get("/metrics")
        (line,) = [line for line in text.splitlines() if line.startswith(f"headwater_materializer_{name} ")]
        return float(line.split()[-1])
