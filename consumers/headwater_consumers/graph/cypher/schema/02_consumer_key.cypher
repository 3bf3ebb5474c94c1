// A consumer is there once
CREATE CONSTRAINT headwater_consumer_key IF NOT EXISTS
FOR (n:HwConsumer) REQUIRE n.key IS UNIQUE
