// Tab of a dataset: its latest checks, and since when they fail.

import type { DatasetDetails, Turn } from "../app/answers";
import type { Place } from "../app/address";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { t } from "../app/texts";
import { Answer, Section, Tone } from "../parts/basics";
import { noneOf } from "../parts/pages";
import { Checked, Turns } from "../parts/runs";

export function Quality({ details }: { place: Place<"dataset">; details: DatasetDetails }) {
  const key = details.dataset.key;
  const good = useAsked<Turn>(key, () => get<Turn>(`assets/${part(key)}/last-good`));
  const failed = details.checks.reduce((sum, check) => sum + check.failed.length, 0);
  const passed = details.checks.reduce((sum, check) => sum + check.passed, 0);
  return (
    <div class="tab-body">
      <Section title={t.checked.latest}>
        {details.checks.length === 0 ? <p class="empty">{noneOf(details, t.checked.none)}</p> : (
          <>
            <p class="row"><Tone severity={failed ? "BREAKING" : "NONE"}>{t.checked.failed(failed)}</Tone> <Tone severity="NONE">{t.checked.passed(passed)}</Tone></p>
            <Checked checks={details.checks} />
          </>
        )}
      </Section>
      <Section title={t.checked.turns}>
        <Answer asked={good}>{(turn) => (turn.quality.length ? <Turns turns={turn.quality} /> : <p class="empty">{noneOf(turn, t.checked.noTurns)}</p>)}</Answer>
      </Section>
    </div>
  );
}
