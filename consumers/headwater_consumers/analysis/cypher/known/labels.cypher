// What events report of datasets: owners, tags, classification and criticality
UNWIND $given.keys AS key
MATCH (n:HwDataset {key: key})
RETURN n.key AS key, n.owners AS owners, n.owner_types AS owner_types, n.tags AS tags, n.tag_values AS tag_values,
  n.tag_fields AS tag_fields, n.tag_sources AS tag_sources, n.classification AS classification, n.criticality AS criticality
