// First start: nothing is in the graph. Three commands, and what they have done so far.

import type { GraphStatus } from "../app/answers";
import { number } from "../app/format";
import { t } from "../app/texts";
import { Copy, Section, Time } from "../parts/basics";

type Standing = "good" | "bad" | "none";

const COMMANDS: { command: string; does: string; done: (status: GraphStatus) => boolean }[] = [
  { command: "headwater up", does: t.homeView.up, done: (status) => status.graph_reachable && status.kafka_reachable === true },
  { command: "headwater consume", does: t.homeView.consume, done: (status) => status.consumer === "REPORTING" },
  { command: "headwater demo --keep", does: t.homeView.demo, done: (status) => (status.datasets ?? 0) > 0 },
];

/** What is known of each part, in words. */
export function standings(status: GraphStatus): { name: string; standing: Standing; word: string }[] {
  const { graph_reachable: graph, kafka_reachable: kafka, prepared, consumer, events } = status;
  return [
    { name: "Kafka", standing: kafka === null ? "none" : kafka ? "good" : "bad", word: kafka === null ? t.homeView.notAsked : kafka ? t.homeView.reachable : t.homeView.unreachable },
    { name: "Neo4j", standing: graph ? "good" : "bad", word: !graph ? t.homeView.unreachable : prepared ? t.homeView.prepared : t.homeView.unprepared },
    { name: t.homeView.consumer, standing: consumer === "REPORTING" ? "good" : consumer === "SILENT" ? "bad" : "none", word: consumer === null ? t.unknown : (t.homeView.consumers[consumer] ?? consumer) },
    { name: t.homeView.events, standing: events ? "good" : "none", word: events === null ? t.unknown : number(events) },
  ];
}

export function First({ status }: { status: GraphStatus }) {
  return (
    <>
      <p class="home-lead">{t.homeView.lead}</p>
      <ol class="steps">
        {COMMANDS.map(({ command, does, done }) => (
          <li class={done(status) ? "done" : ""}>
            <p class="steps-command"><code>{command}</code><Copy text={command}>{t.copy}</Copy></p>
            <p>{does}{done(status) && <> <strong class="state good">{t.homeView.done}</strong></>}</p>
          </li>
        ))}
      </ol>
      <Section title={t.homeView.now}>
        <dl class="facts" aria-live="polite">
          {standings(status).map(({ name, standing, word }) => <><dt>{name}</dt><dd><span class={`state ${standing}`}>{word}</span></dd></>)}
          {status.last_event && <><dt>{t.lastEvent}</dt><dd><Time at={status.last_event} /></dd></>}
        </dl>
        <p class="note">{t.homeView.asked}</p>
      </Section>
      <p class="note">{t.homeView.emit}</p>
    </>
  );
}
