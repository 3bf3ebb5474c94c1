"""Killing a Spark driver at random moments, and comparing what was emitted with its checkpoints.

draw     what is drawn for one start: its query, its settings, what becomes of Kafka, the moment of its death
job      the driver: three streaming queries, captured
driver   a driver's process group: started, waited for, killed
broker   the Kafka that its lineage goes to, which may be dead, stand still, go or come back
emitted  what was emitted: on the topic, in outboxes, in files
truth    what the checkpoints say, read without capture's own code
check    what was emitted, folded as the materializer does it, against that
sweep    kills, one after the other, from a seed
"""
