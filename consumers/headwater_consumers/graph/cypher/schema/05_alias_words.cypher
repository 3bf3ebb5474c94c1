// Words of aliases, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_alias_words IF NOT EXISTS
FOR (n:HwAlias) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
