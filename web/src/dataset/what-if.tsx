// Form of a supposed change of a dataset or column; its answer colours the picture and the tables.

import { useState } from "preact/hooks";

import type { DatasetDetails } from "../app/answers";
import { step } from "../app/navigation";
import { t } from "../app/texts";
import { CHANGES, needsColumn, type At, type ChangeName } from "./questions";

interface Given {
  at: At;
  details: DatasetDetails;
  /** Column that the form begins with. */
  column: string;
}

export function WhatIf({ at, details, column }: Given) {
  const { query } = at;
  const key = details.dataset.key;
  const own = query.change !== "" && (query.changed === "" || query.changed === key);
  const [change, setChange] = useState<ChangeName>(own ? (query.change as ChangeName) : column ? "REMOVED" : "DATA_INCORRECT");
  const [of, setOf] = useState(own ? query.changedcol : column);
  const [type, setType] = useState(own ? query.newtype : "");
  const [name, setName] = useState(own ? query.newname : "");
  const known = details.columns.find((one) => one.name === of);
  const missing = needsColumn(change) && !of ? t.chooseColumn : change === "RETYPED" && !type.trim() ? t.giveType : change === "RENAMED" && !name.trim() ? t.giveName : "";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (missing) return;
    step("dataset", {
      change, changed: key, changedcol: of, severity: [], panel: "",
      newtype: change === "RETYPED" ? type.trim() : "", newname: change === "RENAMED" ? name.trim() : "",
    });
  };
  return (
    <form class="what-if" onSubmit={submit}>
      <label>{t.whatIfColumn}
        <input list={`columns-of-${key}`} id="of" value={of} placeholder={t.theDataset} onInput={(event) => setOf(event.currentTarget.value)} />
        <datalist id={`columns-of-${key}`}>{details.columns.map((one) => <option value={one.name}>{one.type}</option>)}</datalist>
      </label>
      <label>{t.whatIfChange}
        <select id="change" value={change} onChange={(event) => setChange(event.currentTarget.value as ChangeName)}>
          {CHANGES.map((each) => <option value={each}>{t.change[each]}</option>)}
        </select>
      </label>
      {change === "RETYPED" && <label>{t.newType(known?.type ?? null)} <input id="newtype" value={type} onInput={(event) => setType(event.currentTarget.value)} placeholder={t.newTypeHint} /></label>}
      {change === "RENAMED" && <label>{t.newName} <input id="newname" value={name} onInput={(event) => setName(event.currentTarget.value)} placeholder={of} /></label>}
      <button class="primary" id="analyze" disabled={missing !== ""}>{t.showImpact}</button>
      {missing && <p class="note">{missing}</p>}
    </form>
  );
}
