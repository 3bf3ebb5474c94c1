"""Short texts for assets, times, transformations, jobs and code versions."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from headwater.console import shortened
from headwater_analysis.assets import Asset
from headwater_analysis.lineage import Transformation, Via
from headwater_schemas.visible import visible

_MOST_EXPRESSION = 80
SHORT_VERSION = 12
"""Number of characters of a digest that are shown."""
LONGEST_PATH = 4_096
"""Maximum length of a path on Linux: a valid path is never shortened, because the user may have asked for this path."""


def asset_text(asset: Asset) -> Text:
    """Format an asset: its spelling, with the name or column path in bold, and its name in a catalog."""
    spelling, own = shortened(asset.spelling), visible(asset.column or asset.title or asset.name)
    text = Text(spelling)
    if spelling.endswith(own):
        text.stylize("bold", len(spelling) - len(own))
    return text if asset.table is None else text.append(f" ({shortened(asset.table)})")


def dataset_text(asset: Asset, longest: int = 160) -> str:
    """Format a dataset, or the dataset of a column, without emphasis: its spelling, and its name in a catalog."""
    name = shortened(asset.spelling.removesuffix(f"#{asset.column}"), longest)
    return name if asset.table is None else f"{name} ({shortened(asset.table)})"


def moment_text(time: datetime | None) -> str:
    """Format a time to the second, in UTC; a dash for None."""
    return "–" if time is None else f"{time:%Y-%m-%d %H:%M:%S}Z"


def span_text(first: datetime | None, last: datetime | None) -> str:
    """Format a time range, with a common date only once; without an end as `since …`."""
    if first is None:
        return "–"
    if last is None:
        return f"since {moment_text(first)}"
    if first == last:
        return moment_text(first)
    begin = f"{first:%Y-%m-%d %H:%M:%S}"
    return f"{begin} … {last:%H:%M:%S}Z" if first.date() == last.date() else f"{begin} … {moment_text(last)}"


def transformation_text(transformation: Transformation) -> str:
    """Format a transformation: `AGGREGATE avg(dep_delay), masked`."""
    words = transformation.kind.value
    if transformation.expression is not None:
        words += f" {shortened(transformation.expression, _MOST_EXPRESSION)}"
    return words + (", masked" if transformation.masking else "")


def via_text(via: Via) -> str:
    """Format a job of a hop: its name, whether the hop is declared or only possible, and when it was seen."""
    seen = ["declared"] if via.declared else []
    if via.possible:
        seen.append("possible")
    if via.observed or via.possible:
        seen.append(span_text(via.first_seen, via.last_seen))
    seen += [
        shortened(f"{each.input_field} → {each.output_field}: {each.transform}", _MOST_EXPRESSION)
        for each in via.partitions
    ]
    return f"{shortened(via.job.name)} ({', '.join(seen)})"


def short_version(code: str | None) -> str:
    """Format a code version: a commit by its first 12 digits, marked if dirty; any other version unchanged."""
    if code is None:
        return ""
    commit, _, mark = code.partition("-")
    is_commit = len(commit) == 40 and all(digit in "0123456789abcdef" for digit in commit)
    return commit[:SHORT_VERSION] + (f"-{shortened(mark, 40)}" if mark else "") if is_commit else shortened(code, 40)
