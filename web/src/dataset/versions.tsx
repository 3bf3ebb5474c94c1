// Tab of a dataset: its versions, who wrote each, and where its records are from.

import type { DatasetDetails, Producer, VersionItem } from "../app/answers";
import { place, type Place } from "../app/address";
import { part } from "../app/api";
import { count, number } from "../app/format";
import { t } from "../app/texts";
import { Link, Section, Time } from "../parts/basics";
import { Paged, usePages } from "../parts/pages";
import { RunLink, blastOfBatch } from "../parts/runs";
import { UsePart, size, versionTrace } from "../parts/uses";
import type { Column } from "../parts/table";

/** Snapshot ids and version numbers whole, digests by their beginning. */
const shortVersion = (version: string): string => (version.length > 20 ? `${version.slice(0, 12)}…` : version);

/** What came of whoever wrote a version: of its micro-batch, else of its run. */
export function blastOf(producer: Producer | undefined): Place | null {
  if (!producer) return null;
  if (producer.query_id && producer.batch_id !== null) return blastOfBatch(producer.query_id, producer.batch_id);
  return producer.run_id ? place("blast", {}, { query: { run: producer.run_id } }) : null;
}

function ProducedBy({ version }: { version: VersionItem }) {
  const [first] = version.producers;
  if (!first) return <span class="muted">{version.producers_total ? count(version.producers_total, ...t.nouns.run) : t.versionsTab.nobody}</span>;
  return (
    <>
      {first.run_id && <RunLink id={first.run_id} />} {first.batch_id !== null && <span>{t.batch(first.batch_id)}</span>}
      {first.job && <> <Link to={place("job", { namespace: first.job.namespace, name: first.job.name })} title={first.job.name}>{first.job.name}</Link></>}
      {version.producers_total > 1 && <small class="muted"> {t.more(version.producers_total - 1)}</small>}
      {version.producers.some(({ conflict }) => conflict) && <small class="warn"> {t.versionsTab.conflict}</small>}
    </>
  );
}

export function Versions({ details }: { place: Place<"dataset">; details: DatasetDetails }) {
  const key = details.dataset.key;
  const pages = usePages<VersionItem>(`assets/${part(key)}/versions`);
  const columns: Column<VersionItem>[] = [
    { name: "at", title: t.versionsTab.at, cell: (row) => <Time at={row.produced_at} />, value: (row) => row.produced_at },
    { name: "version", title: t.versionsTab.version, cell: (row) => <span class="mono run-id" title={row.version}>{shortVersion(row.version)}</span>, value: (row) => row.version },
    { name: "format", title: t.versionsTab.format, cell: (row) => row.format, value: (row) => row.format, wide: true },
    { name: "operation", title: t.versionsTab.operation, cell: (row) => row.operation, value: (row) => row.operation, wide: true },
    { name: "partitions", title: t.use.partitions, cell: (row) => <span class="clamp" title={row.partitions.join("\n")}>{row.partitions.join(", ")}</span>, value: (row) => row.partitions.join(" ") || null, wide: true },
    { name: "files", title: t.use.files, cell: (row) => number(row.file_count), value: (row) => row.file_count, number: true, wide: true },
    { name: "bytes", title: t.use.bytes, cell: (row) => size(row.file_bytes) ?? "–", value: (row) => row.file_bytes, number: true, wide: true },
    { name: "by", title: t.versionsTab.by, cell: (row) => <ProducedBy version={row} />, value: (row) => row.producers[0]?.job?.name ?? row.producers[0]?.run_id ?? null },
    { name: "readers", title: t.versionsTab.readers, cell: (row) => number(row.readers), value: (row) => row.readers, number: true, wide: true },
    { name: "ask", title: t.versionsTab.ask, cell: (row) => {
      const went = blastOf(row.producers[0]);
      return <span class="links"><Link to={versionTrace(key, row.version, "BACKWARD")}>{t.whereFrom}</Link><Link to={versionTrace(key, row.version, "FORWARD")}>{t.whereWent}</Link>{went && <Link to={went}>{t.versionsTab.blast}</Link>}</span>;
    } },
  ];
  return (
    <div class="tab-body">
      <Section title={t.versionsTab.title}>
        <Paged pages={pages} columns={columns} of={(row) => row.key} label={t.versionsTab.title} noun={t.versionsTab.noun} empty={t.versionsTab.none} />
      </Section>
      {details.business_versions.length > 0 && (
        <Section title={t.versionsTab.business}>
          <p class="note">{t.versionsTab.businessNote}</p>
          {details.business_versions.map(({ run_id, reference }) => <><p>{t.checked.inRun} <RunLink id={run_id} /></p><UsePart use={reference} wrote={false} /></>)}
        </Section>
      )}
    </div>
  );
}
