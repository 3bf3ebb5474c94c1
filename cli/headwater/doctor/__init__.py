"""Production checklist: requirements of operation besides the program, checked without writing anything.

finding       result of a check, its severity, and the fix
topics        retention, compaction, replication and sizes of Headwater's topics, against the outage budget
access        users that may read and write the topics
graph         version, constraints and indexes of the graph
clocks        whether the clocks of all machines agree
outbox        whether the folder of outboxes on this machine is durable, and its pending events
letters       pending dead letters
lag           how far the consumer group is behind
backup        whether the graph can be rebuilt
examine       all checks, independently

Each has its observations as a frozen value, `judge…`, a pure function that decides from them, and `look…`, which reads
them from the brokers, the database or the machine. A failed observation gives a finding UNKNOWN, with the reason.
"""

from headwater.doctor.examine import Examined, examine
from headwater.doctor.finding import DoctorFinding, FindingSeverity

__all__ = ["DoctorFinding", "Examined", "FindingSeverity", "examine"]
