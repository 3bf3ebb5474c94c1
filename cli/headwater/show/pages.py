"""What is said below a page of an answer."""

from __future__ import annotations


def counted(
    total: int, shown: int, what: str, next_cursor: str | None, *, plural: str = "", at_least: bool = False
) -> str:
    """`12 runs, 5 of them here. The next page: --cursor …`.

    Args:
        total: how many there are.
        shown: how many are on the page.
        what: the word for one of them.
        next_cursor: of the page.
        plural: the word for several, where that isn't `what` with an s.
        at_least: there may be more than `total`.
    """
    words = f"{'At least ' if at_least else ''}{total:,} {what if total == 1 else plural or f'{what}s'}"
    if shown < total:
        words += f", {shown:,} of them here"
    return f"{words}." + (f" The next page: --cursor {next_cursor}" if next_cursor else "")
