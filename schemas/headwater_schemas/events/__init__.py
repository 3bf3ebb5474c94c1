"""Frozen event types, one module a body; the Avro schema in `avro/` has the same fields.

Every type is an immutable `msgspec.Struct`. Times are timezone-aware UTC datetimes of microsecond precision,
offset ranges are half-open, and in every body `None` means "unknown, leave as it is", while an empty value clears.
"""

from headwater_schemas.events.common import (
    DatasetRef,
    EngineRef,
    JobRef,
    Owner,
    ProcessingType,
    RunRef,
    Tag,
    Versions,
)
from headwater_schemas.events.dataset import (
    DatasetEvent,
    LifecycleChange,
    SchemaDefinition,
    SchemaField,
    Storage,
    Symlink,
)
from headwater_schemas.events.event import Body, EventKind, LineageEvent
from headwater_schemas.events.interval import (
    EmissionReason,
    IntervalEntry,
    IntervalEvent,
    Provenance,
    QualityResult,
)
from headwater_schemas.events.job import JobEvent, SourceLocation
from headwater_schemas.events.plan import (
    ColumnEdge,
    ColumnLineage,
    Expression,
    PlanEvent,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.events.position import (
    ApiCursor,
    CdcPosition,
    Certainty,
    DatasetUse,
    FileSet,
    KafkaRanges,
    OffsetRange,
    OpaqueRange,
    Position,
    TableRange,
    TableSnapshot,
    TimeRange,
)
from headwater_schemas.events.retention import RetentionEvent, RetentionMode
from headwater_schemas.events.run import (
    ParentRun,
    PublicationState,
    RunError,
    RunEvent,
    RunEventType,
)

__all__ = [
    "ApiCursor",
    "Body",
    "CdcPosition",
    "Certainty",
    "ColumnEdge",
    "ColumnLineage",
    "DatasetEvent",
    "DatasetRef",
    "DatasetUse",
    "EmissionReason",
    "EngineRef",
    "EventKind",
    "Expression",
    "FileSet",
    "IntervalEntry",
    "IntervalEvent",
    "JobEvent",
    "JobRef",
    "KafkaRanges",
    "LifecycleChange",
    "LineageEvent",
    "OffsetRange",
    "OpaqueRange",
    "Owner",
    "ParentRun",
    "PlanEvent",
    "Position",
    "ProcessingType",
    "Provenance",
    "PublicationState",
    "QualityResult",
    "RetentionEvent",
    "RetentionMode",
    "RunError",
    "RunEvent",
    "RunEventType",
    "RunRef",
    "SchemaDefinition",
    "SchemaField",
    "SourceLocation",
    "Storage",
    "Symlink",
    "TableRange",
    "TableSnapshot",
    "Tag",
    "TimeRange",
    "TransformationKind",
    "TransformationType",
    "Versions",
]
