"""`headwater demo`: the whole way from Spark to Neo4j on the flights of 2013, which then checks itself.

folder      where a demo keeps everything, and that there is one at a time
stack       its own Kafka and Neo4j
jobs        which scripts run, when, with which flags
processes   the scripts and the consumer as child processes
broker      topics, and how far everyone has come
broken      three records that can't be applied
pipeline    runs the jobs to their end
facts       what Kafka, the checkpoints and Neo4j hold afterwards
checks      what must be true of the facts
tracing     which columns lead back to a dataset
view        the live picture
summary     the last word: tables, next steps, JSON
run         all of it, from top to bottom
"""
