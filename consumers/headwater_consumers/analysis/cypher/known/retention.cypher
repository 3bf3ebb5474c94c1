// From which days on the micro-batches of some scopes are kept one by one: the latest of each
MATCH (r:HwRetention) WHERE r.key IN $given.keys
RETURN max(r.summarize_before) AS summarized_before, max(r.drop_before) AS dropped_before
