"""Production checklist: requirements that Headwater's programs can't ensure, checked without writing anything.

finding       result of a check, its severity, and the fix
topics        retention, compaction, replication and sizes of Headwater's topics, against the outage budget
access        users that may read and write the topics
graph         version, constraints and indexes of the graph
clocks        differences between the clocks of all machines
outbox        durability of the folder of outboxes on this machine, and its pending events
letters       pending dead letters
lag           lag of the consumer group
backup        sources for a rebuild of the graph
examine       all checks, independently

Each check has a frozen value with its observations, a function `look…` that reads them from the brokers, the database
or the machine, and a pure function `judge…` that decides. A failed observation gives a finding UNKNOWN, with the
reason.
"""

from headwater.doctor.examine import Examined, examine
from headwater.doctor.finding import DoctorFinding, FindingSeverity

__all__ = ["DoctorFinding", "Examined", "FindingSeverity", "examine"]
