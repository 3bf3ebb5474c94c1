"""Backfill campaigns: runs with one campaign id, the data that they restated, and the repairs that are left.

campaign_answers  the answers
restated          data that the runs of a campaign replaced or added
repaired          incidents whose bad data the runs of a campaign replaced, and the bad data that is left
campaign          the questions: list of campaigns, and one campaign
"""
