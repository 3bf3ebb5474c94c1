"""Dead letters: records that can't be applied, on a separate topic until somebody sends them back.

letter         content of a letter, and reading it back
topic          sending letters, and reading all that are there
inspection     for people: selection, counts, ages and contents of letters
replay         back to the events topic
acknowledging  letters that somebody has settled
"""
