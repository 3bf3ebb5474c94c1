// Open incidents that reached a dataset, with since when and how certain.

import { place } from "../app/address";
import type { IncidentMarks } from "../app/answers";
import { t } from "../app/texts";
import { Link, Time } from "./basics";

const w = t.incidentView;

/** Nothing where the answer has no mark of the dataset. */
export function Marks({ of: marks, dataset }: { of: IncidentMarks | undefined; dataset: string }) {
  const found = marks?.items.filter(({ key }) => key === dataset) ?? [];
  return found.length === 0 ? null : (
    <ul class="lines note-bad">
      {found.map(({ incident, title, severity, since, certainty, as_of: asOf }) => (
        <li>
          <Link to={place("incident", { id: incident })}>{title ?? incident}</Link> ({[severity, incident].filter(Boolean).join(", ")}){" "}
          {asOf === null ? w.namedByScope : <>{since !== null && <>{w.since} <Time at={since} short />, </>}{t.traces.certainties[certainty]}</>}
        </li>
      ))}
    </ul>
  );
}
