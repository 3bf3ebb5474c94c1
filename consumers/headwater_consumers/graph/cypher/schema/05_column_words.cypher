// Words of columns' names, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_column_words IF NOT EXISTS
FOR (n:Column) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
