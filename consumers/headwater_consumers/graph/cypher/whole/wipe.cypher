// All nodes that Headwater wrote, gone
MATCH (n:HwJob|HwDataset|HwAlias|HwColumn|HwVersion|HwSchemaVersion|HwQuery|HwRun|HwPlan|HwSegment
  |HwSummary|HwRetention|HwConsumer|HwDeclaration|HwDeclarationSet|HeadwaterGraph|HwProbe|HwProgress)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
