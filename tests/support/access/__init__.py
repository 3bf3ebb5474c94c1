"""Graphs without what an asker may not see."""
