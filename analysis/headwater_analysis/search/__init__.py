"""Search: assets by name, owner, tag and column, through the full-text index of words.

lucene_query  queries to the index, in its own language
names         assets with exactly a given name, and assets with the most similar names
consumers     declared consumers by words of their names
search        the question: pages of hits, best first
"""

from headwater_analysis.search.names import exact, nearest
from headwater_analysis.search.search import Hit, Match, SearchPage, search

__all__ = ["Hit", "Match", "SearchPage", "exact", "nearest", "search"]
