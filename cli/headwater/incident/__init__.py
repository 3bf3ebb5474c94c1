"""Parts of `headwater incident`.

parts           options that name one part with bad data, shared by the commands
acting          actions: published, then waited for until the graph has them
rounds          rounds of a command that repeats its work until a signal
refreshing      reach of open incidents, recorded if it changed
channels        file of channels with the addresses of their messages
message_text    plain text of a message for one recipient
sending         one message to one address
notifying       messages to owners and consumers, sent and then recorded
detecting       data faults in the graph that open incidents by a policy
views           incidents for people
figures         figures of incidents for people
planning        repair plans for people
"""
