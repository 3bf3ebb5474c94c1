"""Change review: two schemas of a dataset, their differences, and the downstream impact of each.

schema         a schema, its columns by path
reading        files of any supported format ⇒ a schema
stored         the schema that the graph has
compare        two schemas ⇒ every difference
starts         graph nodes where differences begin
schema_review  question, answer, and the review: differences with everything downstream in the graph
by_kind        a review without the graph: severity of a difference by its kind
wording        sentences of an answer
"""
