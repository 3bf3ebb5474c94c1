"""The file of exemptions that a command or the settings name."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import InputError
from headwater.lean_imports import without

with without("numpy", "pandas"):
    from headwater_analysis.checks import Exemption, ExemptionsError, read_exemptions


def exemptions_of(path: Path) -> tuple[Exemption, ...]:
    """Read the exemptions of a file.

    Raises:
        InputError: the file can't be read, or has mistakes; the message has line and field of each.
    """
    try:
        return read_exemptions(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} isn't UTF-8.") from error
    except ExemptionsError as error:
        raise InputError(f"The exemptions are invalid:\n{error}") from error
