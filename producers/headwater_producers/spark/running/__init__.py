"""Runner of an unmodified script, with capture attached to every session that it makes.

    headwater run job.py ARGUMENTS                                            (settings from options, file, environment)
    spark-submit … "$(headwater run --bootstrap)" job.py ARGUMENTS
    python -m headwater_producers.spark.running [--set name=value]… job.py ARGUMENTS

__main__        entry point of all three; decides whether a script ends if its session can't be captured
headwater_run   entry point as a file, for `spark-submit`
command_line    the command line
hooks           attaches capture to each session that the script makes
script          the script, as `python job.py` would run it
"""
