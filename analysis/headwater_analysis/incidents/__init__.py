"""Incidents: what is wrong, what it reached, and what is left to repair.

answers         the answers: an incident, the parts of its scope, what it reached
scope           parts of a scope as answers show them
origins         parts of a scope → the bad data that the graph knows of them
repairs         declared repairs, which take parts out of what is reached
reach           what open incidents reached, now
fault_effects   the effect of each kind of fault, by the way in which a column is used
columns         columns that bad data reached, and the effect on each
first_bad_run   the first bad run or micro-batch, and the last good one before it
spreading       streaming queries that may still write of bad records
recorded        the reach as an event records it, and the difference to an earlier record
questions       the list of incidents, and one of them
figures         open incidents by age and severity, times to acknowledge and to resolve
recipients      owners and consumers to notify, each with what of theirs was reached
unknown         everything of a reach that isn't known
planning        the repair plan: what to do, in order, so that nothing bad is left
actions         actions on incidents → events, after a look at the graph
campaigns       runs with one campaign id, what they restated, and what is left
detection       faults of the graph, and the incidents that a policy opens for them
marks           datasets of any answer that open incidents reached
gate            open incidents that cover what would be read of a dataset
"""
