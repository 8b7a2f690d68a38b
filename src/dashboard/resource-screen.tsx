import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type {
  Change,
  EventsReply,
  NextCommand,
  ResourceEvent,
  ResourceStateReply,
  ResourceVersion,
  WhyGate,
  WhyReply,
  WhyReport,
} from "../contract/generated/output.ts";
import type { Json } from "../contract/json.ts";
import { Actions } from "./actions.tsx";
import { address, pathOf, pathOfGraph, withFilters } from "./address.ts";
import { copyText } from "./copy-text.ts";
import { outcomes, readListOf, refusalText, resourcesVersion } from "./daemon.ts";
import { Age, Badge, Callout, ColumnNames, Commit, FieldValue, valueText, visible } from "./parts.tsx";

type Named = { readonly target: string; readonly identity: string };

/** One resource: what is desired, recorded and live of it, where that comes from, and what became of it. */
export function ResourceScreen({ target, identity }: Named) {
  const known = useSignal<ResourceStateReply | null>(null);
  const events = useSignal<Events>({ shown: [], next: null });
  const asked = useSignal(0);
  useKnown({ target, identity }, { known, events, asked });
  const row = known.value?.resource ?? null;
  const told = outcomes.value.get(identity);
  const rollout = told === undefined ? (row?.rollout ?? null) : told.rollout;
  const why = told?.state == null ? row?.why : told.why;
  const hold = known.value?.hold ?? null;
  return (
    <>
      <p class="path">
        <a href="/">Targets</a> / <a href={pathOf(target)}>{visible(target)}</a>
      </p>
      <h1 key="name" tabIndex={-1}>
        <span class="name">{visible(identity)}</span> {row !== null && <Badge word={told?.state ?? row.state} />}
        {rollout !== null && <Badge word={rollout} text={`rollout ${rollout}`} />}
        {row?.hasDrifted === true && <Badge word="drifted" />}
      </h1>
      <p>
        <a href={pathOfGraph(target, identity)}>Graph of what it refers to, and what refers to it</a>
      </p>
      <Actions
        of={{
          ...{ target, identity, holds: hold === null ? [] : [hold] },
          unknown: row?.state === "unknown" ? [identity] : [],
        }}
      />
      {why != null && (
        <Callout tone="warn" title="It is not as declared">
          <p>
            {visible(why)}
            {row?.since != null && (
              <span class="soft">
                {" "}
                (<Age at={row.since} />)
              </span>
            )}
          </p>
        </Callout>
      )}
      {hold !== null && (
        <Callout tone="warn" title="Held by a person">
          <p>
            {visible(hold.reason)}
            {hold.by !== undefined && ` (${visible(hold.by)})`}, until{" "}
            {hold.until === "commit" ? "the next commit that changes it" : visible(hold.until)}
          </p>
        </Callout>
      )}
      <Values target={target} identity={identity} asked={asked} />
      <Commands commands={known.value?.commands ?? []} />
      <EventList target={target} identity={identity} events={events} />
    </>
  );
}

type Events = { readonly shown: readonly ResourceEvent[]; readonly next: string | null };

const LATEST = 20;

/** Reads what the state knows, again with each pass; the values are asked for again when something became of the resource. */
function useKnown(
  { target, identity }: Named,
  into: {
    readonly known: Signal<ResourceStateReply | null>;
    readonly events: Signal<Events>;
    readonly asked: Signal<number>;
  },
): void {
  const newest = useRef<string | null>(null);
  useSignalEffect(() => {
    resourcesVersion.value;
    const ended = new AbortController();
    const read = async (): Promise<void> => {
      const query = new URLSearchParams({ identity });
      const known = await readListOf<ResourceStateReply>(target, `resource?${query}`, ended.signal);
      query.set("limit", String(LATEST));
      const { events, next } = await readListOf<EventsReply>(target, `events?${query}`, ended.signal);
      const others = new Map(outcomes.peek());
      if (others.delete(identity)) outcomes.value = others;
      into.known.value = known;
      into.events.value = { shown: events, next };
      const [last] = events;
      const key = last === undefined ? "" : `${last.at} ${last.state} ${last.rollout}`;
      if (newest.current !== null && newest.current !== key) into.asked.value += 1;
      newest.current = key;
    };
    void read().catch(() => undefined);
    return () => ended.abort();
  });
}

type Reading = { readonly reply: WhyReply | null; readonly refusal: string | null };

/** Reads where values come from; what was read before stays until then. */
function useWhy({ target, identity }: Named, pointer: string, asked: Signal<number>): Signal<Reading> {
  const reading = useSignal<Reading>({ reply: null, refusal: null });
  useSignalEffect(() => {
    asked.value;
    const ended = new AbortController();
    const query = new URLSearchParams({ identity, ...(pointer !== "" && { pointer }) });
    readListOf<WhyReply>(target, `why?${query}`, ended.signal).then(
      (reply) => {
        reading.value = { reply, refusal: null };
      },
      (error: unknown) => {
        if (!ended.signal.aborted) reading.value = { reply: null, refusal: refusalText(error) };
      },
    );
    return () => ended.abort();
  });
  return reading;
}

