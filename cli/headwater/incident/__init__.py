"""Parts of `headwater incident`.

parts           options that name one part with bad data, shared by the commands
acting          an action: published, then waited for until the graph has it
rounds          rounds of a command that repeats its work until a signal
refreshing      the reach of open incidents, recorded where it changed
channels        the file of channels, and where messages to them go
message_text    text of a message, plain, for one recipient
sending         one message to one address
notifying       messages to owners and consumers, sent and then recorded
detecting       faults of the graph that open incidents by a policy
views           incidents for people
figures         figures of incidents for people
planning        repair plans for people
"""
