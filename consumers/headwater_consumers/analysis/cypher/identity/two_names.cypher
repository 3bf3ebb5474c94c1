// Kafka clusters of which topics are known by several names, for `headwater check`
MATCH (a:HwAlias)<-[k:KNOWN_AS {type: 'TOPIC'}]-(d:HwDataset) WHERE a.tenant = $given.tenant AND a.namespace STARTS WITH 'kafka://'
WITH a.namespace AS cluster, collect(DISTINCT d.namespace) AS namespaces, count(DISTINCT a) AS topics
WHERE size(namespaces) > 1
UNWIND namespaces AS namespace
WITH cluster, topics, namespace ORDER BY cluster, namespace
RETURN cluster, topics, collect(namespace) AS namespaces ORDER BY cluster
