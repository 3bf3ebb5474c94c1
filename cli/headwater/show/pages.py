"""What is said below a page of an answer."""

from __future__ import annotations


def counted(total: int, shown: int, what: str, next_cursor: str | None, *, at_least: bool = False) -> str:
    """`12 runs, 5 of them here. The next page: --cursor …`.

    Args:
        total: how many there are.
        shown: how many are on the page.
        what: the word for one of them, which gets an s.
        next_cursor: of the page.
        at_least: there may be more than `total`.
    """
    words = f"{'At least ' if at_least else ''}{total:,} {what}{'' if total == 1 else 's'}"
    if shown < total:
        words += f", {shown:,} of them here"
    return f"{words}." + (f" The next page: --cursor {next_cursor}" if next_cursor else "")
