// How many micro-batches are still nodes of their own
MATCH (n:Interval) RETURN count(n) AS count
