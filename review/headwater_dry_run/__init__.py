"""Dry run of a PySpark script: it runs against empty tables, and its outputs are described instead of written.

    python -m headwater_dry_run --channel IN,OUT --parent PID --scratch FOLDER job.py ARGUMENTS

__main__       one process: isolate, make a session, replace readers and writers, run the script, report
isolation      no network, and no files outside the scratch folder
channel        questions and reports to the process that started this one
session        the only session, which the script always gets
sources        a source that the script reads ⇒ an empty frame of the declared schema
reading        PySpark's readers, served by `sources`
writing        PySpark's writers: an output is reported instead of written; statements: SQL, likewise
looks          places where the script asks for rows, and the made-up row
line_coverage  lines of the script that have run
row_changes    MERGE, UPDATE and DELETE; merging: mergeInto; delta: DeltaTable
output         a frame that would be written ⇒ schema, lineage and signatures
signature      an optimized plan ⇒ a text that is equal for equal plans written differently
functions      a Python function ⇒ a digest of its code
"""
