"""Dry run of a PySpark script: it runs against empty tables, and its outputs are described instead of written.

    python -m headwater_producers.spark.dry_run --channel IN,OUT --parent PID --scratch FOLDER job.py ARGUMENTS

__main__    one process: isolate, make a session, replace readers and writers, run the script, report
isolation   no network, and no files outside the scratch folder
channel     questions to the process that started this one, and what is reported to it
session     the one session, whatever the script asks for
sources     what the script reads ⇒ an empty frame of the declared schema
reading     PySpark's readers, served by `sources`
writing     PySpark's writers; statements: SQL; both report an output instead of writing
looks       where the script asks for rows; a made-up one
lines       which lines of the script have run
changing    MERGE, UPDATE and DELETE; merging: mergeInto; delta: DeltaTable
output      a frame that would be written ⇒ schema, lineage and signatures
signature   an optimized plan ⇒ a text that is the same for equal plans written differently
functions   a Python function ⇒ a digest of what it does
"""
