// A dataset is there once
CREATE CONSTRAINT headwater_dataset_key IF NOT EXISTS
FOR (n:HwDataset) REQUIRE n.key IS UNIQUE
