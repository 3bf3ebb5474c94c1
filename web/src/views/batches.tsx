// Micro-batches of a run: rows, watermark, offsets, and breaks in the chain; each with what it read and wrote.

import { useEffect, useRef, useState } from "preact/hooks";

import type { IntervalItem, IntervalPage } from "../app/answers";
import { count, duration, number, offsets, parted } from "../app/format";
import { t } from "../app/texts";
import { Answer, Link, Section, State, Time, Tone } from "../parts/basics";
import { FoldedList } from "../parts/fold";
import { More, beyondOf, noneOf, usePages } from "../parts/pages";
import { Assertion, blastOfBatch } from "../parts/runs";
import { Table, type Column } from "../parts/table";
import { UsePart } from "../parts/uses";

/** What is wrong with a micro-batch's place in the chain, in words; none is null. */
export function breaks(batch: Pick<IntervalItem, "missing" | "gaps" | "overlaps" | "rewinds" | "anew" | "conflicts">): string[] {
  return [
    batch.missing ? t.batches.missing(batch.missing) : "",
    batch.gaps.length ? t.batches.skipped(offsets(batch.gaps)) : "",
    batch.overlaps.length ? t.batches.twice(offsets(batch.overlaps)) : "",
    batch.rewinds ? t.batches.rewinds : "",
    batch.anew ? t.batches.anew : "",
    batch.conflicts ? t.batches.conflicts(count(batch.conflicts, ...t.nouns.otherReport)) : "",
  ].filter(Boolean);
}

const read = (batch: IntervalItem): string => batch.inputs.filter((use) => use.offsets.length).map((use) => `${batch.inputs.length > 1 ? `${parted(use.dataset).last} ` : ""}${offsets(use.offsets)}`).join("; ");

export function Batches({ id, total }: { id: string; total: number }) {
  const [chosen, choose] = useState<string | null>(null);
  const pages = usePages<IntervalItem, IntervalPage>(`runs/${id}/intervals`);
  const columns: Column<IntervalItem>[] = [
    { name: "batch", title: t.batches.batch, value: (row) => row.batch_id, cell: (row) => <button class="link" aria-expanded={chosen === row.key} onClick={() => choose(chosen === row.key ? null : row.key)}>{number(row.batch_id)}</button> },
    { name: "time", title: t.batches.time, cell: (row) => <Time at={row.processing_time} />, value: (row) => row.processing_time },
    { name: "took", title: t.runList.took, cell: (row) => duration(row.duration_ms), value: (row) => row.duration_ms, number: true, wide: true },
    { name: "in", title: t.batches.rowsIn, cell: (row) => number(row.rows_in), value: (row) => row.rows_in, number: true },
    { name: "out", title: t.batches.rowsOut, cell: (row) => number(row.rows_out), value: (row) => row.rows_out, number: true },
    { name: "late", title: t.batches.late, cell: (row) => (row.rows_dropped_late ? number(row.rows_dropped_late) : row.rows_dropped_late === 0 ? "0" : "–"), value: (row) => row.rows_dropped_late, number: true, wide: true },
    { name: "watermark", title: t.batches.watermark, cell: (row) => (row.watermark_after ? <Time at={row.watermark_after} /> : "–"), value: (row) => row.watermark_after, wide: true },
    { name: "offsets", title: t.use.offsets, cell: (row) => <span class="mono clamp" title={read(row)}>{read(row) || "–"}</span>, value: (row) => read(row) || null },
    { name: "breaks", title: t.batches.chain, cell: (row) => <Breaks batch={row} />, value: (row) => breaks(row).join(" ") || null },
  ];
  return (
    <Section title={t.runView.batches}>
      <Answer asked={pages.asked}>{(answer) => {
        const batch = pages.rows.find(({ key }) => key === chosen);
        return (
          <>
            <Table rows={pages.rows} columns={columns} of={(row) => row.key} label={t.runView.batches} noun={t.batches.noun} chosen={chosen} onChoose={(row) => choose(row.key)}
              empty={total ? t.batches.notListed : noneOf(answer, t.batches.none)} beyond={beyondOf(pages.rows.length, answer.total)} actions={<More pages={pages} />} />
            {answer.summarized > 0 && <p class="note">{t.batches.summarized(answer.summarized)}</p>}
            {batch && <One batch={batch} close={() => choose(null)} />}
          </>
        );
      }}</Answer>
    </Section>
  );
}

const Breaks = ({ batch }: { batch: IntervalItem }) => {
  const found = breaks(batch);
  return found.length === 0 ? <span class="muted">{t.batches.noBreak}</span> : <span class="breaks">{found.map((each) => <Tone severity="BREAKING">{each}</Tone>)}</span>;
};

/** All of one micro-batch, below the table. */
function One({ batch, close }: { batch: IntervalItem; close: () => void }) {
  const blast = blastOfBatch(batch.query_id, batch.batch_id);
  const shown = useRef<HTMLElement>(null);
  // It stands below a table that may be long.
  useEffect(() => shown.current?.scrollIntoView?.({ block: "nearest" }), [batch.key]);
  return (
    <section class="batch" ref={shown} aria-label={t.batch(batch.batch_id)}>
      <div class="part-head"><h2>{t.batch(batch.batch_id)} <small class="muted"><Time at={batch.processing_time} />{batch.provenance === "RECONCILED" && <> · {t.batches.reconciled}</>}</small></h2>
        <p class="links"><Link to={blast}>{t.whereWent}</Link><button class="link" onClick={close}>{t.close}</button></p></div>
      {batch.state_rows !== null && <p class="note">{t.batches.stateRows(count(batch.state_rows, ...t.nouns.row))}</p>}
      {batch.quality.length > 0 && <FoldedList items={batch.quality.map((one) => <div class="checked"><State state={one.passed ? "PASSED" : "FAILED"} /><Assertion of={one} /></div>)} />}
      <h3>{t.batches.read}</h3>
      {batch.inputs.length ? batch.inputs.map((use) => <UsePart use={use} wrote={false} />) : <p class="muted">{t.runView.noInputs}</p>}
      <h3>{t.batches.wrote}</h3>
      {batch.outputs.length ? batch.outputs.map((use) => <UsePart use={use} wrote blast={blast} />) : <p class="muted">{t.runView.noOutputs}</p>}
    </section>
  );
}
