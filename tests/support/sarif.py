"""Checks of SARIF documents."""

from __future__ import annotations

import re
from typing import Any


def check_sarif(log: dict[str, Any]) -> None:
    """Check the rules of SARIF 2.1.0 that apply: sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.49 of the standard."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9\-._~:/@!$&'()*+,;=%]*", place["artifactLocation"]["uri"])
        assert place["region"]["startLine"] >= 1
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    for invocation in run.get("invocations", ()):
        assert invocation["executionSuccessful"] is True
