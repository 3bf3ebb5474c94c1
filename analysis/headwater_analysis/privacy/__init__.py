"""Spread of sensitive columns: derived columns, exposure to readers, and columns classified lower than their sources.

operations    operation of a transformation on a sensitive value
spread        the spread over a graph: pure
graph         this graph in Neo4j
one_step      sensitive columns for `headwater check`
exposed_data  the answer
find_exposed  the question answered
"""

from headwater_analysis.privacy.exposed_data import Privacy
from headwater_analysis.privacy.find_exposed import DEFAULT_THRESHOLD, PrivacyPage, PrivacyQuestion, privacy
from headwater_analysis.privacy.operations import Exposure

__all__ = [
    "DEFAULT_THRESHOLD",
    "Exposure",
    "Privacy",
    "PrivacyPage",
    "PrivacyQuestion",
    "privacy",
]
