// Frame of the page: header, what failed, and the view of the place that the address names.

import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { DatasetView } from "../dataset/view";
import { Copy, Link, Menu, Trouble } from "../parts/basics";
import { BlastView } from "../views/blast";
import { ChecksView } from "../views/checks";
import { ColumnView } from "../views/column";
import { ConsumerView } from "../views/consumer";
import { DiffView } from "../views/diff";
import { Home } from "../views/home";
import { IncidentView } from "../views/incident";
import { IncidentsView } from "../views/incidents";
import { JobView } from "../views/job";
import { RunView } from "../views/run";
import { Search } from "../views/search";
import { TraceView } from "../views/trace";
import { place, type Place, type Route } from "./address";
import { logOut, Problem, withReturn } from "./api";
import { AsOfBar, AsOfMenu } from "./as-of";
import { parted, shortened, visible } from "./format";
import { Keys, keysShown, nextTheme } from "./keys";
import { go, here } from "./navigation";
import { SearchField } from "./search-field";
import { applyTheme, chosenTheme, live, narrow, report, trouble, who } from "./state";
import { t } from "./texts";

const NAV = ["incidents", "checks", "trace", "blast", "diff"] as const satisfies readonly Route[];

function View({ at }: { at: Place }) {
  switch (at.route) {
    case "home": return <Home place={at} />;
    case "search": return <Search place={at} />;
    case "dataset": return <DatasetView place={at} />;
    case "column": return <ColumnView place={at} />;
    case "job": return <JobView place={at} />;
    case "run": return <RunView place={at} />;
    case "consumer": return <ConsumerView place={at} />;
    case "incidents": return <IncidentsView place={at} />;
    case "incident": return <IncidentView place={at} />;
    case "checks": return <ChecksView place={at} />;
    case "trace": return <TraceView place={at} />;
    case "blast": return <BlastView place={at} />;
    case "diff": return <DiffView place={at} />;
  }
}

/** Title of the browser's tab. */
export function titled(at: Place | null): string {
  const last = (path: { namespace: string; name: string }): string => parted({ ...path, title: null, type: null }).last;
  const own = ((): string => {
    if (!at) return t.noPlace;
    switch (at.route) {
      case "home": return "";
      case "search": return t.titles.search(at.query.q);
      case "dataset": return t.titles.dataset(last(at.path), at.tab);
      case "column": return t.titles.column(at.path.column, last(at.path));
      case "job": return t.titles.job(at.path.name, at.tab);
      case "run": return t.titles.run(at.path.id);
      case "incident": return at.path.id;
      default: return t.titles[at.route];
    }
  })();
  return own ? `${visible(own)} · ${t.product}` : t.product;
}

function Lost() {
  return (
    <div class="view lost">
      <h1>{t.noPlace}</h1>
      <p>{t.noPlaceDetail}</p>
      <Link to={place("home", {})} class="button">{t.home}</Link>
    </div>
  );
}

/** What a view throws is shown in its place; another place is another try. */
class Boundary extends Component<{ at: Place | null; children: ComponentChildren }, { error: unknown; at: Place | null }> {
  state = { error: null as unknown, at: null as Place | null };

  componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error: error ?? new Error(), at: this.props.at });
  }

  render() {
    const { error, at } = this.state;
    if (error === null || at !== this.props.at) return this.props.children;
    const message = error instanceof Error ? error.message : String(error);
    return <div class="view"><h1>{t.viewFailed}</h1><Trouble problem={new Problem(t.viewFailed, t.viewFailedDetail(message))} again={() => this.setState({ error: null })} /></div>;
  }
}

/** Who is logged in, and whether answers are filtered; nothing where everybody may ask everything. */
export function Who() {
  const me = who.value;
  const known = me !== null && me.source !== "anonymous";
  const login = me !== null && !known ? me.login : null;
  const leave = (): void => void logOut().then((to) => location.assign(to), report);
  const enter = (event: Event): void => {
    event.preventDefault();
    // Where the page is when it is clicked, not when the link was drawn.
    if (login !== null) location.assign(withReturn(login));
  };
  return (
    <span id="who" hidden={!me || !(me.filtered || known || login !== null)}>
      {me?.filtered && <span class="note">{t.filtered}</span>}
      {me && known && <span class="who-name" title={t.loggedInAs(me.name ? `${me.name} (${me.subject})` : me.subject)}>{shortened(me.name || me.subject, 24)}</span>}
      {login !== null && <a id="login" href={login} onClick={enter}>{t.logIn}</a>}
      {me?.source === "session" && <button id="logout" onClick={leave}>{t.logOut}</button>}
    </span>
  );
}

