// The graph has one version node
CREATE CONSTRAINT headwater_version_is_one IF NOT EXISTS
FOR (v:HeadwaterGraph) REQUIRE v.id IS UNIQUE
