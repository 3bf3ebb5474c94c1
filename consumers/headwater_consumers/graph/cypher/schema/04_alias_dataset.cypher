// Aliases by the key that a dataset of that name has
CREATE INDEX headwater_alias_dataset IF NOT EXISTS
FOR (n:HwAlias) ON (n.dataset)
