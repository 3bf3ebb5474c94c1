// How far into a topic the graph goes
MATCH (p:HwProgress) WHERE p.topic = $topic
RETURN p.partition AS number, coalesce(p.topic_id, '') AS topic_id, p.next_offset AS next_offset
