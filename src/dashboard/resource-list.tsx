// biome-ignore-all lint/a11y/useSemanticElements: the elements of a table lose their roles in some browsers when they are laid out as a grid
// biome-ignore-all lint/a11y/useFocusableInteractive: a row is read, and its link is what the keyboard reaches
import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ResourceEntry, ResourcesReply } from "../contract/generated/output.ts";
import { address, go, pathOfResource, withFilters } from "./address.ts";
import { after } from "./browser-clock.ts";
import { forgetOutcomesBefore, outcomes, type ResourceFacts, readResources, resourcesVersion } from "./daemon.ts";
import { Age, Badge, visible } from "./parts.tsx";
import { ResourceGraph } from "./resource-graph.tsx";

/** How many rows are read at once. */
const PART = 100;
/** Rows above and below what can be seen, so that scrolling shows no gaps. */
const AROUND = 12;

/** The filters of the resources that stand in the address, by their names in the interface. */
const filterNames = ["state", "kind", "search", "sort", "attention"] as const;

const NO_FILTERS = Object.fromEntries(filterNames.map((name) => [name, ""]));

type Parts = { readonly facts: ResourcesReply | null; readonly rows: ReadonlyMap<number, ResourceEntry> };

const NONE: Parts = { facts: null, rows: new Map() };

/** The resources of a target, as a table or as a graph of what refers to what. */
export function ResourceList({ target }: { readonly target: string }) {
  const facts = useSignal<ResourceFacts | null>(null);
  const known = facts.value;
  const isGraph = address.value.filters.get("view") === "graph";
  return (
    <section aria-labelledby="resources">
      <h2 id="resources">
        Resources{" "}
        {known !== null && (
          <span class="soft">
            {known.total.toLocaleString("en")}
            {known.needsAttention > 0 && `, ${known.needsAttention.toLocaleString("en")} need attention`}
          </span>
        )}
      </h2>
      <Filters facts={known} isGraph={isGraph} />
      {isGraph ? <ResourceGraph target={target} facts={facts} /> : <Table target={target} facts={facts} />}
    </section>
  );
}

/** However many resources there are, only the rows that can be seen are in the page. */
function Table({ target, facts }: { readonly target: string; readonly facts: Signal<ResourceFacts | null> }) {
  const parts = useSignal<Parts>(NONE);
  const seen = useSignal({ first: 0, last: 30 });
  const query = useComputed(() => queryOf(address.value.filters));
  useParts(target, query, seen, parts);
  useSignalEffect(() => {
    facts.value = parts.value.facts;
  });
  const { facts: known, rows } = parts.value;
  if (known !== null && known.matching === 0)
    return <p class="soft">{known.total === 0 ? "No resource is known yet." : "No resource matches."}</p>;
  return <Rows target={target} count={known?.matching ?? 0} rows={rows} seen={seen} key={query.value} />;
}

function queryOf(filters: URLSearchParams): string {
  const query = new URLSearchParams();
  for (const name of filterNames) for (const value of filters.getAll(name)) query.append(name, value);
  return query.toString();
}

/** Reads the parts that are seen, and reads them again when something has changed. */
function useParts(
  target: string,
  query: Signal<string>,
  seen: Signal<{ readonly first: number; readonly last: number }>,
  parts: Signal<Parts>,
): void {
  const reading = useRef<{ key: string; from: string }>({ key: "", from: "" });
  useSignalEffect(() => {
    const version = resourcesVersion.value;
    const key = `${query.value} ${version}`;
    const from = Math.floor(Math.max(0, seen.value.first - AROUND) / PART) * PART;
    const to = Math.floor((seen.value.last + AROUND) / PART) * PART;
    const wanted = `${key} ${from} ${to}`;
    if (reading.current.from === wanted) return;
    const isNew = reading.current.key !== key;
    reading.current = { key, from: wanted };
    const ended = new AbortController();
    const read = async (): Promise<void> => {
      const found = new Map(isNew ? [] : parts.peek().rows);
      let facts: ResourcesReply | null = null;
      for (let offset = from; offset <= to; offset += PART) {
        if (!isNew && found.has(offset) && found.has(Math.min(offset + PART, parts.peek().facts?.matching ?? 0) - 1))
          continue;
        const asked = new URLSearchParams(query.value);
        asked.set("offset", String(offset));
        asked.set("limit", String(PART));
        const reply = await readResources(target, asked, ended.signal);
        reply.resources.forEach((row, at) => void found.set(offset + at, row));
        facts = reply;
        if (offset + PART >= reply.matching) break;
      }
      // What is far from what can be seen is read again when it is.
      for (const at of found.keys()) if (at < from - 5 * PART || at > to + 6 * PART) found.delete(at);
      forgetOutcomesBefore(version);
      parts.value = { facts: facts ?? parts.peek().facts, rows: found };
    };
    // A scroll passes many rows that nobody reads.
    const cancel = after(isNew ? 0 : 40, () => void read().catch(() => undefined));
    return () => {
      cancel();
      ended.abort();
      if (reading.current.from === wanted) reading.current = { ...reading.current, from: "" };
    };
  });
}

