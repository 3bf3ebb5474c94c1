"""Backfill campaigns: runs with one campaign id, what they restated, and what is left.

campaign_answers  the answers
restated          what the runs of a campaign wrote over or beside earlier data
repaired          incidents whose bad data the runs of a campaign replaced, and what is left of it
campaign          the questions: the list of campaigns, and one of them
"""
