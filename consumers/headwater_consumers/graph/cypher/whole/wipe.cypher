// All that Headwater wrote, gone
MATCH (n)
WHERE n:Job OR n:Dataset OR n:Alias OR n:Column OR n:Version OR n:SchemaVersion OR n:Query OR n:Run OR n:Plan OR n:Segment
  OR n:Summary OR n:Retention OR n:Consumer OR n:Declaration OR n:DeclarationSet
  OR n:Interval OR n:Conflict OR n:HeadwaterGraph OR n:_Probe OR n:_Progress
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
