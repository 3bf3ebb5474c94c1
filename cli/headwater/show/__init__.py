"""Views of answers (trees, tables, diagrams) that several commands print, or that are long. One module per area."""
