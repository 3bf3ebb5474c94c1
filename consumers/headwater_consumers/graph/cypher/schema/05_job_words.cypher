// Words of jobs' names, owners and tags, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_job_words IF NOT EXISTS
FOR (n:HwJob) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
