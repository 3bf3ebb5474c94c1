// Which run or micro-batch read or wrote a file or partition: each path is one word
CREATE FULLTEXT INDEX headwater_position_paths IF NOT EXISTS
FOR ()-[r:CONSUMED|PRODUCED]-() ON EACH [r.paths, r.partition_paths]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}
