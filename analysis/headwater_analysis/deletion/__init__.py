"""Safe deletion of a dataset, or of one of its versions: dependants that still need the data, and gaps in the lineage.

verdict         the answer: verdict, dependants and gaps
deletion_check  the question
"""

from headwater_analysis.deletion.deletion_check import HOLDING, DeletionQuestion, may_delete
from headwater_analysis.deletion.verdict import MayDelete, Verdict

__all__ = ["HOLDING", "DeletionQuestion", "MayDelete", "Verdict", "may_delete"]
