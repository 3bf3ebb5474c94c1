// A job is there once
CREATE CONSTRAINT headwater_job_key IF NOT EXISTS
FOR (n:HwJob) REQUIRE n.key IS UNIQUE
