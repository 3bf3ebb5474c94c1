"""`bench query`: questions to a large graph, each beside one hand-written statement.

cases        what is asked, of whom, and the goals
statements   the hand-written ones, run with a time limit
run          the measuring, and the report
show         the report as a table
"""
