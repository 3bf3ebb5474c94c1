// A plan is there once
CREATE CONSTRAINT headwater_plan_key IF NOT EXISTS
FOR (n:HwPlan) REQUIRE n.key IS UNIQUE