const NavLinks = () => <>{NAV.map((route) => <Link to={place(route, {})} aria-current={here.value?.route === route ? "page" : undefined}>{t[route]}</Link>)}</>;

function FoldedMenu() {
  return (
    <Menu label={<><span aria-hidden="true">☰</span><span class="unseen">{t.menu}</span></>} title={t.menu}>
      {(close) => (
        <div class="bar-menu" onClick={close}>
          <NavLinks />
          <hr />
          <Copy text={() => location.href}>{t.share}</Copy>
          {(["auto", "light", "dark"] as const).map((name) => <button aria-pressed={chosenTheme.value === name} onClick={() => applyTheme(name)}>{t.themes[name]}</button>)}
          <hr />
          <button onClick={() => (keysShown.value = true)}>{t.keys}</button>
        </div>
      )}
    </Menu>
  );
}

function Header() {
  const folded = narrow.value;
  return (
    <header class="bar">
      <a class="bar-home" id="home" href="#/" title={t.homeTitle} aria-label={t.homeTitle} onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(place("home", {}, { asOf: here.value?.asOf ?? "" }));
      }}>
        <img src="icon.svg" alt="" width="26" height="26" /><span>{t.product}</span>
      </a>
      <SearchField />
      {!folded && <nav class="bar-nav" aria-label={t.views}><NavLinks /></nav>}
      <div class="bar-tools">
        <AsOfMenu />
        {folded ? <FoldedMenu /> : (
          <>
            <Copy text={() => location.href}>{t.share}</Copy>
            <button id="theme" class="icon" aria-label={t.themeNow(t.themes[chosenTheme.value])} title={t.themeNow(t.themes[chosenTheme.value])} onClick={nextTheme}>{t.themes[chosenTheme.value].slice(0, 1)}</button>
            <button id="help" class="icon" aria-label={t.keys} title={`${t.keys} (?)`} onClick={() => (keysShown.value = true)}>?</button>
          </>
        )}
      </div>
      <Who />
    </header>
  );
}

export function Shell() {
  const at = here.value;
  const main = useRef<HTMLElement>(null);
  const failed = trouble.value;
  useEffect(() => {
    document.title = titled(at);
  }, [at]);

  // Another view begins at its heading. Tweaks of the same view leave the focus where it is, and so does the first load.
  const of = at ? JSON.stringify([at.route, at.path]) : "";
  const before = useRef(of);
  useEffect(() => {
    if (before.current === of) return;
    before.current = of;
    const content = main.current;
    if (!content) return;
    content.scrollTop = 0;
    const heading = content.querySelector("h1");
    if (heading && !heading.hasAttribute("tabindex")) heading.tabIndex = -1;
    (heading ?? content).focus({ preventScroll: true });
  }, [of]);

  // What had the focus may be gone after its click, such as a button that closes its panel: keys would be of nobody then.
  useEffect(() => {
    let last: Element | null = null;
    const keep = ({ target }: FocusEvent): void => void (last = target as Element);
    const gone = new MutationObserver(() => {
      if (!last || last.isConnected) return;
      last = null;
      if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", keep);
    gone.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", keep);
      gone.disconnect();
    };
  }, []);

  return (
    <>
      <a class="skip" href="#content" onClick={(event) => {
        // The address is the page's state: it isn't `#content`.
        event.preventDefault();
        main.current?.focus();
      }}>{t.skip}</a>
      <Header />
      <AsOfBar />
      <main id="content" ref={main} tabIndex={-1}>
        {failed && <div class="shell-trouble"><Trouble problem={failed} close={() => (trouble.value = null)} /></div>}
        <Boundary at={at}>{at ? <View at={at} /> : <Lost />}</Boundary>
      </main>
      <div id="live" aria-live="polite">{live.value}</div>
      <Keys />
    </>
  );
}
