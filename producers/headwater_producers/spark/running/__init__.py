"""Runner of an unmodified script, with capture attached to every session that it makes.

    headwater run job.py ARGUMENTS                                            (settings from options, file, environment)
    spark-submit … "$(headwater run --bootstrap)" job.py ARGUMENTS
    python -m headwater_producers.spark.running [--set name=value]… job.py ARGUMENTS

__main__        entry point of all three; a session that can't be captured ⇒ the script runs on, or ends
headwater_run   entry point as a file, for `spark-submit`
command_line    the command line
hooks           sessions ⇒ attach
script          the script, as `python job.py` would run it
"""
