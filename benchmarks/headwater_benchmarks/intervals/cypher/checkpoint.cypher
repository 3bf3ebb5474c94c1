// Everything that was committed is in the store's files afterwards
CALL db.checkpoint() YIELD success
RETURN success
