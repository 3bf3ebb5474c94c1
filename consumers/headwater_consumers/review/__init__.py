"""Change review: two schemas of a dataset, all that differs, and what each difference does downstream.

types      data types: a tree, and how they are written
schema     a schema, its columns by path
reading    files of any format that is taken ⇒ a schema
stored     the schema that the graph has
compare    two schemas ⇒ every difference
starts     where differences begin in the graph; graph: the graph, asked once for all of them
ask        the review: the differences with all that the graph has downstream of them
by_kind    the same where the graph isn't asked: how bad a difference is by its kind
question   what is asked
answer     what is answered; wording: sentences
"""
