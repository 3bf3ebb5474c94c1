"""Runner of an unmodified script, with capture attached to every session that it makes.

    headwater run job.py ARGUMENTS                                            (settings from options, file, environment)
    spark-submit … "$(headwater run --bootstrap)" job.py ARGUMENTS
    python -m headwater_producers.spark.running [--set name=value]… job.py ARGUMENTS

__main__        what all three come to
headwater_run   the same as a file, for `spark-submit`
command_line    what is asked for
refusal         a session that can't be captured ⇒ whether the script runs on
hooks           sessions ⇒ attach
script          the script, as `python job.py` would run it
"""
