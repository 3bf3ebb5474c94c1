"""`headwater demo`: a complete pipeline from Spark to Neo4j on the flights of 2013, and checks of its result.

folder      files of a demo; one demo at a time uses them
jobs        schedule: the scripts, when they run, with which flags
processes   the scripts and the consumer as child processes, until the jobs end
broker      topics, and progress of the events
broken      three records that can't be applied
facts       contents of Kafka, the checkpoints and Neo4j afterwards
checks      claims about the facts
view        live picture
summary     tables, next steps, JSON
scenario    run of a demo from start to end
"""
