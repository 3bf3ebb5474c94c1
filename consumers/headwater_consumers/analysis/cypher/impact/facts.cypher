// What a policy asks of assets: whose column, type, criticality
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (d:HwDataset)-[:HAS_COLUMN]->(n)
RETURN collect(node) AS nodes, collect(n.key) AS keys, collect(coalesce(id(d), id(n))) AS datasets,
  collect(coalesce(d.type, n.type, '')) AS types, collect(coalesce(d.criticality, n.criticality, '')) AS criticalities,
  collect(CASE WHEN n.data_type STARTS WITH 'struct' OR (n.name IN ['key', 'value'] AND d.type = 'TOPIC')
    THEN EXISTS { MATCH (d)-[:HAS_COLUMN]->(field) WHERE field.name STARTS WITH n.name + '.' }
    ELSE false END) AS parted