function Values({ target, identity, asked }: Named & { readonly asked: Signal<number> }) {
  const { reply, refusal } = useWhy({ target, identity }, "", asked).value;
  const field = address.value.filters.get("field");
  const readAgain = (
    <button
      type="button"
      onClick={() => {
        asked.value += 1;
      }}
    >
      Read again
    </button>
  );
  return (
    <section aria-labelledby="values">
      <h2 id="values">
        Desired, recorded and live{" "}
        {reply !== null && (
          <span class="soft">
            live was read <Age at={reply.at} />,{" "}
            {reply.manifests === "now" ? "and the manifests too" : "the manifests by the last pass"}
          </span>
        )}
      </h2>
      {reply === null && refusal === null && <p class="soft">Reading the control plane…</p>}
      {refusal !== null && (
        <Callout tone="warn" title="It cannot be explained now">
          <p>{visible(refusal)}</p>
        </Callout>
      )}
      {reply !== null && (
        <>
          <Origins report={reply.report} />
          <Differences report={reply.report} />
          <Gates gates={reply.report.gates ?? []} />
        </>
      )}
      {field !== null && reply !== null && (
        <Field key={field} target={target} identity={identity} pointer={field} asked={asked} />
      )}
      {reply !== null && <Whole report={reply.report} />}
      {(reply !== null || refusal !== null) && <p>{readAgain}</p>}
      {reply !== null && <Versions versions={reply.versions} />}
    </section>
  );
}

/** Who declared it, who wrote it, and who changed it since. */
function Origins({
  report: { wanted, written, live, pointer },
  level: Level = "h3",
}: {
  readonly report: WhyReport;
  readonly level?: "h3" | "h4";
}) {
  const isField = pointer !== "";
  return (
    <div class="side">
      <div>
        <Level>Desired</Level>
        {isField && <FieldValue value={wanted.value} />}
        <p>
          <code>
            {visible(wanted.file)}:{wanted.line}
          </code>
        </p>
        <p>
          {wanted.commit === null ? (
            <span class="soft">not committed, or git cannot tell</span>
          ) : (
            <>
              <Commit id={wanted.commit} /> of {visible(wanted.author ?? "")}
              {wanted.at !== null && (
                <>
                  , <Age at={wanted.at} />
                </>
              )}
              {wanted.isOldest && <span class="soft">, or an earlier commit that was not fetched</span>}
            </>
          )}
        </p>
      </div>
      <div>
        <Level>Recorded</Level>
        {written === null ? (
          <p class="soft">nothing is recorded</p>
        ) : (
          <>
            {isField && <FieldValue value={written.value} />}
            <p>
              written{written.version !== null && ` as version ${written.version}`}, or last seen equal,{" "}
              <Age at={written.at} />
            </p>
            <p>
              {written.commit !== null && (
                <>
                  for <Commit id={written.commit} />
                </>
              )}
              {written.isUncommitted && <span class="soft">uncommitted</span>}
            </p>
          </>
        )}
      </div>
      <div>
        <Level>Live {live?.cause != null && <Badge word={live.cause} />}</Level>
        {live === null ? (
          <p class="soft">absent, or it cannot be read</p>
        ) : (
          <>
            {isField && <FieldValue value={live.value} />}
            <p>
              {live.version === null ? "written" : `newest version ${live.version}`} by{" "}
              {visible(live.subject ?? "an unknown subject")}
              {live.at !== null && (
                <>
                  , <Age at={live.at} />
                </>
              )}
            </p>
            {live.isSince && <p>changed since it was recorded</p>}
          </>
        )}
      </div>
    </div>
  );
}

function Differences({ report: { changes = [], changedSince = [] } }: { readonly report: WhyReport }) {
  if (changes.length + changedSince.length === 0) return <p>No field differs.</p>;
  return (
    <table class="cards">
      <ColumnNames of={["Field", "Desired", "Recorded", "Live", "Cause"]} />
      <tbody>
        {changes.map((change) => (
          <FieldRow
            key={change.label}
            change={change}
            desired={change.after}
            recorded={change.recorded}
            live={change.before}
          />
        ))}
        {changedSince.map((change) => (
          <FieldRow
            key={`since ${change.label}`}
            change={change}
            desired={change.after}
            recorded={change.before}
            live={change.after}
          />
        ))}
      </tbody>
    </table>
  );
}

