// Details of a micro-batch, a bar of many, a gap or a run, with where to go from there.

import { place, type Place } from "../app/address";
import type { OverviewBar, TimelinePart, TimelineInterval, TimelineRun } from "../app/answers";
import { spelled } from "../app/api";
import { duration, number, offsets } from "../app/format";
import { here } from "../app/navigation";
import { t } from "../app/texts";
import { AssetLink, Facts, Link, State, Time } from "../parts/basics";
import type { What } from "./draw";

const w = t.timeline;

export function Details({ what }: { what: What }) {
  switch (what.kind) {
    case "batch": return <Batch one={what.batch} />;
    case "gap": return <Gap one={what.batch} />;
    case "bar": return <Bar one={what.bar} />;
    case "run": return <Run one={what.run} />;
  }
}

/** Where what a micro-batch wrote is from: asked of the first thing that can be asked so. */
export function origin(produced: readonly TimelinePart[]): Place | null {
  for (const { dataset, ranges } of produced) {
    const range = ranges.find(({ start, end }) => end > start);
    if (range) return place("trace", {}, { query: { direction: "BACKWARD", topic: spelled(dataset), partition: String(range.partition), offset: String(range.start), end: String(range.end) } });
  }
  return null;
}

/** The picture above the timeline, as it was at a time. */
function Then({ at }: { at: string | null }) {
  const now = here.value;
  return at && now?.route === "dataset" && now.tab === "lineage" ? <Link to={{ ...now, asOf: at }}>{w.lineageThen}</Link> : null;
}

const positions = (all: readonly TimelinePart[], title: string): [string, preact.ComponentChildren][] => all
  .filter(({ ranges, summary }) => ranges.length || summary)
  .map((use) => [title, <><AssetLink asset={use.dataset} /> {use.ranges.length ? <code>{offsets(use.ranges)}</code> : use.summary}</>]);

function Batch({ one }: { one: TimelineInterval }) {
  const from = origin(one.produced);
  const batch = String(one.batch_id);
  return (
    <>
      <h2>{w.batch(one.batch_id)}</h2>
      <p class="timeline-links">
        <Link to={place("blast", {}, { query: { query: one.query_id, first: batch, last: batch } })}>{w.whereTo}</Link>
        {from && <Link to={from}>{w.whereFrom}</Link>}
        <Then at={one.processing_time} />
      </p>
      <Facts rows={[
        [w.at, one.processing_time && <Time at={one.processing_time} />],
        [w.took, duration(one.duration_ms)],
        [w.rows, w.rowsInOut(one.rows_in, one.rows_out)],
        [w.late, one.rows_dropped_late ? w.dropped(one.rows_dropped_late) : null],
        [w.watermark, one.watermark_after && <Time at={one.watermark_after} />],
        ...positions(one.consumed, w.read),
        ...positions(one.produced, w.wrote),
        [w.known, one.provenance === "RECONCILED" ? w.fromCheckpoint : null],
        [w.conflicts, one.conflicts ? w.otherReports(one.conflicts) : null],
        [w.runName, one.run_id && <Link to={place("run", { id: one.run_id })}>{one.run_id.slice(0, 8)}</Link>],
        [w.code, one.code_version?.slice(0, 12)],
      ]} />
    </>
  );
}

function Gap({ one }: { one: TimelineInterval }) {
  return (
    <>
      <h2>{w.beforeBatch(one.batch_id)}</h2>
      <Facts rows={[
        [w.missing, one.missing_before ? w.missingBatches(one.missing_before) : null],
        [w.skipped, one.gaps.length ? offsets(one.gaps) : null],
        [w.readTwice, one.overlaps.length ? offsets(one.overlaps) : null],
      ]} />
    </>
  );
}

function Bar({ one }: { one: OverviewBar }) {
  return (
    <>
      <h2>{w.batches(one.first_batch, one.last_batch)}</h2>
      <Facts rows={[
        [w.number, number(one.batches)],
        [w.kept, one.summarized ? w.onlySummarized(one.summarized) : null],
        [w.from, one.first_time && <Time at={one.first_time} />],
        [w.to, one.last_time && <Time at={one.last_time} />],
        [w.missing, one.missing ? w.missingBatches(one.missing) : null],
        [w.skipped, one.gaps ? w.gapsInOffsets(one.gaps) : null],
        [w.readTwice, one.overlaps ? w.overlaps(one.overlaps) : null],
        [w.rewinds, one.rewinds ? number(one.rewinds) : null],
        [w.conflicts, one.conflicts ? w.otherReportsOf(one.conflicts) : null],
        [w.checksFailed, one.failed ? w.failedFor(one.failed) : null],
        [w.known, one.reconciled ? w.manyFromCheckpoint(one.reconciled) : null],
      ]} />
    </>
  );
}

function Run({ one }: { one: TimelineRun }) {
  const took = one.started_at && one.ended_at ? Date.parse(one.ended_at) - Date.parse(one.started_at) : null;
  return (
    <>
      <h2><Link to={place("run", { id: one.run_id })}>{w.run(one.run_id)}</Link></h2>
      <p class="timeline-links">
        <Link to={place("blast", {}, { query: { run: one.run_id } })}>{w.whereTo}</Link>
        <Then at={one.ended_at ?? one.started_at} />
      </p>
      <Facts rows={[
        [w.state, <State state={one.state} />],
        [w.started, one.started_at && <Time at={one.started_at} />],
        [w.took, duration(took)],
        [w.code, one.code_version?.slice(0, 12)],
        [w.error, one.error_message],
      ]} />
    </>
  );
}
