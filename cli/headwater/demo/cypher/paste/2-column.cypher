// Where the report's mean delay comes from, and how each step makes it
MATCH trace = (:Column)-[:DERIVES*1..6]->(column:Column {name: 'mean_delay'})
WHERE EXISTS {
  (column)<-[:HAS_COLUMN]-(report:Dataset) WHERE report.name ENDS WITH '/daily_report'
}
RETURN trace
