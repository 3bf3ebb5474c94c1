"""`python -m headwater`, and the entry point of the `headwater` script."""

from __future__ import annotations

import sys

from headwater import cli


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(cli.main())


if __name__ == "__main__":
    main()
