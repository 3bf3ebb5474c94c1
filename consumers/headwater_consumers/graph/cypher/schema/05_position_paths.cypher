// Which runs and micro-batches read or wrote a file or partition, by its mark
CREATE FULLTEXT INDEX headwater_position_paths IF NOT EXISTS
FOR ()-[r:CONSUMED|PRODUCED]-() ON EACH [r._marks]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}
