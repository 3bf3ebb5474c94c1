// NEXT that leaves these intervals goes, to be written anew
UNWIND $keys AS key
MATCH (a:Interval {key: key})-[r:NEXT]->()
DELETE r
