// constraints: Names of Headwater's constraints
SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'headwater_' RETURN name

// drop_constraint: Drop a constraint
DROP CONSTRAINT $name IF EXISTS

// drop_index: Drop an index
DROP INDEX $name IF EXISTS

// groups: Consumer groups that wrote into the graph
MATCH (p:HwProgress) WHERE p.group > ''
RETURN DISTINCT p.group AS name ORDER BY name

// indexes: Names of Headwater's indexes
SHOW INDEXES YIELD name WHERE name STARTS WITH 'headwater_' RETURN name

// progress: Progress in a topic: first offset of each partition that may be missing in the graph
MATCH (p:HwProgress) WHERE p.topic = $topic
RETURN p.partition AS number, coalesce(p.topic_id, '') AS topic_id, p.next_offset AS next_offset

// wipe: Delete all nodes of Headwater
MATCH (n:HwJob|HwDataset|HwAlias|HwColumn|HwVersion|HwSchemaVersion|HwQuery|HwRun|HwPlan|HwSegment
  |HwSummary|HwRetention|HwConsumer|HwDeclaration|HwDeclarationSet|HwIncident|HeadwaterGraph|HwProbe|HwProgress)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
