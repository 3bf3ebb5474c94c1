"""`headwater` whose process ends when it comes to a certain record, as one that takes all memory does.

python -m support.materializer.ended consume …
"""

from __future__ import annotations

import os
import signal
import sys
from unittest.mock import patch

from headwater.cli import main
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent

POISON = b"ends whoever decodes it"

_decode = Decoder.decode


def decode(self: Decoder, value: bytes | None) -> LineageEvent:
    """Decode like `Decoder.decode`, but die of the poison value."""
    if value == POISON:
        os.kill(os.getpid(), signal.SIGKILL)
    return _decode(self, value)


if __name__ == "__main__":
    with patch.object(Decoder, "decode", decode):
        sys.exit(main(sys.argv[1:]))
