// Whether the database answers.
RETURN 1
