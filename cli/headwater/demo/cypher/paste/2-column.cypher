// Where the report's mean delay comes from, and how each step makes it
MATCH trace = (:HwColumn)-[:DERIVES*1..6]->(column:HwColumn {name: 'mean_delay'})
WHERE EXISTS {
  (column)<-[:HAS_COLUMN]-(report:HwDataset) WHERE report.name ENDS WITH '/daily_report'
}
RETURN trace
