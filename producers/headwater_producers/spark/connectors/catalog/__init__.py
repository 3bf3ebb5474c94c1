"""Tables as Spark's catalogs have them, of whatever technology: names, DDL, and the commands of all V2 tables."""
