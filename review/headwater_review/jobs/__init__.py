"""Review of two versions of a job: inputs and outputs of each, and all differences.

version     a dry run's reports ⇒ a version: its outputs, with schemas and signatures
compare     two versions ⇒ every difference, output by output
runs        coverage of the dry runs: requests for rows, and code that didn't run
job_review  answer and the review: each output's differences with all that the graph has downstream
"""
