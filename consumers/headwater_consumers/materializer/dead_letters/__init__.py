"""Dead letters: records that can't be applied, on a separate topic from which they can be replayed.

letter         content of a letter, and reading it back
topic          sending of letters, and reading of all letters
inspection     for people: selection, counts, ages and contents of letters
replay         sending letters back to their topic
acknowledging  letters that somebody has acknowledged
skipping       setting aside a record that stops the consumer
"""
