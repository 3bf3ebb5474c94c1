// Who asks, and the log-in and log-out of people, where the server has these.

import { me, Problem, withReturn } from "./api";
import { h } from "./dom";
import { shortened } from "./format";

/** Show who is logged in, and whether answers are filtered; nothing where everybody may ask everything. */
export async function showWho(place: HTMLElement, report: (error: unknown) => void): Promise<void> {
  const { source, subject, name, filtered, login } = await me();
  const shown: HTMLElement[] = [];
  // The same line whatever is hidden, and also where nothing is.
  if (filtered) shown.push(h("span", { class: "note" }, "Answers leave out what you may not see."));
  if (source !== "anonymous") {
    const title = `Logged in as ${name ? `${name} (${subject})` : subject}`;
    shown.push(h("span", { title }, shortened(name || subject, 24)));
  } else if (login !== null) {
    // Where the page is when it is clicked, not now.
    const go = (event: Event) => (event.preventDefault(), location.assign(withReturn(login)));
    shown.push(h("a", { id: "login", href: login, onclick: go }, "Log in"));
  }
  if (source === "session") shown.push(h("button", { id: "logout", onclick: () => void logOut().catch(report) }, "Log out"));
  place.replaceChildren(...shown);
  place.hidden = shown.length === 0;
}

/** End the session here, and go where it ends at the provider. */
async function logOut(): Promise<void> {
  const answer = await fetch("logout", { method: "POST" });
  if (!answer.ok) throw new Problem("You are still logged in.", `The server answered ${answer.status}.`);
  location.assign(((await answer.json()) as { location: string }).location);
}
