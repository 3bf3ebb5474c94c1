// Tab of a dataset: the runs that wrote it, or read it.

import type { DatasetDetails, RunItem, Turn } from "../app/answers";
import type { Place } from "../app/address";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { step } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, Section } from "../parts/basics";
import { Paged, noneOf, usePages } from "../parts/pages";
import { RUNS, Turns } from "../parts/runs";

export function Runs({ place: at, details }: { place: Place<"dataset">; details: DatasetDetails }) {
  const { role } = at.query;
  const key = details.dataset.key;
  const pages = usePages<RunItem>(`assets/${part(key)}/runs`, { role });
  const good = useAsked<Turn>(key, () => get<Turn>(`assets/${part(key)}/last-good`));
  return (
    <div class="tab-body">
      <Section title={t.runsTab.title} actions={
        <div class="row" role="group" aria-label={t.runsTab.which}>
          {(["WROTE", "READ"] as const).map((one) => <button aria-pressed={role === one} onClick={() => step("dataset", { role: one })}>{t.runsTab.roles[one]}</button>)}
        </div>
      }>
        <Paged key={role} pages={pages} columns={RUNS} of={(row) => row.key} label={t.runsTab.of[role]} noun={t.runList.noun} empty={t.runsTab.none[role]} />
      </Section>
      <Section title={t.checked.turns}>
        <Answer asked={good}>{(turn) => (turn.quality.length ? <Turns turns={turn.quality} /> : <p class="empty">{noneOf(turn, t.checked.noTurns)}</p>)}</Answer>
      </Section>
    </div>
  );
}