/** What gates said last of exactly this content. */
function Gates({ gates }: { readonly gates: readonly WhyGate[] }) {
  if (gates.length === 0) return null;
  return (
    <>
      <h3>Gates</h3>
      <ul class="lines">
        {gates.map(({ name, verdict, score, summary, at }) => (
          <li key={name}>
            {visible(name)} <Badge word={verdict ?? "not asked"} />
            {score !== null && ` (${score})`}
            {summary !== null && ` ${visible(summary)}`}
            {at !== null && (
              <>
                , <Age at={at} />
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function FieldRow(props: {
  readonly change: Change;
  readonly desired: Json;
  readonly recorded: Json | undefined;
  readonly live: Json;
}) {
  const { change, desired, recorded, live } = props;
  const { path, label, cause, changedBy, diff, file, line } = change;
  return (
    <tr>
      <th scope="row">
        <a class="name" href={withFilters({ field: path })}>
          {visible(label)}
        </a>
        {file !== undefined && (
          <p class="soft">
            {visible(file)}:{line}
          </p>
        )}
      </th>
      <td data-label="Desired">
        <FieldValue value={desired} />
        {diff !== null && (
          <details>
            <summary>Difference, from live</summary>
            <pre>{diff.split("\n").map(visible).join("\n")}</pre>
          </details>
        )}
      </td>
      <td data-label="Recorded">
        {recorded === undefined ? <span class="soft">not known</span> : <FieldValue value={recorded} />}
      </td>
      <td data-label="Live">
        <FieldValue value={live} />
      </td>
      <td data-label="Cause">
        <Badge word={cause} />
        {changedBy !== undefined && (
          <p class="soft">
            by {visible(changedBy.subject ?? "an unknown subject")}
            {changedBy.at !== null && (
              <>
                , <Age at={changedBy.at} />
              </>
            )}
          </p>
        )}
      </td>
    </tr>
  );
}

/** Where one field comes from. */
function Field(props: Named & { readonly pointer: string; readonly asked: Signal<number> }) {
  const { target, identity, pointer, asked } = props;
  const { reply, refusal } = useWhy({ target, identity }, pointer, asked).value;
  return (
    <section aria-labelledby="field">
      <h3 id="field">
        <code>{visible(pointer)}</code>
      </h3>
      {reply === null && <p class="soft">{refusal === null ? "Reading…" : visible(refusal)}</p>}
      {reply !== null && <Origins report={reply.report} level="h4" />}
      <a href={withFilters({ field: "" })}>Close</a>
    </section>
  );
}

/** The three contents side by side. */
function Whole({ report: { wanted, written, live } }: { readonly report: WhyReport }) {
  const sides = [
    ["Desired", wanted.value],
    ["Recorded", written?.value ?? null],
    ["Live", live?.value ?? null],
  ] as const;
  return (
    <details>
      <summary>Everything that is desired, recorded and live</summary>
      <div class="side">
        {sides.map(([name, value]) => (
          <div key={name}>
            <h3>{name}</h3>
            {value === null ? <p class="soft">nothing</p> : <pre>{valueText(value)}</pre>}
          </div>
        ))}
      </div>
    </details>
  );
}

function Versions({ versions }: { readonly versions: readonly ResourceVersion[] | null }) {
  if (versions === null) return <p class="soft">Its versions cannot be read.</p>;
  if (versions.length === 0) return null;
  return (
    <>
      <h3>Newest versions</h3>
      <ul class="lines">
        {versions.map(({ version, subject, at }) => (
          <li key={version}>
            version {version} by {visible(subject ?? "an unknown subject")}
            {at !== null && (
              <>
                , <Age at={at} />
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Commands({ commands }: { readonly commands: readonly NextCommand[] }) {
  const copied = useSignal("");
  if (commands.length === 0) return null;
  const copy = async (command: string, shown: Element | null): Promise<void> => {
    if (await copyText(command, shown)) copied.value = command;
  };
  return (
    <section aria-labelledby="commands">
      <h2 id="commands">Next step</h2>
      <ul class="commands">
        {commands.map(({ does, command }) => (
          <li key={command}>
            <span class="soft">{does}</span>
            <code>{visible(command)}</code>
            <button
              type="button"
              aria-label={`Copy ${visible(command)}`}
              onClick={({ currentTarget }) =>
                void copy(command, currentTarget.previousElementSibling).catch(() => undefined)
              }
            >
              {copied.value === command ? "Copied" : "Copy"}
            </button>
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {copied.value === "" ? "" : "The command was copied"}
      </p>
    </section>
  );
}

/** What became of it, newest first. */
function EventList({ target, identity, events }: Named & { readonly events: Signal<Events> }) {
  const { shown, next } = events.value;
  const more = async (after: string): Promise<void> => {
    const query = new URLSearchParams({ identity, limit: "100", after });
    const older = await readListOf<EventsReply>(target, `events?${query}`, new AbortController().signal);
    events.value = { shown: [...events.value.shown, ...older.events], next: older.next };
  };
  return (
    <section aria-labelledby="events">
      <h2 id="events">What became of it</h2>
      {shown.length === 0 && <p class="soft">No event of it is stored.</p>}
      <ul class="lines">
        {shown.map(({ at, commit, state, rollout, hasDrifted, why }) => (
          <li key={`${at} ${state} ${rollout}`}>
            <Age at={at} /> <Badge word={state} />{" "}
            {rollout !== null && <Badge word={rollout} text={`rollout ${rollout}`} />}{" "}
            {hasDrifted && <Badge word="drifted" />} <Commit id={commit} none="uncommitted" />
            {why !== null && ` ${visible(why)}`}
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" onClick={() => void more(next).catch(() => undefined)}>
          Older events
        </button>
      )}
    </section>
  );
}
