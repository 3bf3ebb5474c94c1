"""What makes lineage events: capture in Spark, and the publisher that sends them. Imports the contract alone."""
