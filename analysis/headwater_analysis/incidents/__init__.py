"""Incidents of bad data: their scope, their reach, and their repair.

answers         the answers: an incident, the parts of its scope, what it reached
scope           parts of a scope as answers show them
origins         parts of a scope → bad data in the graph
repairs         declared repairs, which remove parts from a reach
reach           everything that the bad data of an incident reached, as the graph is now
fault_effects   effect of each kind of fault on a column, by the use of the column
columns         columns that bad data reached, and the effect on each
first_bad_run   the first bad run or micro-batch, and the last good one before it
spreading       streaming queries that may still put bad records into their output
recorded        the reach as an event records it, and its difference to the reach of today
questions       the questions: list of incidents, and one incident
figures         open incidents by age and severity, times to acknowledge and to resolve
recipients      owners and consumers to notify, each with the reached datasets that concern them
unknown         unknown parts of a reach, and the bad data that is left, as texts
planning        the repair plan: steps in order, after which no bad data is left
actions         actions on incidents, checked against the graph → events
campaigns       backfill campaigns: the data that their runs restated, and what is left to repair
detection       data faults found in the graph, and the incidents that a policy opens for them
marks           datasets of any answer that hold bad data of open incidents
gate            check before a dataset is read: open incidents whose bad data would be read
"""
