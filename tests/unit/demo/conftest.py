from __future__ import annotations

import sys
from pathlib import Path

# As spark-submit does it: a script finds its neighbours because their folder is on the path.
sys.path.insert(0, str(Path(__file__).parents[3] / "spark_jobs" / "flights"))
