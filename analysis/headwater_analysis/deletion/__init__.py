"""Safe deletion of a dataset, or of one of its versions: dependants that still need it, and gaps in the lineage.

answer  the answer
ask     the question
"""

from headwater_analysis.deletion.answer import MayDelete, Verdict
from headwater_analysis.deletion.ask import HOLDING, DeletionQuestion, may_delete

__all__ = ["HOLDING", "DeletionQuestion", "MayDelete", "Verdict", "may_delete"]
