"""Dead letters: records that can't be applied, on a topic of their own until somebody sends them back.

letter         what a letter carries, and how it is read back
topic          sending letters, and reading all that are there
inspection     for people: which letters are meant, how many, how old, what one holds
replay         back to the events topic
acknowledging  letters that somebody has settled
"""
