// A dataset: its name, and a tab for each side of it.

import { useEffect } from "preact/hooks";

import { DATASET_TABS, place, type DatasetTab, type Place } from "../app/address";
import type { Asset } from "../app/answers";
import { parted, spelling } from "../app/format";
import { here } from "../app/navigation";
import { keep, kept } from "../app/state";
import { t } from "../app/texts";
import { Answer, Chip, Copy, Link, Tabs } from "../parts/basics";
import { Marks } from "../parts/marks";
import { Columns } from "./columns";
import { ImpactTab } from "./impact";
import { LineageTab } from "./lineage";
import { Quality } from "./quality";
import { nameOf, useDetails } from "./questions";
import { Runs } from "./runs";
import { Versions } from "./versions";

import "./dataset.css";

const MOST_SEEN = 12;

type Seen = Pick<Asset, "namespace" | "name" | "type" | "title">;

function remember({ namespace, name, type, title }: Asset): void {
  const before = kept<Seen[]>("seen", []).filter((one) => one.namespace !== namespace || one.name !== name);
  keep("seen", [{ namespace, name, type, title }, ...before].slice(0, MOST_SEEN));
}

export function DatasetView({ place: at }: { place: Place<"dataset"> }) {
  const asked = useDetails(nameOf(at));
  const details = asked.value;
  useEffect(() => {
    if (details) remember(details.dataset);
  }, [details]);
  const { last, before } = parted(details?.dataset ?? { ...at.path, title: null, type: null });
  const to = (tab: DatasetTab): Place => ({ ...(here.value?.route === "dataset" ? (here.value as Place<"dataset">) : at), tab });
  const counts: Partial<Record<DatasetTab, number>> = details ? { columns: details.columns_total, versions: details.versions_total } : {};
  return (
    <div class={`dataset-view ${at.tab === "lineage" ? "filling" : ""}`}>
      <header class="view-head">
        <p class="crumbs"><Link to={place("search", {}, { query: { namespace: at.path.namespace } })}>{at.path.namespace}</Link>{before && <span>{before}</span>}</p>
        <h1 tabIndex={-1} title={spelling({ namespace: at.path.namespace, name: at.path.name } as Asset)}>
          <Chip kind={details?.dataset.type ?? null} /> {last}{details?.gone && <small> {t.dropped}</small>}
        </h1>
        {details?.dataset.table && details.dataset.table !== last && <span class="under">{details.dataset.table}</span>}
        {details && <Marks of={details.incidents} dataset={details.dataset.key} />}
        <Copy class="link" text={details ? spelling(details.dataset) : nameOf(at)}>{t.copyName}</Copy>
        <Tabs label={t.datasetTabs} now={at.tab} to={to} tabs={DATASET_TABS.map((tab) => ({ tab, title: t.datasetTab[tab], count: counts[tab] ?? null }))} />
      </header>
      {/* The picture doesn't wait for the details: it has an answer of its own. */}
      {at.tab === "lineage" && !asked.problem ? <LineageTab place={at} details={details} /> : <Answer asked={asked}>{(found) => {
        switch (at.tab) {
          case "columns": return <Columns place={at} details={found} />;
          case "runs": return <Runs place={at} details={found} />;
          case "quality": return <Quality place={at} details={found} />;
          case "impact": return <ImpactTab place={at} details={found} />;
          case "versions": return <Versions place={at} details={found} />;
          default: return null;
        }
      }}</Answer>}
    </div>
  );
}

