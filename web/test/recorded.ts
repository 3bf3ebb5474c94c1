// Answers of the API about records and micro-batches, as small as a test needs them.

import type { Asset, Hop, Overview, OverviewBar, Part, Step, Timeline, TimelineInterval, TimelineRun } from "../src/app/answers";

const GRAPH = { last_event: null, behind: 0, stale: null };

export const asset = (name: string, more: Partial<Asset> = {}): Asset => ({
  kind: "DATASET", key: name, namespace: "kafka://broker:9092", name, column: null, title: null, type: null, table: null, ...more,
});

export const interval = (batch: number, more: Partial<TimelineInterval> = {}): TimelineInterval => ({
  key: `i${batch}`, query: "q", query_id: "q-0123456789", batch_id: batch, run_id: "0123456789ab", provenance: "OBSERVED",
  processing_time: `2024-05-01T10:00:0${batch}.000Z`, duration_ms: 500, rows_in: 10, rows_out: 9, rows_dropped_late: 0,
  watermark_after: null, code_version: null, consumed: [], produced: [], missing_before: 0, gaps: [], overlaps: [], conflicts: 0, ...more,
});

export const run = (more: Partial<TimelineRun> = {}): TimelineRun => ({
  key: "r", run_id: "0123456789ab", state: "COMPLETE", processing_type: "BATCH", started_at: "2024-05-01T10:00:00Z",
  ended_at: "2024-05-01T10:01:30Z", code_version: null, error_message: null, inferred_because: null, ...more,
});

const QUERY = { key: "q", query_id: "q-0123456789", name: "orders", checkpoint_location: null, first_batch: null, last_batch: null };

export const timeline = (intervals: TimelineInterval[], more: Partial<Timeline> = {}): Timeline => ({
  asset: asset("job", { kind: "JOB" }), job: null, queries: [QUERY], intervals, runs: [], total: intervals.length, next_cursor: null, graph: GRAPH, filtered: true, ...more,
});

/** A segment of an hour on the first of May, by its number. */
export const bar = (hour: number, more: Partial<OverviewBar> = {}): OverviewBar => ({
  query: "q", segments: 1, batches: 512, first_batch: 512 * hour, last_batch: 512 * hour + 511,
  first_time: `2024-05-01T0${hour}:00:00.000Z`, last_time: `2024-05-01T0${hour}:59:59.999Z`,
  summarized: 0, broken: 0, missing: 0, gaps: 0, overlaps: 0, rewinds: 0, conflicts: 0, failed: 0, reconciled: 0, ...more,
});

export const overview = (bars: OverviewBar[], more: Partial<Overview> = {}): Overview => ({
  asset: asset("job", { kind: "JOB" }), job: null, queries: [QUERY], bars, batches: bars.reduce((sum, one) => sum + one.batches, 0),
  truncated: false, graph: GRAPH, filtered: true, ...more,
});

export const part = (name: string, more: Partial<Part> = {}): Part => ({
  dataset: asset(name), kind: "OFFSETS", certainty: "EXACT", topic_id: null, offsets: [{ partition: 0, start: 5, end: 9 }], files: [], file_count: null,
  format: null, version: null, from_version: null, partitions: [], text: null, rows: null, since: null, until: null, possible: false, ...more,
});

export const step = (more: Partial<Step> = {}): Step => ({
  kind: "MICRO_BATCHES", job: asset("etl", { kind: "JOB" }), runs: [], query_id: "q-1", query_name: "enrich", first_batch: 1, last_batch: 3, batches: 3,
  spread_first_batch: 1, spread_last_batch: 3, started_at: null, ended_at: null, keeps_state: false, ...more,
});

export const hop = (number: number, inputs: Part[], outputs: Part[], more: Partial<Hop> = {}): Hop => ({
  number, depth: number, after: [], step: step(), inputs, outputs, certainty: "EXACT", overall: "EXACT", why: "", ...more,
});
