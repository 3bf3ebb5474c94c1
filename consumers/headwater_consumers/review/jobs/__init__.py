"""Two versions of a job: what each would read and write, and all that differs.

version    a dry run's reports ⇒ a version: its outputs, with schemas and signatures
compare    two versions ⇒ every difference, output by output
runs       that a version asks for rows, and what of it didn't run
ask        the review: each output's differences with all that the graph has downstream
"""
