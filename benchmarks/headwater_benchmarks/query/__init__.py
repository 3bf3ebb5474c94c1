"""`bench query`: questions to a large graph, each beside one hand-written statement, traces beside a few.

cases        what is asked, of whom, and the goals
statements   the hand-written ones, run with a time limit
decoded      the floor of a trace: segments found by their ranges, and decoded
run          the measuring, and the report
show         the report as a table
"""
