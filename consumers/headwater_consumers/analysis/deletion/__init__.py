"""Whether a dataset, or one of its versions, may be deleted: the dependants that still need it, and what isn't known.

answer  the answer
ask     the question
"""

from headwater_consumers.analysis.deletion.answer import MayDelete, Verdict
from headwater_consumers.analysis.deletion.ask import HOLDING, DeletionQuestion, may_delete

__all__ = ["HOLDING", "DeletionQuestion", "MayDelete", "Verdict", "may_delete"]
