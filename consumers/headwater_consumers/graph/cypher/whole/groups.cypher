// Consumer groups that wrote into the graph
MATCH (p:HwProgress) WHERE p.group > ''
RETURN DISTINCT p.group AS name ORDER BY name
