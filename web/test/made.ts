// Answers of the API, as small as a test needs them.

import type { Asset, Dataset, Flow, Graph, Interval, Run, Timeline } from "../src/types";

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
  queries: [{ key: "q", query_id: "q-0123456789", name: "orders" }], intervals, runs: [], total: intervals.length, ...more,
});
