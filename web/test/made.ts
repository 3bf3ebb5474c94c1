// Answers of the API, as small as a test needs them.

import type { Asset, Bar, Dataset, Flow, Graph, Interval, Overview, Run, Timeline } from "../src/types";

export const asset = (key: string, more: Partial<Asset> = {}): Asset => ({
  kind: "DATASET", key, namespace: "kafka://broker:9092", name: key, column: null, title: null, type: null, ...more,
});

export const dataset = (key: string, more: Partial<Dataset> = {}): Dataset => ({
  asset: asset(key), hops: 1, gone: false, owners: [], tags: [], criticality: null, classification: null,
  more_upstream: 0, more_downstream: 0, columns: [], columns_total: null, ...more,
});

export const flow = (source: string, target: string, more: Partial<Flow> = {}): Flow => ({
  key: `${source}>${target}`, source, target, via: [], via_total: 0, columns: [], columns_total: null, ...more,
});

export const graph = (start: string, nodes: Dataset[], edges: Flow[] = []): Graph => ({
  start: asset(start), nodes, edges, metadata: { nodes_total: nodes.length, truncated: false },
});

export const interval = (batch: number, more: Partial<Interval> = {}): Interval => ({
  key: `i${batch}`, query: "q", batch_id: batch, run_id: "0123456789ab", provenance: "OBSERVED",
  processing_time: `2024-05-01T10:00:0${batch}.000Z`, duration_ms: 500, rows_in: 10, rows_out: 9, rows_dropped_late: 0,
  watermark_after: null, code_version: null, consumed: [], produced: [], missing_before: 0, gaps: [], overlaps: [],
  conflicts: 0, ...more,
});

export const run = (more: Partial<Run> = {}): Run => ({
  key: "r", run_id: "0123456789ab", state: "COMPLETE", started_at: "2024-05-01T10:00:00Z",
  ended_at: "2024-05-01T10:01:30Z", code_version: null, error_message: null, ...more,
});

export const timeline = (intervals: Interval[], more: Partial<Timeline> = {}): Timeline => ({
  asset: asset("job", { kind: "JOB" }), queries: [{ key: "q", query_id: "q-0123456789", name: "orders" }], intervals, runs: [], total: intervals.length, ...more,
});

/** A segment of an hour on the first of May, by its number. */
export const bar = (hour: number, more: Partial<Bar> = {}): Bar => ({
  query: "q", segments: 1, batches: 512, first_batch: 512 * hour, last_batch: 512 * hour + 511,
  first_time: `2024-05-01T0${hour}:00:00.000Z`, last_time: `2024-05-01T0${hour}:59:59.999Z`,
  summarized: 0, missing: 0, gaps: 0, overlaps: 0, rewinds: 0, conflicts: 0, failed: 0, reconciled: 0, ...more,
});

export const overview = (bars: Bar[], more: Partial<Overview> = {}): Overview => ({
  asset: asset("job", { kind: "JOB" }), queries: [{ key: "q", query_id: "q-0123456789", name: "orders" }], bars,
  batches: bars.reduce((sum, one) => sum + one.batches, 0), truncated: false, ...more,
});
