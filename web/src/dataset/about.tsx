// What is known of a dataset in words: description, people, consumers, names, state. Part of the tabs and of the side panel.

import type { DatasetDetails } from "../app/answers";
import type { Place } from "../app/address";
import { place } from "../app/address";
import { count, number } from "../app/format";
import { t } from "../app/texts";
import { AssetLink, Facts, Link, State, Time } from "../parts/basics";
import { Facets, Text } from "../parts/facet";
import { Folded, FoldedList } from "../parts/fold";
import { Consumers, Contact, DatasetOwners, Tags, declaredValue, tagsOf } from "../parts/people";
import { Checked, RunLink, Turns } from "../parts/runs";

/** Sensitivity that is declared for it, else the greatest that is declared for a column. */
const ORDER = ["UNKNOWN", "PUBLIC", "INTERNAL", "CONFIDENTIAL", "PII", "RESTRICTED"];
export function sensitivityOf({ declared }: Pick<DatasetDetails, "declared">): string | null {
  const all = [declared?.values?.sensitivity, ...Object.values(declared?.columns ?? {}).map((column) => (column as Record<string, unknown> | null)?.sensitivity)];
  const stated = all.filter((each): each is string => typeof each === "string");
  return stated.sort((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one))[0] ?? null;
}

export function About({ details }: { place: Place<"dataset">; details: DatasetDetails }) {
  const { dataset, declared } = details;
  const description = details.description ?? declaredValue(declared, "description");
  const [run] = details.runs;
  const [version] = details.versions;
  const failed = details.checks.reduce((sum, check) => sum + check.failed.length, 0);
  const passed = details.checks.reduce((sum, check) => sum + check.passed, 0);
  const others = [...new Set([...details.known_as, ...details.symlinks.map(({ namespace, name }) => `${namespace}/${name}`)])];
  const to = (column: string) => place("column", { namespace: dataset.namespace, name: dataset.name, column });
  const columns = details.columns.map(({ name }) => name);
  const contact = declaredValue(declared, "contact");
  const onCall = declaredValue(declared, "on_call");
  return (
    <div class="about">
      {details.gone && <p class="note-bad">{details.dropped_at ? <>{t.aboutTab.dropped} <Time at={details.dropped_at} /></> : t.aboutTab.gone}</p>}
      {description && <div class="about-text"><Folded text={description} most={600} /></div>}
      <Facts rows={[
        [t.owners, <DatasetOwners details={details} />],
        [t.people.onCall, onCall],
        [t.people.contact, contact && <Contact text={contact} />],
        [t.tags, tagsOf(details).length > 0 && <Tags tags={tagsOf(details)} />],
        [t.sensitivity, sensitivityOf(details)?.toLowerCase()],
        [t.classification, details.classification ?? declaredValue(declared, "classification")],
        [t.criticality, details.criticality ?? declaredValue(declared, "criticality")],
        [t.aboutTab.lastRun, run ? <><State state={run.state} /> <RunLink id={run.run_id} /> <Time at={run.began} short /></> : t.aboutTab.noRun],
        [t.aboutTab.lastVersion, version && <><span class="mono" title={version.version}>{version.format} {version.version.slice(0, 20)}{version.version.length > 20 ? "…" : ""}</span> <Time at={version.produced_at} short /> <Link to={place("dataset", { namespace: dataset.namespace, name: dataset.name }, { tab: "versions" })}>{t.aboutTab.allVersions(details.versions_total)}</Link></>],
        [t.checks, details.checks.length > 0 && <><State state={failed ? "FAILED" : passed ? "PASSED" : null} /> {t.checked.counts(failed, passed)}</>],
        [t.aboutTab.storage, [details.storage_layer, details.storage_format].filter(Boolean).filter((each, index, all) => all.indexOf(each) === index).join(" · ")],
        [t.aboutTab.source, details.source_uri && <Text text={details.source_uri} />],
        [t.aboutTab.table, dataset.table],
        [t.aboutTab.lifecycle, details.lifecycle?.toLowerCase()],
        [t.aboutTab.others, others.length > 0 && <FoldedList items={others} most={4} />],
        [t.aboutTab.renamedFrom, details.renamed_from && <AssetLink asset={details.renamed_from} whole />],
        [t.aboutTab.renamedTo, details.renamed_to.length > 0 && <FoldedList items={details.renamed_to.map((asset) => <AssetLink asset={asset} whole />)} most={4} />],
        [t.aboutTab.declaredIn, declared?.sets.join(", ")],
        [t.aboutTab.contradictions, declared !== null && declared.contradictions.length > 0 && count(declared.contradictions.length, ...t.nouns.property)],
      ]} />
      <section class="about-part">
        <h2>{t.aboutTab.declaredConsumers} <small class="muted">{number(details.declared_consumers.length)}</small></h2>
        {details.declared_consumers.length ? <Consumers consumers={details.declared_consumers} /> : <p class="muted">{t.aboutTab.noConsumers(details.consumers_total)}{details.filtered && ` ${t.filtered}`}</p>}
      </section>
      {failed > 0 && <section class="about-part"><h2>{t.checked.latest}</h2><Checked checks={details.checks.filter((check) => check.failed.length)} /></section>}
      {details.quality.some((turn) => turn.first_bad || turn.first_bad_run) && <section class="about-part"><h2>{t.checked.turns}</h2><Turns turns={details.quality} /></section>}
      {details.facets.some(({ json }) => json) && <section class="about-part"><h2>{t.facets}</h2><Facets facets={details.facets} columns={columns} to={to} /></section>}
    </div>
  );
}
