// Table of the path of one column: every mapping that its picture draws, and those of datasets that it doesn't.

import { spelling } from "../app/format";
import type { Asset } from "../app/answers";
import { t } from "../app/texts";
import { AssetLink } from "../parts/basics";
import { fileName, save } from "../parts/download";
import { Table, csv, type Column } from "../parts/table";
import type { ColumnPath, PathMapping } from "./picture";

const nameOf = (column: Asset): string => [spelling(column), column.column].join("/");

const COLUMNS: Column<PathMapping>[] = [
  { name: "from", title: t.columnFrom, value: ({ source }) => nameOf(source), cell: ({ source }) => <AssetLink asset={source} under /> },
  { name: "to", title: t.columnTo, value: ({ target }) => nameOf(target), cell: ({ target }) => <AssetLink asset={target} under /> },
  { name: "job", title: t.columnJob, value: ({ jobs }) => jobs.map(({ name }) => name).join(" "), cell: ({ jobs, jobsBeyond }) => (
    <>{jobs.map((job, index) => <>{index > 0 && ", "}<AssetLink asset={job} /></>)}{jobsBeyond > 0 && <small class="muted"> {t.more(jobsBeyond)}</small>}</>) },
];

interface Given {
  path: ColumnPath;
  column: string;
  sort: string;
  onSort: (sort: string) => void;
  find: string;
  onFind: (text: string) => void;
}

export function PathTable({ path: { mappings, unlisted, complete }, column, ...kept }: Given) {
  return (
    <Table {...kept} rows={mappings} columns={COLUMNS} of={({ key }) => key} label={t.pathLabel(column)} noun={t.nouns.mapping} empty={complete ? t.pathNothing : t.columnView.noneKnown}
      beyond={unlisted > 0 ? t.columnsNotListed(unlisted) : undefined}
      actions={<button onClick={() => save(fileName(`${column}-path`, "csv"), csv(mappings, COLUMNS), "text/csv;charset=utf-8")}>{t.csv}</button>} />
  );
}
