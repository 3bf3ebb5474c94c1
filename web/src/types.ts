// The parts of the HTTP API's answers that the page reads; docs of each field are in /openapi.json.

export interface Asset {
  kind: "DATASET" | "COLUMN" | "JOB";
  key: string;
  namespace: string;
  name: string;
  column: string | null;
  title: string | null;
  type: string | null;
  /** What a catalog calls it. */
  table?: string | null;
}

export interface Column {
  key: string;
  name: string;
  type: string | null;
}

export interface Dataset {
  asset: Asset;
  hops: number;
  gone: boolean;
  owners: string[];
  /** Of the jobs that write it. */
  owners_of_jobs?: string[];
  tags: string[];
  criticality: string | null;
  classification: string | null;
  /** The greatest that is declared of it or of one of its columns. */
  sensitivity?: string | null;
  more_upstream: number;
  more_downstream: number;
  columns: Column[];
  columns_total: number | null;
}

export interface Transformation {
  type: "DIRECT" | "INDIRECT";
  kind: string;
  subtype: string | null;
  masking: boolean;
  expression: string | null;
}

export interface Mapping {
  source: string | null;
  target: string | null;
  job: string;
  transformation: Transformation;
}

export interface Via {
  job: Asset;
  first_seen: string | null;
  last_seen: string | null;
  observed: boolean;
  declared: boolean;
  possible: boolean;
  incomplete: string | null;
}

export interface Flow {
  key: string;
  source: string;
  target: string;
  via: Via[];
  via_total: number;
  columns: Mapping[];
  columns_total: number | null;
}

export interface Graph {
  start: Asset;
  nodes: Dataset[];
  edges: Flow[];
  metadata: { nodes_total: number; truncated: boolean };
}

export interface Hit {
  asset: Asset;
  gone?: boolean;
  owners?: string[];
  /** The greatest that is declared of it. */
  sensitivity?: string | null;
}

export interface Hits {
  items: Hit[];
  total: number;
}

export interface Range {
  partition: number;
  start: number;
  end: number;
}

export interface Position {
  dataset: Asset;
  position: string | null;
  certainty: string;
  rows: number | null;
  ranges: Range[];
  summary: string | null;
}

export interface Interval {
  key: string;
  query: string;
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
  consumed: Position[];
  produced: Position[];
  missing_before: number;
  gaps: (Range & { dataset: string })[];
  overlaps: (Range & { dataset: string })[];
  conflicts: number;
}

export interface Run {
  key: string;
  run_id: string;
  state: string;
  started_at: string | null;
  ended_at: string | null;
  code_version: string | null;
  error_message: string | null;
}

/** A dataset that a run wrote, as far as the panel shows it. */
export interface Written {
  dataset: Asset;
  branch: string | null;
  partition_columns: string[];
  partitions: string[];
  partition_count: number | null;
  uncommitted: boolean;
  facets: Facet[];
}

/** What clients sent besides of a dataset, a job, a run or a use; empty where one was cleared. */
export interface Facet {
  name: string;
  json: string;
}

/** What is known of a job, as far as the panel shows it. */
export interface JobDetails {
  facets: Facet[];
}

/** What is known of one run, as far as the panel shows it. */
export interface RunDetails {
  facets: Facet[];
  notes: string[];
  inputs: { dataset: Asset; facets: Facet[] }[];
  outputs: Written[];
}

export interface Query {
  key: string;
  query_id: string;
  name: string | null;
}

export interface Timeline {
  asset: Asset;
  queries: Query[];
  intervals: Interval[];
  runs: Run[];
  total: number;
}

/** Micro-batches of whole segments, counted. */
export interface Bar {
  query: string;
  segments: number;
  batches: number;
  summarized: number;
  first_batch: number;
  last_batch: number;
  first_time: string | null;
  last_time: string | null;
  missing: number;
  gaps: number;
  overlaps: number;
  rewinds: number;
  conflicts: number;
  failed: number;
  reconciled: number;
}

export interface Overview {
  asset: Asset;
  queries: Query[];
  bars: Bar[];
  batches: number;
  truncated: boolean;
}

export interface Impact {
  severity: string;
  items: { asset: Asset; severity: string; influence: string; hops: number; reason: string; action: string | null }[];
  totals: { severity: string; total: number }[];
  total: number;
  jobs: { job: Asset; severity: string }[];
  /** Declared consumers of what changes itself; they aren't among the items. */
  hit_consumers: { name: string; type: string | null; severity: string; reason: string }[];
  /** Who may be affected besides, as sentences. */
  unknown: string[];
  truncated: boolean;
  notes: string[];
  summary: string;
}

interface FieldType {
  type: string | null;
  nullable: boolean | null;
}

/** What is known of a dataset, as far as the panel shows it. */
export interface Known {
  description: string | null;
  known_as: string[];
  storage_format: string | null;
  source_uri: string | null;
  lifecycle: string | null;
  facets: Facet[];
  runs: { run_id: string; state: string | null; began: string | null; job: Asset | null }[];
  versions: { format: string; version: string; produced_at: string | null }[];
  versions_total: number;
  declared_consumers: {
    name: string;
    type: string | null;
    owners: { name: string }[];
    on_call: string | null;
    contact: string | null;
    criticality: string | null;
    notice_days: number | null;
  }[];
  schemas: {
    first_seen: string | null;
    changes: { change: "ADDED" | "REMOVED" | "CHANGED"; column: string; before: FieldType | null; after: FieldType | null }[] | null;
    changes_total: number;
  }[];
  checks: { job: Asset | null; passed: number; failed: { assertion: string; column: string | null; severity: string | null }[] }[];
  quality: { last_good: { batch_id: number } | null; first_bad: { batch_id: number; processing_time: string | null } | null }[];
}

export interface Me {
  source: string;
  subject: string;
  name: string;
  filtered: boolean;
  login: string | null;
}

export interface Finding {
  id: string;
  subject: { kind: string; key: string; name: string; owners: string[]; table?: string | null };
  message: string;
  since: string | null;
}

export interface CheckedRule {
  rule: string;
  title: string;
  fix: string;
  total: number;
  exempted: number;
  findings: Finding[];
  unknown: string | null;
}

export interface Checks {
  rules: CheckedRule[];
  total: number;
  exempted: number;
  unchecked: { rule: string; title: string; reason: string }[];
}
