// Types of the HTTP API's answers. Made by scripts/page_types.py; docs of each field are in /openapi.json.

export interface Accepted {
  events: number;
  notes: NotedField[];
}

export interface ActionBody {
  action: IncidentAction;
  reason: string | null;
  assignee: string | null;
  scope: PartBody[];
  removed: PartBody[];
  into: string | null;
  resolution: IncidentResolution | null;
  force: boolean;
  title: string | null;
  description: string | null;
  severity: IncidentSeverity | null;
  type: IncidentType | null;
}

export interface ActionTaken {
  at: string;
  action: IncidentAction;
  by: string;
  text: string;
}

export interface AffectedAssets {
  incident: string;
  complete: boolean;
  not_known_to_be_reached: string[];
  cannot_be_known: string[];
  scope: ResolvedPart[];
  datasets: Tainted[];
  consumers: ReadingConsumer[];
  owners: DatasetOwners[];
  jobs: AffectedJob[];
  jobs_unknown: number;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface AffectedJob {
  job: Asset;
  owners: OwnerName[];
  depth: number;
  hop: number;
  certainty: Certainty;
}

export interface Alive {
  alive: boolean;
}

export interface Approved {
  covers: Sensitivity;
  sensitivity: Sensitivity;
  by: string;
  reason: string;
  until: string | null;
  holds: boolean;
}

export interface Asset {
  kind: AssetKind;
  key: string;
  namespace: string;
  name: string;
  column: string | null;
  title: string | null;
  type: string | null;
  table: string | null;
}

export type AssetKind = "DATASET" | "COLUMN" | "JOB";

export interface AssetTag {
  key: string;
  value: string;
  column: string | null;
  source: string | null;
}

export interface BadSince {
  of: Asset;
  first_bad: WritingStep | null;
  last_good: WritingStep | null;
  certainty: Certainty;
  why: string;
}

export interface BatchResult {
  received: number;
  accepted: number;
  refused: RefusedEvent[];
  events: number;
  notes: NotedField[];
}

export type Because = "QUERY_CONTINUED" | "CHILDREN_CONTINUED" | "PARENT_ENDED";

export interface Blast {
  start: Part[];
  tainted: Tainted[];
  hops: Hop[];
  totals: Totals;
  consumers: ReadingConsumer[];
  quality: DatasetQuality[];
  notes: string[];
  truncated: boolean;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface Break {
  dataset: string;
  partition: number;
  start: number;
  end: number;
}

export interface BrokenChain {
  query_id: string;
  query_name: string | null;
  job: Asset | null;
  after_batch: number;
  before_batch: number;
  at: string | null;
  missing: number;
  gaps: Joint[];
  overlaps: Joint[];
}

export interface BrokenChainPage {
  items: BrokenChain[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface BusinessVersion {
  run_id: string;
  reference: Use;
  outputs: Asset[];
}

export interface Campaign {
  campaign: string;
  as_of: string;
  states: RunsInState[];
  runs: number;
  unfinished: number;
  failed: number;
  began: string | null;
  ended: string | null;
  jobs: CampaignJob[];
  restated: RestatedDataset[];
  campaign_incidents: CampaignIncident[];
  followed: number;
  consumers: CampaignConsumer[];
  unknown: string[];
  notes: string[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface CampaignBrief {
  campaign: string;
  runs: number;
  unfinished: number;
  failed: number;
  began: string | null;
  latest: string | null;
}

export interface CampaignConsumer {
  consumer: ReadingConsumer;
  notified: IncidentNotification[];
}

export interface CampaignIncident {
  incident: IncidentBrief;
  replaced: Superseded[];
  bad: LeftBad[];
  complete: boolean;
  unknown: string[];
  notified: SentNotification[];
  left: StepLeft[];
}

export interface CampaignJob {
  latest: RunItem;
  runs: number;
  unfinished: number;
  failed: number;
}

export interface CampaignPage {
  items: CampaignBrief[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type Cause = "VALUE" | "CHOICE" | "LOOKUP" | "ROWS" | "JOB" | "FLOW" | "UNSEEN";

export type Certainty = "UNKNOWN" | "EXACT" | "INFERRED" | "UPPER_BOUND";

export interface ChangeBody {
  dataset: string;
  column: string | null;
  type: ChangeType | null;
  schema: SchemaChange | null;
  new_name: string | null;
  new_type: string | null;
  nullable: boolean | null;
  extent: ExtentBody | null;
}

export type ChangeType = "SCHEMA_BREAKING" | "SCHEMA_COMPATIBLE" | "DATA_INCORRECT" | "FRESHNESS_BREACH" | "PRIVACY_RECLASSIFICATION" | "ASSET_DEPRECATED" | "BACKFILL_RESTATEMENT";

export interface ChangedDeclaration {
  change: "added" | "withdrawn" | "changed";
  subject_type: string;
  namespace: string | null;
  name: string;
  values: ChangedValue[];
}

export interface ChangedValue {
  column: string | null;
  property: string;
  before: unknown;
  after: unknown;
}

export interface Check {
  job: Asset | null;
  run_id: string | null;
  query_id: string | null;
  batch_id: number | null;
  at: string | null;
  passed: number;
  failed: Quality[];
}

export type CheckOutcome = "PASSED" | "FAILED";

export interface CheckedRule {
  rule: string;
  title: string;
  fix: string;
  total: number;
  exempted: number;
  findings: Finding[];
  next_cursor: string | null;
  unknown: string | null;
}

export interface Checks {
  rules: CheckedRule[];
  total: number;
  exempted: number;
  unused: UnusedExemption[];
  unchecked: UncheckedRule[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ColumnChange {
  change: DiffChange;
  column: Asset;
  time: string | null;
  before: FieldType | null;
  after: FieldType | null;
  roles: Role[];
}

export interface ColumnDetails {
  column: Asset;
  dataset: Asset;
  details: KnownColumn;
  types: KnownType[];
  owners: OwnerName[];
  tags: AssetTag[];
  classification: string | null;
  criticality: string | null;
  declared: Record<string, unknown>;
  known_as: string[];
  gone: boolean;
  origins: Lineage;
  uses: Lineage;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ColumnMapping {
  source: string | null;
  target: string | null;
  job: string;
  transformation: Transformation;
}

export type ColumnScope = "NONE" | "START" | "ALL";

export interface ConsumedDataset {
  dataset: Asset;
  gone: boolean;
  columns: string[];
  columns_total: number;
  owners: OwnerName[];
  last_written: string | null;
  writers: JobUse[];
  writers_total: number;
  checks: Check[];
}

export interface ConsumerDetails {
  consumer: ConsumerName;
  withdrawn: boolean;
  description: string | null;
  owners: OwnerName[];
  tags: AssetTag[];
  criticality: string | null;
  on_call: string | null;
  contact: string | null;
  notice_days: number | null;
  freshness_seconds: number | null;
  deadline: string | null;
  url: string | null;
  declared: Declared | null;
  reads: ConsumedDataset[];
  reads_total: number;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ConsumerInput {
  name: string;
  type: string | null;
  criticality: string | null;
  deadline: string | null;
  freshness_seconds: number | null;
}

export interface ConsumerList {
  items: ListedConsumer[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ConsumerName {
  key: string;
  name: string;
  type: string | null;
}

export type ConsumerState = "REPORTING" | "SILENT" | "NEVER";

export interface Contradiction {
  subject: string;
  subject_type: string;
  name: string;
  column: string | null;
  property: string;
  values: Record<string, unknown>;
}

export interface DatasetChange {
  change: DiffChange;
  job: Asset;
  role: Role;
  dataset: Asset;
}

export interface DatasetDetails {
  dataset: Asset;
  description: string | null;
  owners: OwnerName[];
  tags: AssetTag[];
  classification: string | null;
  criticality: string | null;
  declared: Declared | null;
  declared_consumers: ReadingConsumer[];
  storage_layer: string | null;
  storage_format: string | null;
  source_uri: string | null;
  known_as: string[];
  symlinks: OtherName[];
  lifecycle: string | null;
  gone: boolean;
  dropped_at: string | null;
  renamed_from: Asset | null;
  renamed_to: Asset[];
  columns: KnownColumn[];
  columns_total: number;
  schemas: KnownSchema[];
  schemas_total: number;
  producers: JobUse[];
  producers_total: number;
  consumers: JobUse[];
  consumers_total: number;
  runs: RunItem[];
  versions: VersionItem[];
  versions_total: number;
  business_versions: BusinessVersion[];
  quality: QualityTurn[];
  checks: Check[];
  facets: Facet[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface DatasetList {
  items: ListedDataset[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface DatasetOwners {
  dataset: Asset;
  owners: OwnerName[];
}

export interface DatasetQuality {
  dataset: Asset;
  checks: Check[];
}

export interface DatasetStatus {
  last_run: LastRun | null;
  quality: CheckOutcome | null;
}

export interface Decision {
  by_rule: Severity;
  rule: number;
  raised_by: number | null;
  because: string[];
  inputs: SeverityInputs;
  text: string;
}

export interface Declared {
  sets: string[];
  values: Record<string, unknown>;
  columns: Record<string, unknown>;
  contradictions: Contradiction[];
}

export interface DeclaredPartitions {
  input_field: string;
  output_field: string;
  transform: string;
}

export interface Diff {
  before: Side;
  after: Side;
  jobs: Asset[];
  datasets: DatasetChange[];
  columns: ColumnChange[];
  unknown_schemas: Asset[];
  edges: EdgeChange[];
  datasets_total: number;
  columns_total: number;
  edges_total: number;
  truncated: boolean;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type DiffChange = "ADDED" | "REMOVED" | "CHANGED";

export type DifferenceKind = "ADDED" | "REMOVED" | "RENAMED" | "RETYPED" | "NULLABILITY" | "ENUM" | "UNIT" | "MEANING" | "DESCRIPTION" | "PARTITIONING" | "PRIVACY" | "ROWS" | "WRITE_MODE" | "POSITION" | "OUTPUT_REMOVED" | "OUTPUT_ADDED" | "INPUT_REMOVED" | "INPUT_ADDED";

export interface DifferentColumn {
  change: DiffChange;
  column: string;
  before: FieldType | null;
  after: FieldType | null;
}

export interface Drawing {
  start: Asset;
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  metadata: DrawingMetadata;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface DrawingMetadata {
  depth: number | null;
  direction: Reach;
  as_of: string | null;
  columns: ColumnScope;
  nodes_total: number;
  edges_total: number;
  truncated: boolean;
  max_hops: number;
}

export interface DrawnColumn {
  key: string;
  name: string;
  type: string | null;
}

export interface DrawnEdge {
  key: string;
  source: string;
  target: string;
  via: Via[];
  via_total: number;
  columns: ColumnMapping[];
  columns_total: number | null;
}

export interface DrawnNode {
  asset: Asset;
  hops: number;
  gone: boolean;
  owners: string[];
  tags: string[];
  criticality: string | null;
  classification: string | null;
  owners_of_jobs: string[];
  more_upstream: number;
  more_downstream: number;
  columns: DrawnColumn[];
  columns_total: number | null;
  upstream_total: number;
  downstream_total: number;
  status: DatasetStatus | null;
  sensitivity: string | null;
  contact: string | null;
}

export interface DroppedBy {
  read: Asset;
  written: Asset;
  job: Asset;
}

export interface EarlierInput {
  first_batch: number | null;
  kafka: KafkaRange[];
  event_time: string | null;
  why: string;
}

export interface EdgeChange {
  change: DiffChange;
  job: Asset;
  source: Asset | null;
  target: Asset;
  before: Transformation[];
  after: Transformation[];
}

export type Ending = "AGGREGATE" | "APPROVAL";

export interface Exposed {
  kind: string;
  name: string;
  field: string;
  before: Exposure;
  after: Exposure;
  sensitivity: Sensitivity | null;
}

export type Exposure = "READABLE" | "LINKABLE" | "MASKED" | "ENCRYPTED";

export interface Extent {
  partition: string | null;
  first_offset: number | null;
  end_offset: number | null;
  since: string | null;
  until: string | null;
  read_time: boolean;
}

export interface ExtentBody {
  partition: string | null;
  first_offset: number | null;
  end_offset: number | null;
  since: string | null;
  until: string | null;
  read_time: boolean;
}

export interface Facet {
  name: string;
  json: string;
}

export type FaultEffect = "TAINTS" | "MAY_TAINT" | "DEGRADES" | "WARNS";

export interface FieldType {
  type: string | null;
  nullable: boolean | null;
}

export interface Finding {
  id: string;
  subject: Subject;
  message: string;
  since: string | null;
  incident: string | null;
}

export interface FoundConsumer {
  key: string;
  name: string;
  type: string | null;
  owners: string[];
}

export interface GateAnswer {
  dataset: Asset;
  partition: string | null;
  holds: Hold[];
  is_free: boolean;
  checked: number;
  truncated: boolean;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface GraphStatus {
  graph_reachable: boolean;
  kafka_reachable: boolean | null;
  prepared: boolean | null;
  consumer: ConsumerState | null;
  events: number | null;
  behind: number | null;
  last_event: string | null;
  datasets: number | null;
  jobs: number | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface HeldMark {
  mark: string;
  of: Asset;
  version: string | null;
  spread: MarkSpread;
  hops: number;
  reason: string | null;
  holds: boolean;
}

export interface Hit {
  asset: Asset;
  match: Match;
  owners: string[];
  tags: HitTag[];
  gone: boolean;
  sensitivity: string | null;
}

export interface HitTag {
  key: string;
  value: string;
  column: string | null;
}

export interface Hold {
  incident: string;
  title: string | null;
  severity: IncidentSeverity | null;
  certainty: Certainty;
  why: string;
}

export interface Hop {
  number: number;
  depth: number;
  after: number[];
  step: Step;
  inputs: Part[];
  outputs: Part[];
  certainty: Certainty;
  overall: Certainty;
  why: string;
}

export type IdentitySource = "server" | "anonymous" | "token" | "oidc" | "session" | "proxy" | "certificate";

export interface Impact {
  change: ImpactChange;
  type: ChangeType;
  start: Asset;
  severity: Severity;
  items: ImpactItem[];
  totals: SeverityTotal[];
  total: number;
  direct: number;
  indirect: number;
  columns: number;
  datasets: number;
  jobs: ImpactedJob[];
  jobs_total: number;
  consumers: ReadingConsumer[];
  max_hops: number;
  truncated: boolean;
  notes: string[];
  next_cursor: string | null;
  summary: string;
  hit_consumers: ImpactedConsumer[];
  unknown: string[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ImpactChange {
  dataset: string;
  column: string | null;
  type: ChangeType | null;
  schema: SchemaChange | null;
  new_name: string | null;
  new_type: string | null;
  nullable: boolean | null;
  extent: Extent | null;
}

export interface ImpactHop {
  asset: Asset;
  job: Asset;
  cause: Cause;
  transformation: Transformation | null;
  possible: boolean;
}

export interface ImpactItem {
  asset: Asset;
  severity: Severity;
  influence: Influence;
  cause: Cause;
  hops: number;
  path: ImpactHop[];
  reason: string;
  action: string;
  owners: ImpactOwner[];
  propagates: boolean;
  decision: Decision;
  criticality: string | null;
  gone: boolean;
  parts: Part[];
  possible: boolean;
}

export interface ImpactOwner {
  name: string;
  type: string | null;
  of: Asset;
}

export interface ImpactedConsumer {
  name: string;
  type: string | null;
  criticality: string | null;
  severity: Severity;
  reason: string;
}

export interface ImpactedJob {
  job: Asset;
  severity: Severity;
  fails: boolean;
  hops: number;
  reason: string;
  owners: ImpactOwner[];
  criticality: string | null;
}

export interface Incident {
  brief: IncidentBrief;
  description: string | null;
  datahub_type: string;
  datahub_stage: string | null;
  repaired: ScopePart[];
  history: ActionTaken[];
  reach: IncidentReach | null;
  recorded: RecordedReach | null;
  notified: SentNotification[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type IncidentAction = "UNKNOWN" | "OPENED" | "ACKNOWLEDGED" | "ASSIGNED" | "SCOPE_CHANGED" | "MERGED" | "SUPERSEDED" | "REPAIRED" | "RESOLVED" | "REOPENED" | "NOTED" | "REACHED" | "NOTIFIED";

export interface IncidentBrief {
  incident: string;
  status: IncidentStatus | null;
  title: string | null;
  severity: IncidentSeverity | null;
  type: IncidentType | null;
  cause: string | null;
  assignee: string | null;
  opened_at: string | null;
  acknowledged_at: string | null;
  resolved_at: string | null;
  resolution: IncidentResolution | null;
  continued_in: string | null;
  scope: string[];
  reached_datasets: number | null;
  reached_as_of: string | null;
  reached_complete: boolean | null;
}

export type IncidentClock = "UNKNOWN" | "EVENT" | "PROCESSING";

export interface IncidentFigures {
  as_of: string;
  since: string;
  severities: SeverityFigures[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface IncidentNotification {
  incident: string;
  sent: SentNotification;
}

export interface IncidentPage {
  items: IncidentBrief[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface IncidentPlan {
  incident: string;
  title: string | null;
  steps: RepairStep[];
  clean_again: number;
  nothing_left: boolean;
  complete: boolean;
  unknown: string[];
  not_known: string[];
  spreading: string[];
  notes: string[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface IncidentReach {
  as_of: string;
  scope: ResolvedPart[];
  start: Tainted[];
  blast: Blast;
  spreading: Spreading[];
  complete: boolean;
  not_known_to_be_reached: string[];
  cannot_be_known: string[];
  undeclared_consumers: string[];
  columns: ReachedColumn[];
  columns_unknown: UnknownColumns[];
  columns_truncated: boolean;
  all_columns: FaultEffect | null;
  restricts: boolean;
  since: BadSince[];
  owners: DatasetOwners[];
  jobs: AffectedJob[];
  jobs_unknown: number;
  business_versions: ReachedVersion[];
}

export type IncidentResolution = "UNKNOWN" | "FALSE_POSITIVE" | "MISSING_DATA" | "DUPLICATES" | "OUT_OF_BOUNDS" | "REPAIRED" | "OTHER";

export type IncidentSeverity = "UNKNOWN" | "SEV1" | "SEV2" | "SEV3" | "SEV4" | "SEV5";

export type IncidentStatus = "New" | "Ack" | "Assigned" | "Resolved";

export type IncidentType = "UNKNOWN" | "BAD_RECORDS" | "MISSING_DATA" | "DUPLICATES" | "LATE" | "SCHEMA" | "BROKEN_CHAIN" | "FAILED_RUN" | "WRONG_CODE" | "PRIVACY" | "CUSTOM";

export type Influence = "DIRECT" | "INDIRECT";

export interface IntervalItem {
  key: string;
  query_id: string;
  batch_id: number;
  provenance: Provenance;
  run_id: string | null;
  processing_time: string | null;
  duration_ms: number | null;
  rows_in: number | null;
  rows_out: number | null;
  rows_dropped_late: number | null;
  state_rows: number | null;
  watermark_before: string | null;
  watermark_after: string | null;
  code_version: string | null;
  plan_digest: string | null;
  inputs: Use[];
  outputs: Use[];
  quality: Quality[];
  missing: number;
  gaps: Joint[];
  overlaps: Joint[];
  rewinds: boolean;
  anew: boolean;
  conflicts: number;
}

export interface IntervalPage {
  items: IntervalItem[];
  total: number;
  next_cursor: string | null;
  summarized: number;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface JobDataset {
  dataset: Asset;
  gone: boolean;
  observed: boolean;
  declared: boolean;
  first_seen: string | null;
  last_seen: string | null;
}

export interface JobDetails {
  job: Asset;
  description: string | null;
  job_type: string | null;
  integration: string | null;
  owners: OwnerName[];
  tags: AssetTag[];
  criticality: string | null;
  declared: Declared | null;
  source: Source | null;
  inputs: JobDataset[];
  inputs_total: number;
  outputs: JobDataset[];
  outputs_total: number;
  plan: KnownPlan | null;
  queries: KnownQuery[];
  runs: RunItem[];
  quality: QualityTurn[];
  retention: KnownRetention | null;
  first_seen: string | null;
  last_seen: string | null;
  facets: Facet[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface JobInput {
  name: string;
  criticality: string;
}

export interface JobList {
  items: ListedJob[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface JobUse {
  job: Asset;
  owners: OwnerName[];
  observed: boolean;
  declared: boolean;
  first_seen: string | null;
  last_seen: string | null;
}

export interface Joint {
  dataset: string;
  partition: number;
  start: number;
  end: number;
}

export interface KafkaRange {
  cluster: string;
  assign: string;
  starting_offsets: string;
  ending_offsets: string;
}

export interface KnownColumn {
  key: string;
  name: string;
  type: string | null;
  nullable: boolean | null;
  description: string | null;
  current: boolean;
  tags: AssetTag[];
  first_seen: string | null;
  last_seen: string | null;
}

export type KnownKind = "DATASET" | "COLUMN" | "JOB" | "CONSUMER" | "RUN";

export interface KnownPlan {
  digest: string;
  complete: boolean | null;
  incomplete_reason: string | null;
  edges: number | null;
  first_seen: string | null;
  last_seen: string | null;
}

export interface KnownQuery {
  query_id: string;
  name: string | null;
  checkpoint_location: string | null;
  first_batch: number | null;
  last_batch: number | null;
  first_seen: string | null;
  last_seen: string | null;
}

export interface KnownRetention {
  summarized_before: string | null;
  dropped_before: string | null;
}

export interface KnownSchema {
  digest: string;
  first_seen: string | null;
  last_seen: string | null;
  columns_total: number;
  changes: DifferentColumn[] | null;
  changes_total: number;
}

export interface KnownType {
  type: string | null;
  nullable: boolean | null;
  first_seen: string | null;
  last_seen: string | null;
}

export interface LastRun {
  run_id: string;
  state: RunEventType | null;
  at: string | null;
}

export interface LeftBad {
  dataset: Asset;
  certainty: Certainty;
  parts: Part[];
}

export interface Lineage {
  start: Asset;
  direction: LineageDirection;
  depth: number | null;
  as_of: string | null;
  since: string | null;
  items: LineageItem[];
  through: LineageItem[];
  total: number;
  direct: number | null;
  indirect: number | null;
  complete: boolean;
  truncated: boolean;
  max_hops: number;
  next_cursor: string | null;
  edges: LineageEdge[];
  loops: LineageEdge[];
  gone: boolean;
  known_as: string[];
  unknown_until: string | null;
  notes: string[];
  quality: DatasetQuality[];
  consumers: ReadingConsumer[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type LineageDirection = "UPSTREAM" | "DOWNSTREAM";

export interface LineageEdge {
  source: string;
  target: string;
  via: Via[];
  via_total: number;
}

export interface LineageItem {
  asset: Asset;
  hops: number;
  influence: Influence | null;
  parent: string;
  parent_influence: Influence | null;
  via: Via[];
  via_total: number;
  gone: boolean;
  columns: ColumnMapping[];
  columns_total: number | null;
}

export interface ListedConsumer {
  consumer: ConsumerName;
  owners: OwnerName[];
  tags: AssetTag[];
  criticality: string | null;
  on_call: string | null;
  contact: string | null;
}

export interface ListedDataset {
  asset: Asset;
  owners: OwnerName[];
  tags: AssetTag[];
  classification: string | null;
  criticality: string | null;
  gone: boolean;
}

export interface ListedJob {
  asset: Asset;
  owners: OwnerName[];
  tags: AssetTag[];
  criticality: string | null;
  first_seen: string | null;
  last_seen: string | null;
}

export type MarkSpread = "UNKNOWN" | "NONE" | "UPSTREAM" | "DOWNSTREAM";

export type Match = "EXACT" | "WORDS" | "BEGINNINGS" | "OWNER_OR_TAG" | "ALIKE" | "FILTERS";

export interface MayDelete {
  dataset: Asset;
  version: string | null;
  newest: boolean;
  verdict: Verdict;
  marks: HeldMark[];
  jobs: NeedingJob[];
  jobs_total: number;
  queries: NeedingQuery[];
  consumers: ReadingConsumer[];
  unknown: string[];
  notes: string[];
  since: string;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface Me {
  source: IdentitySource;
  subject: string;
  name: string;
  tenant: string;
  groups: string[];
  scopes: Scope[];
  expires: string | null;
  filtered: boolean;
  login: string | null;
}

export type Mode = "PUBLISH" | "DIFF" | "CHECK";

export interface MostUsed {
  items: UsedDataset[];
  total: number;
  truncated: boolean;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface NamedNode {
  kind: KnownKind;
  key: string;
  name: string;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface NeedingJob {
  job: Asset;
  last_seen: string | null;
  declared: boolean;
  needs: boolean;
  test: boolean;
}

export interface NeedingQuery {
  query_id: string;
  query_name: string | null;
  job: Asset | null;
  checkpoint: string | null;
  last_seen: string | null;
}

export interface Neighbour {
  asset: Asset;
  owners: string[];
  owners_of_jobs: string[];
  tags: string[];
  criticality: string | null;
  sensitivity: string | null;
  gone: boolean;
  upstream_total: number;
  downstream_total: number;
  status: DatasetStatus | null;
  jobs: Asset[];
  jobs_total: number;
}

export interface NeighbourFacets {
  namespaces: ValueCount[];
  owners: ValueCount[];
  types: ValueCount[];
  criticalities: ValueCount[];
}

export interface NeighbourPage {
  items: Neighbour[];
  total: number;
  next_cursor: string | null;
  start: Asset;
  direction: LineageDirection;
  facets: NeighbourFacets;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface NotedField {
  index: number;
  pointer: string;
  message: string;
}

export type NotificationChange = "UNKNOWN" | "OPENED" | "REACHED" | "CHANGED" | "CLEARED" | "RESOLVED";

export interface OffsetSpan {
  partition: number;
  start: number;
  end: number;
}

export interface OffsetsBody {
  partition: number;
  start: number;
  end: number;
}

export interface OpenByAge {
  under_a_day: number;
  under_a_week: number;
  older: number;
}

export interface OpenRun {
  run: RunItem;
  last_seen: string;
  heartbeat_seconds: number | null;
}

export interface OpenRunPage {
  items: OpenRun[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface OpeningBody {
  title: string;
  scope: PartBody[];
  severity: IncidentSeverity | null;
  type: IncidentType | null;
  cause: string | null;
  description: string | null;
  reason: string | null;
}

export type Operation = "COPY" | "DERIVE" | "AGGREGATE" | "MASK" | "HASH" | "TOKENIZE" | "ENCRYPT" | "DROP";

export interface OtherName {
  namespace: string;
  name: string;
  type: string | null;
}

export interface Overview {
  asset: Asset;
  job: Asset | null;
  queries: TimelineQuery[];
  bars: OverviewBar[];
  batches: number;
  truncated: boolean;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface OverviewBar {
  query: string;
  segments: number;
  batches: number;
  summarized: number;
  first_batch: number;
  last_batch: number;
  first_time: string | null;
  last_time: string | null;
  broken: number;
  missing: number;
  gaps: number;
  overlaps: number;
  rewinds: number;
  conflicts: number;
  failed: number;
  reconciled: number;
}

export interface Overwrite {
  dataset: Asset;
  partitions: string[];
  why: string;
}

export interface OwnerName {
  name: string;
  type: string | null;
}

export interface Part {
  dataset: Asset;
  kind: PartKind;
  certainty: Certainty;
  topic_id: string | null;
  offsets: OffsetSpan[];
  files: string[];
  file_count: number | null;
  format: string | null;
  version: string | null;
  from_version: string | null;
  partitions: string[];
  text: string | null;
  rows: number | null;
  since: string | null;
  until: string | null;
  possible: boolean;
}

export interface PartBody {
  dataset: string | null;
  job: string | null;
  run: string | null;
  query: string | null;
  consumer: string | null;
  column: string | null;
  partition: string | null;
  offsets: OffsetsBody[];
  files: string[];
  version: string | null;
  code_version: string | null;
  from_batch: number | null;
  to_batch: number | null;
  since: string | null;
  until: string | null;
  clock: IncidentClock | null;
  since_last_good: boolean;
}

export type PartKind = "OFFSETS" | "FILES" | "SNAPSHOT" | "CHANGES" | "OTHER" | "UNKNOWN";

export interface Privacy {
  sources: SensitiveSource[];
  sources_total: number;
  threshold: number;
  items: PrivacyItem[];
  total: number;
  readable: number;
  protected: number;
  indirect: number;
  ended: number;
  lower: number;
  consumers: ReadingConsumer[];
  protected_consumers: ReadingConsumer[];
  exits: PrivacyExit[];
  exits_total: number;
  drops: DroppedBy[];
  drops_total: number;
  unknown: UnknownUse[];
  unknown_total: number;
  max_hops: number;
  truncated: boolean;
  notes: string[];
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface PrivacyExit {
  dataset: Asset;
  jobs: Asset[];
  columns: number;
}

export interface PrivacyHop {
  asset: Asset;
  job: Asset;
  operation: Operation;
  transformation: Transformation;
  possible: boolean;
  former: boolean;
}

export interface PrivacyItem {
  asset: Asset;
  source: Asset;
  sensitivity: Sensitivity;
  exposure: Exposure;
  influence: Influence;
  hops: number;
  path: PrivacyHop[];
  declared: Sensitivity | null;
  classified: boolean;
  lower: boolean;
  ending: Ending | null;
  smallest_group: number | null;
  approval: Approved | null;
  possible: boolean;
  former: boolean;
  gone: boolean;
}

export interface Producer {
  at: string | null;
  job: Asset | null;
  run_id: string | null;
  query_id: string | null;
  batch_id: number | null;
  code_version: string | null;
  conflict: boolean;
}

export type Provenance = "UNKNOWN" | "OBSERVED" | "RECONCILED";

export interface PublishedAction {
  incident: string;
  event_id: string;
  at: string;
  was_open: boolean;
  left: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface Quality {
  assertion: string;
  passed: boolean;
  column: string | null;
  value: string | null;
  dataset_namespace: string | null;
  dataset_name: string | null;
  rule: string | null;
  severity: string | null;
  suite: string | null;
  suite_version: string | null;
}

export type QualityState = "PASSED" | "FAILED";

export interface QualityTurn {
  query_id: string | null;
  last_good: IntervalItem | null;
  first_bad: IntervalItem | null;
  last_good_run: RunItem | null;
  first_bad_run: RunItem | null;
  failed: Quality[];
  looked_back: number | null;
}

export interface QueryReplay {
  query_id: string;
  query_name: string | null;
  checkpoint: string | null;
  restart_after: number | null;
  newest_batch: number;
  batches: ReplayedBatches[];
  earlier: EarlierInput | null;
}

export type Reach = "UPSTREAM" | "DOWNSTREAM" | "BOTH";

export interface ReachChange {
  dataset: string;
  change: string;
  new: Part[];
  gone: Part[];
  by: Step[];
  by_total: number;
  exact: boolean;
}

export interface ReachedColumn {
  dataset: Asset;
  column: string;
  effect: FaultEffect;
  certainty: Certainty;
  depth: number;
  via: string[];
  why: string;
}

export interface ReachedVersion {
  reference: Use;
  outputs: Asset[];
  run_ids: string[];
  runs: number;
}

export interface ReadingConsumer {
  key: string;
  name: string;
  type: string | null;
  owners: OwnerName[];
  on_call: string | null;
  contact: string | null;
  criticality: string | null;
  notice_days: number | null;
  freshness_seconds: number | null;
  deadline: string | null;
  url: string | null;
  reads: Asset[];
  reads_total: number;
  sets: string[];
}

export interface Ready {
  ready: boolean;
  graph_reachable: boolean;
  kafka_reachable: boolean | null;
}

export interface RecordedReach {
  as_of: string;
  complete: boolean;
  datasets: number;
  cleared: number;
  changes: ReachChange[];
}

export interface RefusedEvent {
  index: number;
  pointer: string;
  message: string;
}

export interface RepairStep {
  number: number;
  kind: RepairStepKind;
  after: number[];
  title: string;
  job: Asset | null;
  runs: RunBrief[];
  good_code_version: string | null;
  inputs: Part[];
  skip: Part[];
  outputs: Part[];
  overwrite: Overwrite[];
  query: QueryReplay | null;
  consumers: ReadingConsumer[];
  certainty: Certainty;
  notes: string[];
  commands: string[];
  file_commands: string[];
  sql: string[];
}

export type RepairStepKind = "NOTIFY" | "CORRECT" | "RERUN" | "REPROCESS" | "DECLARE" | "RESOLVE";

export interface ReplayedBatches {
  first_batch: number;
  last_batch: number;
  inputs: Part[];
  kafka: KafkaRange[];
}

export interface ResolvedPart {
  part: ScopePart;
  parts: Part[];
  hops: number[];
  certainty: Certainty;
  why: string;
}

export interface RestatedDataset {
  dataset: Asset;
  writes: RestatedWrite[];
}

export interface RestatedWrite {
  kind: Restatement;
  runs: number;
  partitions: string[];
  parts: Part[];
}

export type Restatement = "REPLACED" | "PARTITIONS" | "VERSIONS" | "APPENDED" | "UNKNOWN";

export type Retyping = "WIDER" | "NARROWER" | "OTHER";

export interface Review {
  dataset: Asset;
  old: string;
  new: string;
  severity: Severity;
  differences: ReviewedDifference[];
  totals: SeverityTotal[];
  columns: number;
  jobs_total: number;
  datasets_total: number;
  consumers: ReadingConsumer[];
  writers: Asset[];
  unseen: string[];
  unseen_total: number;
  notes: string[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface ReviewBody {
  dataset: string;
  new: Record<string, unknown> | unknown[] | string;
  old: Record<string, unknown> | unknown[] | string | null;
  renames: Record<string, unknown>;
  at: string | null;
  table: string | null;
}

export interface ReviewedDifference {
  difference: SchemaDifference;
  text: string;
  severity: Severity;
  reasons: string[];
  items: ImpactItem[];
  total: number;
  totals: SeverityTotal[];
  jobs: ImpactedJob[];
  jobs_total: number;
  consumers: string[];
}

export type Role = "WROTE" | "READ";

export interface RunBrief {
  run_id: string;
  code_version: string | null;
  config_version: string | null;
  state: string | null;
  first_batch: number | null;
  last_batch: number | null;
}

export interface RunDetails {
  run: RunItem;
  nominal_start: string | null;
  nominal_end: string | null;
  engine: string | null;
  engine_version: string | null;
  capture_version: string | null;
  parent: RunParent | null;
  root: RunParent | null;
  children: number;
  error_stack: string | null;
  publication: string | null;
  checkpoint_location: string | null;
  script: string | null;
  repository: string | null;
  branch: string | null;
  package: string | null;
  image: string | null;
  user: string | null;
  service: string | null;
  campaign: string | null;
  statement: string | null;
  rows_rejected: number | null;
  provenance: string | null;
  quality: Quality[];
  intervals: number;
  inputs: Use[];
  inputs_total: number;
  outputs: Use[];
  outputs_total: number;
  business_versions: BusinessVersion[];
  first_seen: string | null;
  last_seen: string | null;
  notes: string[];
  facets: Facet[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type RunEventType = "UNKNOWN" | "START" | "RUNNING" | "COMPLETE" | "FAIL" | "ABORT" | "OTHER";

export interface RunItem {
  key: string;
  run_id: string;
  name: string;
  job: Asset | null;
  processing_type: string | null;
  state: RunEventType | null;
  began: string | null;
  ended_at: string | null;
  inferred_because: Because | null;
  inferred_by: string | null;
  code_version: string | null;
  config_version: string | null;
  plan_digest: string | null;
  error_type: string | null;
  error_message: string | null;
  query_id: string | null;
  first_batch: number | null;
  last_batch: number | null;
}

export interface RunList {
  items: RunItem[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface RunPage {
  of: Asset;
  items: RunItem[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface RunParent {
  run_id: string;
  job_namespace: string;
  job_name: string;
}

export interface RunsInState {
  state: RunEventType | null;
  runs: number;
}

export type SchemaChange = "ADDED" | "REMOVED" | "RENAMED" | "RETYPED" | "NULLABILITY" | "ENUM" | "UNIT" | "MEANING" | "PARTITIONING";

export interface SchemaDifference {
  kind: DifferenceKind;
  column: string;
  now: string | null;
  before: string | null;
  after: string | null;
  retyping: Retyping | null;
  required: boolean;
  values_added: boolean;
  values_removed: boolean;
  similar: string | null;
  overwrites_more: boolean;
  exposed: Exposed | null;
  line: number;
  in_new: boolean;
}

export type Scope = "read" | "expressions" | "write" | "declare" | "incidents" | "operate" | "administer";

export interface ScopePart {
  dataset: string | null;
  job: string | null;
  run: string | null;
  query: string | null;
  consumer: string | null;
  column: string | null;
  partition: string | null;
  offsets: OffsetSpan[];
  files: string[];
  version: string | null;
  code_version: string | null;
  from_batch: number | null;
  to_batch: number | null;
  since: string | null;
  until: string | null;
  clock: IncidentClock | null;
  since_last_good: boolean;
  text: string;
}

export interface SearchFacets {
  types: ValueCount[];
  namespaces: ValueCount[];
  owners: ValueCount[];
  tags: ValueCount[];
  sensitivities: ValueCount[];
  kinds: ValueCount[];
}

export interface SearchPage {
  items: Hit[];
  total: number;
  truncated: boolean;
  next_cursor: string | null;
  consumers: FoundConsumer[];
  facets: SearchFacets | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface SensitiveSource {
  asset: Asset;
  sensitivity: Sensitivity;
}

export type Sensitivity = "UNKNOWN" | "PUBLIC" | "INTERNAL" | "CONFIDENTIAL" | "PII" | "RESTRICTED";

export interface SentNotification {
  recipient: string;
  channel: string;
  change: NotificationChange;
  at: string;
  digest: string;
}

export interface SetResult {
  set: string;
  revision: number;
  declarations: number;
  published: number;
  in_graph: boolean;
  changes: ChangedDeclaration[];
  unknown_datasets: string[];
  contradictions: Contradiction[];
  cycles: string[][];
  unchecked_names: string[];
}

export type Severity = "CRITICAL" | "BREAKING" | "BLOCKING" | "TAINTED" | "RESTRICTED" | "DEGRADED" | "WARNING" | "UNKNOWN" | "COSMETIC" | "INFO" | "NONE";

export interface SeverityFigures {
  severity: IncidentSeverity | null;
  open: OpenByAge;
  new: number;
  oldest_opened_at: string | null;
  opened: number;
  to_acknowledge: TimeTaken;
  to_resolve: TimeTaken;
}

export interface SeverityInputs {
  criticality: string | null;
  jobs: JobInput[];
  consumers: ConsumerInput[];
  deadline: string | null;
  freshness_seconds: number | null;
  sensitivity: Sensitivity | null;
  classification: string | null;
  publication: string | null;
  quality: QualityState | null;
  failed: string[];
}

export interface SeverityTotal {
  severity: Severity;
  total: number;
}

export interface Side {
  time: string | null;
  run_id: string | null;
  code_version: string | null;
  plans: string[];
  incomplete: boolean;
}

export interface Source {
  type: string | null;
  url: string | null;
  repo: string | null;
  path: string | null;
  version: string | null;
  branch: string | null;
}

export interface Spreading {
  query_id: string;
  query_name: string | null;
  job: Asset | null;
  until: string | null;
  watermark: string | null;
  is_over: boolean;
  text: string;
}

export interface Step {
  kind: StepKind;
  job: Asset | null;
  runs: RunBrief[];
  query_id: string | null;
  query_name: string | null;
  first_batch: number | null;
  last_batch: number | null;
  batches: number | null;
  spread_first_batch: number | null;
  spread_last_batch: number | null;
  started_at: string | null;
  ended_at: string | null;
  keeps_state: boolean | null;
}

export type StepKind = "MICRO_BATCHES" | "RUN" | "CONFLICT" | "SUMMARY" | "MISSING";

export interface StepLeft {
  kind: RepairStepKind;
  title: string;
  job: Asset | null;
}

export interface Subject {
  kind: string;
  key: string;
  name: string;
  owners: string[];
  table: string | null;
}

export interface Superseded {
  part: Part;
  why: string;
  by: Step | null;
  at: string | null;
}

export interface Tainted {
  dataset: Asset;
  depth: number;
  parts: Part[];
  superseded: Superseded[];
  hops: number[];
  certainty: Certainty;
}

export interface TimeTaken {
  incidents?: number;
  median_seconds: number | null;
  longest_seconds: number | null;
}

export interface Timeline {
  asset: Asset;
  job: Asset | null;
  queries: TimelineQuery[];
  intervals: TimelineInterval[];
  runs: TimelineRun[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface TimelineInterval {
  key: string;
  query: string;
  query_id: string;
  batch_id: number;
  run_id: string | null;
  provenance: string;
  processing_time: string | null;
  duration_ms: number | null;
  rows_in: number | null;
  rows_out: number | null;
  rows_dropped_late: number | null;
  watermark_after: string | null;
  code_version: string | null;
  consumed: TimelinePart[];
  produced: TimelinePart[];
  missing_before: number;
  gaps: Break[];
  overlaps: Break[];
  conflicts: number;
}

export interface TimelinePart {
  dataset: Asset;
  position: string | null;
  certainty: Certainty;
  rows: number | null;
  ranges: OffsetSpan[];
  summary: string | null;
}

export interface TimelineQuery {
  key: string;
  query_id: string;
  name: string | null;
  checkpoint_location: string | null;
  first_batch: number | null;
  last_batch: number | null;
}

export interface TimelineRun {
  key: string;
  run_id: string;
  state: string;
  processing_type: string | null;
  started_at: string | null;
  ended_at: string | null;
  code_version: string | null;
  error_message: string | null;
  inferred_because: Because | null;
}

export interface Totals {
  datasets: number;
  clean_again: number;
  offsets: number;
  files: number;
  versions: number;
  unknown: number;
  steps: number;
}

export interface Trace {
  direction: TraceDirection;
  start: Part[];
  hops: Hop[];
  ends: Part[];
  notes: string[];
  total: number;
  max_hops: number;
  truncated: boolean;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export type TraceDirection = "FORWARD" | "BACKWARD";

export interface Transformation {
  type: TransformationType;
  kind: TransformationKind;
  subtype: string | null;
  masking: boolean;
  expression: string | null;
  whole: boolean;
}

export type TransformationKind = "UNKNOWN" | "COPY" | "RENAME" | "CAST" | "HASH" | "MASK" | "DERIVE" | "AGGREGATE" | "FILTER_DEPENDENCY" | "JOIN_DEPENDENCY" | "GROUP_DEPENDENCY" | "SORT_DEPENDENCY" | "WINDOW_DEPENDENCY" | "CONDITIONAL" | "CONSTANT" | "EXTERNAL";

export type TransformationType = "UNKNOWN" | "DIRECT" | "INDIRECT";

export interface Turn {
  of: Asset;
  last_good: RunItem | null;
  first_bad: RunItem | null;
  quality: QualityTurn[];
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface UncheckedRule {
  rule: string;
  title: string;
  reason: string;
}

export interface UnknownColumns {
  dataset: Asset;
  why: string;
}

export interface UnknownUse {
  read: Asset;
  written: Asset;
  job: Asset;
}

export interface UnusedExemption {
  rule: string;
  subject: string;
  line: number;
  reason: string;
}

export interface Use {
  dataset: Asset;
  ordinal: number;
  position: string | null;
  certainty: Certainty | null;
  offsets: OffsetSpan[];
  topic_id: string | null;
  format: string | null;
  version: string | null;
  from_version: string | null;
  partitions: string[];
  partition_columns: string[];
  partition_count: number | null;
  branch: string | null;
  paths: string[];
  pattern: string | null;
  uncommitted: boolean;
  inputs: string[] | null;
  text: string | null;
  rows: number | null;
  bytes: number | null;
  files: number | null;
  schema_digest: string | null;
  schema_since: string | null;
  facets: Facet[];
}

export interface UsePage {
  run: RunItem;
  role: Role;
  items: Use[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface UsedDataset {
  asset: Asset;
  owners: string[];
  owners_of_jobs: string[];
  tags: string[];
  criticality: string | null;
  sensitivity: string | null;
  gone: boolean;
  upstream_total: number;
  downstream_total: number;
  consumers_total: number;
  status: DatasetStatus;
}

export interface ValueCount {
  value: string | null;
  total: number;
}

export type Verdict = "YES" | "NO" | "UNKNOWN";

export interface VersionItem {
  key: string;
  format: string;
  version: string;
  parent_id: string | null;
  operation: string | null;
  partitions: string[];
  file_count: number | null;
  file_bytes: number | null;
  produced_at: string | null;
  producers: Producer[];
  producers_total: number;
  readers: number;
}

export interface VersionPage {
  of: Asset;
  items: VersionItem[];
  total: number;
  next_cursor: string | null;
  graph: GraphState;
  filtered: true;
  incidents?: IncidentMarks;
}

export interface Via {
  job: Asset;
  first_seen: string | null;
  last_seen: string | null;
  observed: boolean;
  declared: boolean;
  transformations: Transformation[];
  incomplete: string | null;
  possible: boolean;
  partitions: DeclaredPartitions[];
}

export interface WritingStep {
  job: Asset | null;
  run_id: string | null;
  query_id: string | null;
  query_name: string | null;
  batch_id: number | null;
  at: string | null;
  state: string | null;
  code_version: string | null;
  config_version: string | null;
}

export interface FieldProblem {
  field: string;
  message: string;
}

export type ProblemType = "urn:headwater:question" | "urn:headwater:not-found" | "urn:headwater:no-such-path" | "urn:headwater:method" | "urn:headwater:ambiguous" | "urn:headwater:cross-site" | "urn:headwater:too-slow" | "urn:headwater:too-large" | "urn:headwater:media-type" | "urn:headwater:host" | "urn:headwater:parameters" | "urn:headwater:defect" | "urn:headwater:audit-unavailable" | "urn:headwater:busy" | "urn:headwater:graph-unreachable" | "urn:headwater:graph-refused" | "urn:headwater:arrivals-unknown" | "urn:headwater:time-limit" | "urn:headwater:event" | "urn:headwater:kafka-unavailable" | "urn:headwater:declaration" | "urn:headwater:revision" | "urn:headwater:credentials" | "urn:headwater:unauthenticated" | "urn:headwater:forbidden" | "urn:headwater:not-filtered" | "urn:headwater:provider-unavailable";

export interface ProblemDetails {
  type: ProblemType;
  title: string;
  status: number;
  detail: string;
  instance: string;
  nearest: string[];
  candidates: string[];
  errors: FieldProblem[];
}

export interface GraphState {
  last_event: string | null;
  behind: number | null;
  stale: string | null;
}

export interface IncidentMark {
  key: string;
  dataset: string;
  incident: string;
  title: string | null;
  severity: IncidentSeverity | null;
  since: string | null;
  certainty: Certainty;
  as_of: string | null;
}

export interface IncidentMarks {
  items: IncidentMark[];
  total: number;
}
