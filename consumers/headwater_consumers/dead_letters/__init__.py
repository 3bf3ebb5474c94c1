"""Dead letters, for people: what is on the topic, what is in one, and sending them back.

letter      one letter as it is read back
choice      which letters are meant
census      how many, by reason and job, and how old
content     what a letter's value holds, as far as it can be decoded, without secrets
replay      back to the events topic
"""