function Filters({ facts, isGraph }: { readonly facts: ResourceFacts | null; readonly isGraph: boolean }) {
  const { filters } = address.value;
  const choose = (name: string) => (event: { readonly currentTarget: HTMLSelectElement }) =>
    go(withFilters({ [name]: event.currentTarget.value }));
  const isFiltered = filterNames.some((name) => filters.has(name));
  return (
    <div class="tools">
      <nav class="views" aria-label="Resources as">
        <a href={withFilters({ view: "", around: "", depth: "" })} aria-current={isGraph ? undefined : "true"}>
          Table
        </a>
        <a href={withFilters({ view: "graph" })} aria-current={isGraph ? "true" : undefined}>
          Graph
        </a>
      </nav>
      <label>
        <span class="unseen">Search in names and reasons</span>
        <input
          type="search"
          placeholder="Search"
          value={filters.get("search") ?? ""}
          maxLength={200}
          onInput={(event) => go(withFilters({ search: event.currentTarget.value }), { isSame: true })}
        />
      </label>
      <Choice
        label="State"
        all="All states"
        value={filters.get("state")}
        counts={facts?.states}
        onChange={choose("state")}
      />
      <Choice
        label="Kind"
        all="All kinds"
        value={filters.get("kind")}
        counts={facts?.kinds}
        onChange={choose("kind")}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={filters.get("attention") === "true"}
          onChange={(event) => go(withFilters({ attention: event.currentTarget.checked ? "true" : "" }))}
        />
        Needs attention
      </label>
      {!isGraph && (
        <label>
          <span class="unseen">Order</span>
          <select value={filters.get("sort") ?? "attention"} onChange={choose("sort")}>
            <option value="attention">Needs attention first</option>
            <option value="identity">By name</option>
            <option value="kind">By kind</option>
            <option value="state">By state</option>
            <option value="-since">Newest trouble first</option>
            <option value="since">Oldest trouble first</option>
          </select>
        </label>
      )}
      <span class="soft" role="status">
        {facts !== null && facts.matching < facts.total && `${facts.matching.toLocaleString("en")} match`}
      </span>
      {isFiltered && <a href={withFilters(NO_FILTERS)}>Show all</a>}
    </div>
  );
}

function Choice(props: {
  readonly label: string;
  readonly all: string;
  readonly value: string | null;
  readonly counts: { readonly [name: string]: number } | undefined;
  readonly onChange: (event: { readonly currentTarget: HTMLSelectElement }) => void;
}) {
  const { label, all, value, counts = {}, onChange } = props;
  const names = [...new Set([...Object.keys(counts), ...(value === null ? [] : [value])])].filter((one) => one !== "");
  return (
    <label>
      <span class="unseen">{label}</span>
      <select value={value ?? ""} onChange={onChange}>
        <option value="">{all}</option>
        {names.toSorted().map((name) => (
          <option key={name} value={name}>
            {visible(name)} ({(counts[name] ?? 0).toLocaleString("en")})
          </option>
        ))}
      </select>
    </label>
  );
}

function Rows(props: {
  readonly target: string;
  readonly count: number;
  readonly rows: ReadonlyMap<number, ResourceEntry>;
  readonly seen: Signal<{ readonly first: number; readonly last: number }>;
}) {
  const { target, count, rows, seen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const height = useSignal(44);
  const measure = (): void => {
    const box = scroller.current;
    if (box === null) return;
    // The style sheet says how high a row is, by the width of the page.
    const row = Number.parseFloat(getComputedStyle(box).getPropertyValue("--row"));
    if (row > 0) height.value = row;
    const first = Math.floor(box.scrollTop / height.value);
    const last = Math.ceil((box.scrollTop + box.clientHeight) / height.value);
    if (first !== seen.peek().first || last !== seen.peek().last) seen.value = { first, last };
  };
  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.min(seen.value.first, count - 1) - AROUND);
  const last = Math.min(count, seen.value.last + AROUND);
  const visible = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too
    <div class="rows" ref={scroller} onScroll={measure} tabIndex={0} role="region" aria-label="Table of resources">
      <div
        role="table"
        aria-label="Resources"
        aria-rowcount={count + 1}
        class="grid"
        style={{ minHeight: `calc(${count * height.value}px + var(--head))` }}
      >
        <div role="rowgroup" class="head">
          <div role="row" class="row" aria-rowindex={1}>
            {["Resource", "State", "Why", "Since"].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="shift" style={{ transform: `translateY(${first * height.value}px)` }}>
          {visible.map((at) => (
            <Row key={at} target={target} at={at} row={rows.get(at)} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row(props: { readonly target: string; readonly at: number; readonly row: ResourceEntry | undefined }) {
  const { target, at, row } = props;
  if (row === undefined) {
    return (
      <div role="row" aria-rowindex={at + 2} class="row">
        <span role="cell" class="soft">
          …
        </span>
      </div>
    );
  }
  const live = outcomes.value.get(row.identity);
  const { identity, hasDrifted, since } = row;
  const state = live?.state ?? row.state;
  const rollout = live === undefined ? row.rollout : live.rollout;
  const why = live === undefined || live.state === null ? row.why : live.why;
  return (
    <div role="row" aria-rowindex={at + 2} class={row.needsAttention ? "row attention" : "row"}>
      <span role="cell" class="name">
        <a href={pathOfResource(target, identity)}>{visible(identity)}</a>
      </span>
      <span role="cell" class="state">
        <Badge word={state} />
        {rollout !== null && (
          <>
            {" "}
            <Badge word={rollout} text={`rollout ${rollout}`} />
          </>
        )}
        {hasDrifted && (
          <>
            {" "}
            <Badge word="drifted" />
          </>
        )}
      </span>
      <span role="cell" class="why">
        {why === null ? "" : visible(why)}
      </span>
      <span role="cell" class="since soft">
        {since !== null && <Age at={since} />}
      </span>
    </div>
  );
}
