// Incidents: the open ones, or all.

import { place, type Place } from "../app/address";
import type { IncidentBrief, IncidentPage } from "../app/answers";
import { number } from "../app/format";
import { step } from "../app/navigation";
import { t } from "../app/texts";
import { Link, Time, Tone } from "../parts/basics";
import { Paged, usePages } from "../parts/pages";
import { type Column } from "../parts/table";

const w = t.incidentView;

/** A severity in its tone: SEV1 and SEV2 are bad, the rest warn. */
export const Severity = ({ of }: { of: string | null }) => (of === null ? <>–</> : <Tone severity={of <= "SEV2" ? "CRITICAL" : "MEDIUM"}>{of}</Tone>);

/** Datasets with bad data by the latest record. */
export const reachedText = ({ reached_datasets: many, reached_complete: complete }: Pick<IncidentBrief, "reached_datasets" | "reached_complete">): string => (many === null ? w.notAsked : complete ? number(many) : w.atLeast(number(many)));

export const INCIDENTS: Column<IncidentBrief>[] = [
  { name: "title", title: w.incident, cell: (row) => <span class="asset"><Link to={place("incident", { id: row.incident })} title={row.incident}>{row.title ?? row.incident}</Link><small>{row.incident}</small></span>, value: (row) => row.title ?? row.incident },
  { name: "severity", title: w.severity, width: "88px", cell: (row) => <Severity of={row.severity} />, value: (row) => row.severity },
  { name: "status", title: w.status, width: "112px", cell: (row) => row.status ?? w.notOpened, value: (row) => row.status },
  { name: "opened", title: w.opened, width: "96px", cell: (row) => <Time at={row.opened_at} short />, value: (row) => row.opened_at },
  { name: "reached", title: w.reached, width: "88px", cell: reachedText, value: (row) => row.reached_datasets, wide: true },
  { name: "assignee", title: w.assignee, cell: (row) => row.assignee ?? "–", value: (row) => row.assignee, wide: true },
];

export function IncidentsView({ place: at }: { place: Place<"incidents"> }) {
  const { all } = at.query;
  const pages = usePages<IncidentBrief, IncidentPage>("incidents", all ? { all: "true" } : {});
  return (
    <div class="view">
      <h1>{t.incidents}</h1>
      <p class="note">{w.lead}</p>
      <p class="row"><button aria-pressed={all} onClick={() => step("incidents", { all: !all })}>{w.all}</button></p>
      <Paged pages={pages} columns={INCIDENTS} of={(row) => row.incident} label={t.incidents} noun={w.noun} empty={all ? w.none : w.noneOpen} />
    </div>
  );
}
