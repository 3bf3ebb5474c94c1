"""Parts of `headwater incident`.

parts           options that name one part with bad data, shared by the commands
acting          an action: published, then waited for until the graph has it
rounds          rounds of a command that repeats its work until a signal
refreshing      the reach of open incidents, recorded where it changed
detecting       faults of the graph that open incidents by a policy
views           incidents for people
"""
