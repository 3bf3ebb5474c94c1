// Who is responsible, and who has to know: owners, contacts, tags, and declared consumers.

import type { Declared, DatasetDetails, JobUse, OwnerName, ReadingConsumer, AssetTag } from "../app/answers";
import { place } from "../app/address";
import { count } from "../app/format";
import { t } from "../app/texts";
import { Facts, Link } from "./basics";
import { FoldedList } from "./fold";

/** One declared value, where it is a text or a number. */
export function declaredValue(declared: Declared | null, name: string): string | null {
  const value = declared?.values?.[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

const declaredList = (declared: Declared | null, name: string): string[] => {
  const value = declared?.values?.[name];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
};

/** Owners as every list of the page has them: declared ones, else those that events report. */
export function ownersOf({ declared, owners }: { declared: Declared | null; owners: OwnerName[] }): string[] {
  const stated = declaredList(declared, "owners");
  return stated.length ? stated : owners.map(({ name }) => name);
}

/** Names of owners or other people, as one text. */
export const namesOf = (people: readonly { name: string }[]): string => people.map(({ name }) => name).join(", ");

/** Owners of the jobs that write a dataset, whom an impact names where the dataset has none of its own. */
export const ownersOfJobs = (producers: JobUse[]): string[] => [...new Set(producers.flatMap(({ owners }) => owners.map(({ name }) => name)))];

/** Owner by owner, linked to what else is theirs. */
export const Owners = ({ names }: { names: string[] }) => (
  <ul class="names">{names.map((name) => <li><Link to={place("search", {}, { query: { owner: name } })}>{name}</Link></li>)}</ul>
);

/** Own owners, else those of the jobs that write it, else nobody. */
export function DatasetOwners({ details }: { details: DatasetDetails }) {
  const own = ownersOf(details);
  if (own.length) return <Owners names={own} />;
  const ofJobs = ownersOfJobs(details.producers);
  const beyond = details.producers_total - details.producers.length;
  if (ofJobs.length) return <><Owners names={ofJobs} /> <small class="muted">{t.people.ofJobs}{beyond > 0 && <>, {t.people.unlistedJobs(beyond)}</>}</small></>;
  return <span class="muted">{beyond > 0 ? t.people.unlistedJobs(beyond) : t.people.nobody}</span>;
}

export const tagText = ({ key, value }: { key: string; value: string }): string => (value && value !== "true" ? `${key}=${value}` : key);

/** Tags, also declared ones. */
export function tagsOf({ declared, tags }: { declared: Declared | null; tags: AssetTag[] }): { key: string; value: string }[] {
  const [keys, values] = [declaredList(declared, "tags"), declaredList(declared, "tag_values")];
  const stated = keys.map((key, index) => ({ key, value: values[index] ?? "" }));
  const known = new Set(tags.map(tagText));
  return [...tags, ...stated.filter((tag) => !known.has(tagText(tag)))];
}

export const Tags = ({ tags }: { tags: { key: string; value: string }[] }) =>
  tags.length === 0 ? null : (
    <ul class="names">{tags.map((tag) => <li><Link class="tag" to={place("search", {}, { query: { tag: tag.value ? `${tag.key}=${tag.value}` : tag.key } })}>{tagText(tag)}</Link></li>)}</ul>
  );

/** A way to reach somebody: an address of mail is a link. */
export const Contact = ({ text }: { text: string }) =>
  /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(text) ? <a href={`mailto:${encodeURIComponent(text).replace("%40", "@")}`}>{text}</a> : <>{text}</>;

/** Declared consumers: what each is, who its people are, and how long before a change they have to know. */
export const Consumers = ({ consumers }: { consumers: ReadingConsumer[] }) => (
  <FoldedList most={8} items={consumers.map((one) => (
    <div class="person">
      <p><Link to={place("consumer", { key: one.key })}>{one.name}</Link> <small class="muted">{[one.type?.toLowerCase(), one.criticality].filter(Boolean).join(", ")}</small></p>
      <Facts rows={[
        [t.owners, namesOf(one.owners)],
        [t.people.onCall, one.on_call],
        [t.people.contact, one.contact && <Contact text={one.contact} />],
        [t.people.notice, one.notice_days !== null && t.people.noticeDays(count(one.notice_days, ...t.nouns.day))],
        [t.people.deadline, one.deadline],
        [t.people.freshness, one.freshness_seconds !== null && t.people.freshFor(one.freshness_seconds)],
      ]} />
      {!one.owners.length && !one.on_call && !one.contact && <p class="muted">{t.people.nobody}</p>}
    </div>
  ))} />
);
