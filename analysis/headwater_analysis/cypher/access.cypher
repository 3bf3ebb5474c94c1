// consumers: Consumers with the labels that policies know, in order of key
MATCH (n:HwConsumer)
USING INDEX SEEK n:HwConsumer(key)
WHERE n.key > $given.after AND n.tenant = $given.tenant
WITH n ORDER BY n.key LIMIT $given.limit
WITH n, COLLECT { MATCH (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current RETURN x } AS declared
RETURN n.key AS key, n.name AS name, head([x IN declared WHERE x.type IS NOT NULL | x.type]) AS type,
  reduce(all = [], x IN declared | all + coalesce(x.tags, [])
    + [i IN range(0, size(coalesce(x.tags, [])) - 1) | x.tags[i] + '=' + x.tag_values[i]]) AS tags,
  reduce(all = [], x IN declared | all + coalesce(x.owners, [])) AS owners
ORDER BY key

// datasets: Datasets with the labels that policies know, labels of their columns included, in order of key
MATCH (n:HwDataset)
USING INDEX SEEK n:HwDataset(key)
WHERE n.key > $given.after AND n.tenant = $given.tenant
WITH n ORDER BY n.key LIMIT $given.limit
WITH n, COLLECT { MATCH (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current RETURN x } AS declared
WITH n, declared, declared + COLLECT {
  UNWIND declared AS x
  MATCH (x)-[r:DECLARES]->(:HwColumn)
  RETURN r {.tags, .tag_values, .classification, .sensitivity}
} AS labelled
RETURN n.key AS key, n.namespace AS namespace, n.name AS name, n.type AS type,
  reduce(all = coalesce(n.tags, []) + [i IN range(0, size(coalesce(n.tags, [])) - 1) | n.tags[i] + '=' + n.tag_values[i]],
    x IN labelled | all + coalesce(x.tags, []) + [i IN range(0, size(coalesce(x.tags, [])) - 1) | x.tags[i] + '=' + x.tag_values[i]]) AS tags,
  [n.classification] + [x IN labelled | x.classification] AS classification,
  [x IN labelled | x.sensitivity] AS sensitivity,
  reduce(all = coalesce(n.owners, []), x IN declared | all + coalesce(x.owners, [])) AS owners
ORDER BY key

// jobs: Jobs with the labels that policies know, in order of key
MATCH (n:HwJob)
USING INDEX SEEK n:HwJob(key)
WHERE n.key > $given.after AND n.tenant = $given.tenant
WITH n ORDER BY n.key LIMIT $given.limit
WITH n, COLLECT { MATCH (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current RETURN x } AS declared
RETURN n.key AS key, n.namespace AS namespace, n.name AS name, n.processing_type AS type,
  reduce(all = coalesce(n.tags, []) + [i IN range(0, size(coalesce(n.tags, [])) - 1) | n.tags[i] + '=' + n.tag_values[i]],
    x IN declared | all + coalesce(x.tags, []) + [i IN range(0, size(coalesce(x.tags, [])) - 1) | x.tags[i] + '=' + x.tag_values[i]]) AS tags,
  reduce(all = coalesce(n.owners, []), x IN declared | all + coalesce(x.owners, [])) AS owners
ORDER BY key
