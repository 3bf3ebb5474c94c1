// What a run or micro-batch read or wrote: the part of each dataset, and where it is from or where it went.

import type { Use } from "../app/answers";
import { place, type Place } from "../app/address";
import { count, number, offsets } from "../app/format";
import { t } from "../app/texts";
import { AssetLink, Facts, Link, Time } from "./basics";
import { Facets } from "./facet";
import { Folded, FoldedList } from "./fold";

/** Bytes in a unit of people: 11.2 kB. */
export function size(bytes: number | null | undefined): string | null {
  if (bytes === null || bytes === undefined) return null;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? number(value) : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Traces of records by offset, one for each partition that has some. */
export function offsetTraces(use: Pick<Use, "dataset" | "offsets">, direction: "FORWARD" | "BACKWARD"): { partition: number; to: Place }[] {
  return use.offsets.filter(({ start, end }) => end > start).map(({ partition, start, end }) => ({
    partition,
    to: place("trace", {}, { query: { direction, topic: use.dataset.key, partition: String(partition), offset: String(start), end: String(end) } }),
  }));
}

export const fileTrace = (path: string, direction: "FORWARD" | "BACKWARD"): Place => place("trace", {}, { query: { direction, path } });
export const versionTrace = (dataset: string, version: string, direction: "FORWARD" | "BACKWARD"): Place => place("trace", {}, { query: { direction, dataset, version } });

/** Trace of a part of a dataset, where the part is known. */
function Traces({ use, direction }: { use: Use; direction: "FORWARD" | "BACKWARD" }) {
  const word = direction === "FORWARD" ? t.whereWent : t.whereFrom;
  const byOffset = offsetTraces(use, direction);
  if (byOffset.length) return <>{byOffset.length === 1 ? <Link to={byOffset[0]?.to as Place}>{word}</Link> : <>{word} {byOffset.map(({ partition, to }) => <Link to={to}>{t.partition(partition)}</Link>)}</>}</>;
  if (use.version) return <Link to={versionTrace(use.dataset.key, use.version, direction)}>{word}</Link>;
  return use.paths.length === 1 ? <Link to={fileTrace(use.paths[0] as string, direction)}>{word}</Link> : null;
}

/** Files by path, each with its trace. */
const Paths = ({ paths, direction }: { paths: string[]; direction: "FORWARD" | "BACKWARD" }) => (
  <FoldedList most={5} items={paths.map((path) => <span class="path"><Folded text={path} most={300} /> <Link to={fileTrace(path, direction)}>{direction === "FORWARD" ? t.whereWent : t.whereFrom}</Link></span>)} />
);

/** One use, as facts. `blast` leads to what came of whoever wrote it. */
export function UsePart({ use, wrote, blast }: { use: Use; wrote: boolean; blast?: Place }) {
  const direction = "BACKWARD";
  const beyond = use.files !== null && use.files > use.paths.length && use.paths.length > 0 ? use.files - use.paths.length : 0;
  return (
    <article class="use">
      <div class="use-head">
        <h3><AssetLink asset={use.dataset} under /></h3>
        <p class="links">
          {wrote && blast && <Link to={blast}>{t.whereWent}</Link>}
          <Traces use={use} direction={direction} />
        </p>
      </div>
      <Facts rows={[
        [t.use.position, use.position ? [t.use.positions[use.position] ?? use.position, use.certainty && use.certainty !== "EXACT" && t.use.certainties[use.certainty]].filter(Boolean).join(", ") : t.use.unknownPart],
        [t.use.offsets, use.offsets.length > 0 && <Folded text={offsets(use.offsets)} most={240} />],
        [t.use.topicId, use.topic_id && <span class="mono">{use.topic_id}</span>],
        [t.use.version, use.version && <span class="mono">{[use.format, use.from_version && `${use.from_version} →`, use.version].filter(Boolean).join(" ")}</span>],
        [t.use.branch, use.branch],
        [t.use.committed, use.uncommitted && t.use.uncommitted],
        [t.use.rows, use.rows !== null && number(use.rows)],
        [t.use.bytes, size(use.bytes)],
        [t.use.files, use.files !== null && number(use.files)],
        [t.use.partitionedBy, use.partition_columns.join(", ")],
        [t.use.partitions, (use.partitions.length > 0 || use.partition_count !== null) && <>{use.partition_count !== null && number(use.partition_count)}{use.partitions.length > 0 && <FoldedList items={use.partitions} most={5} />}</>],
        [t.use.pattern, use.pattern && <span class="mono">{use.pattern}</span>],
        [t.use.paths, use.paths.length > 0 && <><Paths paths={use.paths} direction={direction} />{beyond > 0 && <small class="muted">{t.use.unlistedFiles(count(beyond, ...t.nouns.file))}</small>}</>],
        [t.use.schema, use.schema_since && <Time at={use.schema_since} />],
        [t.use.text, use.text && <Folded text={use.text} />],
        [t.use.inputs, wrote && use.inputs === null && t.use.unknownInputs],
      ]} />
      <Facets facets={use.facets} />
    </article>
  );
}
