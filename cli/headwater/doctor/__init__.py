"""The production checklist: what an operation needs besides the program, looked at without writing anything.

finding       what a check found, how bad it is, and the fix
topics        retention, compaction, replication and sizes of Headwater's topics, against the outage budget
access        who may read and write them
graph         version, constraints and indexes of the graph
clocks        whether those who state times agree
outbox        whether the folder of outboxes on this machine is durable, and what waits in it
letters       dead letters that nobody looks at
lag           how far the consumer group is behind
backup        whether the graph can be made anew
examine       all of them, each on its own

Each has what was looked at as a frozen value, `judge…`, which decides without looking at anything else, and `look…`,
which asks the brokers, the database or the machine. What can't be seen is a finding, too: UNKNOWN, with the reason.
"""

from headwater.doctor.examine import Examined, examine
from headwater.doctor.finding import DoctorFinding, FindingSeverity

__all__ = ["DoctorFinding", "Examined", "FindingSeverity", "examine"]
