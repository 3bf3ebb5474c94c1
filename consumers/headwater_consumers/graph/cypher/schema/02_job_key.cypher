// A job is there once
CREATE CONSTRAINT headwater_job_key IF NOT EXISTS
FOR (n:Job) REQUIRE n.key IS UNIQUE
