"""`headwater bench rivals`: several consumers that write the same hot jobs, queries and tables."""
