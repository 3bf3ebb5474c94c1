// Words of datasets' names, owners and tags, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_dataset_words IF NOT EXISTS
FOR (n:HwDataset) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
