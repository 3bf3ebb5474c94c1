// A page of datasets, the hops between them, and the jobs that make these; times in microseconds
CALL () {
  UNWIND $given.nodes AS node
  MATCH (n) WHERE id(n) = node
  RETURN collect([node, n.key, n.namespace, n.name, n.title, n.type, n.symlinks, n.symlink_types, coalesce(n.dropped, false)]) AS datasets
}
CALL () {
  UNWIND $given.edges AS edge
  MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
  WITH edge, f, CASE WHEN f.declarations IS NULL THEN [] ELSE COLLECT {
    UNWIND f.declarations AS key
    MATCH (x:HwDeclaration {key: key})
    UNWIND range(0, size(coalesce(x.partition_inputs, [])) - 1) AS n
    WITH x, n WHERE x.partition_inputs[n] = startNode(f).key AND x.partition_outputs[n] = endNode(f).key
    RETURN DISTINCT [x.partition_input_fields[n], x.partition_output_fields[n], x.partition_transforms[n]]
  } END AS partitions
  RETURN collect([edge, f.job, f.first_seen.epochMillis * 1000 + f.first_seen.microsecond % 1000,
      f.last_seen.epochMillis * 1000 + f.last_seen.microsecond % 1000, coalesce(f.observed, false),
      coalesce(f.declared, false), coalesce(f.possible, false), partitions]) AS feeds,
    collect(DISTINCT f.job) AS keys
}
CALL (keys) {
  UNWIND keys AS key
  MATCH (j:HwJob {key: key})
  RETURN collect([j.key, j.namespace, j.name, j.processing_type]) AS jobs
}
RETURN datasets, feeds, jobs
