"""Spread of sensitive columns: their copies, how those can be read, and columns classified lower than their sources.

sensitivity levels of sensitivity, and which of them count as sensitive
operations    what a transformation does to a sensitive value
spread        how far it goes: pure
graph         the same graph in Neo4j
one_step      what `headwater check` asks of sensitive columns
exposed_data  the answer
find_exposed  the question answered
"""

from headwater_analysis.privacy.exposed_data import Privacy
from headwater_analysis.privacy.find_exposed import DEFAULT_THRESHOLD, PrivacyPage, PrivacyQuestion, privacy
from headwater_analysis.privacy.operations import Exposure, Operation
from headwater_analysis.sensitivity import SENSITIVE

__all__ = [
    "DEFAULT_THRESHOLD",
    "SENSITIVE",
    "Exposure",
    "Operation",
    "Privacy",
    "PrivacyPage",
    "PrivacyQuestion",
    "privacy",
]
