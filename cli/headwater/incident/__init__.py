"""Parts of `headwater incident`.

parts           options that name one part with bad data, shared by the commands
acting          an action: published, then waited for until the graph has it
refreshing      the reach of open incidents, recorded where it changed
views           incidents for people
planning        repair plans for people
"""
