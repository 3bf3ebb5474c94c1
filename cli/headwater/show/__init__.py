"""Views that several commands print, or that are long: trees, tables and drawings of answers. One module an area."""
