// The runs and versions of segments that are written anew
UNWIND $batch.rows AS key
MATCH (:HwSegment {key: key})-[r:IN_RUN|READ|WROTE]->()
DELETE r
