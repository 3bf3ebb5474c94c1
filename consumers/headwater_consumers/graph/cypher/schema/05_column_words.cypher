// Words of columns' names, which `graph/words.py` makes; in the background, as columns come by the hundred
CREATE FULLTEXT INDEX headwater_column_words IF NOT EXISTS
FOR (n:HwColumn) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}}
