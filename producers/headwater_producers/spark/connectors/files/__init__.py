"""Files that Spark reads and writes itself: Parquet, ORC, Avro, CSV, JSON, text."""
