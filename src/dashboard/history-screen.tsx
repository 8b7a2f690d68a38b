import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type {
  CommitSummary,
  CommitsReply,
  DriftDaysReply,
  DriftOfDay,
  DriftSpan,
  DriftsReply,
  EventsReply,
  PassesReply,
  PassRecord,
  ResourceEvent,
  WrittenChanges,
} from "../contract/generated/output.ts";
import { address, pathOf, pathOfResource, withFilters } from "./address.ts";
import { now } from "./browser-clock.ts";
import { readListOf, resourcesVersion } from "./daemon.ts";
import { Age, Badge, ColumnNames, Commit, countsText, FieldValue, spanText, valueText, visible } from "./parts.tsx";

type Of = { readonly target: string };

/** What became of a target: when live had drifted, and each pass with the resources that it changed. */
export function HistoryScreen({ target }: Of) {
  return (
    <>
      <p class="path">
        <a href="/">Targets</a> / <a href={pathOf(target)}>{visible(target)}</a>
      </p>
      <h1 key="name" tabIndex={-1}>
        History of {visible(target)}
      </h1>
      <DriftDays target={target} />
      <Drifts target={target} />
      <PassList target={target} />
    </>
  );
}

/** A list that grows at its end when older entries are asked for. */
type Listed<Entry> = { readonly entries: readonly Entry[]; readonly next: string | null; readonly isRead: boolean };

type ListPart<Entry> = { readonly entries: readonly Entry[]; readonly next: string | null };

const PART = 50;

/** Reads the newest entries, again after each pass, and older ones on request. */
function useListed<Reply extends { readonly next: string | null }, Entry>(
  target: string,
  list: string,
  entriesOf: (reply: Reply) => readonly Entry[],
): readonly [Signal<Listed<Entry>>, (after: string) => void] {
  const listed = useSignal<Listed<Entry>>({ entries: [], next: null, isRead: false });
  const read = async (cursor: { readonly after?: string }, signal: AbortSignal): Promise<ListPart<Entry>> => {
    const query = new URLSearchParams({ limit: String(PART), ...cursor });
    const reply = await readListOf<Reply>(target, `${list}${list.includes("?") ? "&" : "?"}${query}`, signal);
    return { entries: entriesOf(reply), next: reply.next };
  };
  useSignalEffect(() => {
    resourcesVersion.value;
    const ended = new AbortController();
    read({}, ended.signal).then(
      (part) => {
        listed.value = { ...part, isRead: true };
      },
      () => undefined,
    );
    return () => ended.abort();
  });
  const more = async (after: string): Promise<void> => {
    const before = listed.value;
    const part = await read({ after }, new AbortController().signal);
    // The list may have been read again meanwhile.
    if (listed.value !== before) return;
    listed.value = { ...part, entries: [...before.entries, ...part.entries], isRead: true };
  };
  return [listed, (after) => void more(after).catch(() => undefined)];
}

function Older(props: { readonly next: string | null; readonly what: string; readonly more: (after: string) => void }) {
  const { next, what, more } = props;
  if (next === null) return null;
  return (
    <button type="button" onClick={() => more(next)}>
      Older {what}
    </button>
  );
}

/** As long as events are kept. */
const DAYS = 90;
const DAY_MS = 86_400_000;

/** The days of the last three months, each as high as it had drift. */
function DriftDays({ target }: Of) {
  const days = useSignal<readonly DriftOfDay[] | null>(null);
  useSignalEffect(() => {
    resourcesVersion.value;
    const ended = new AbortController();
    readListOf<DriftDaysReply>(target, `drift-days?limit=${DAYS}`, ended.signal).then(
      (reply) => {
        days.value = reply.days;
      },
      () => undefined,
    );
    return () => ended.abort();
  });
  const known = days.value;
  if (known === null) return <p class="soft">Reading…</p>;
  const most = Math.max(1, ...known.map(({ events }) => events));
  const byDay = new Map(known.map((one) => [one.day, one.events]));
  const shown = Array.from({ length: DAYS }, (_, at) =>
    new Date(now.value - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
  return (
    <section aria-labelledby="drift-days">
      <h2 id="drift-days">
        Drift by day <span class="soft">of the last {DAYS} days, in UTC</span>
      </h2>
      {known.length === 0 && <p class="soft">Live has not drifted.</p>}
      {known.length > 0 && (
        <>
          <div class="days" aria-hidden="true">
            {shown.map((day) => {
              const events = byDay.get(day) ?? 0;
              return (
                <span
                  key={day}
                  class={events === 0 ? "" : "has"}
                  title={`${day}: ${events}`}
                  style={{ height: `${(100 * events) / most}%` }}
                />
              );
            })}
          </div>
          <details>
            <summary>{countText(known.length, "day")} with drift</summary>
            <ul class="lines">
              {known.map(({ day, events, resources }) => (
                <li key={day}>
                  {day}: {countText(events, "drift")} of {countText(resources, "resource")}
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </section>
  );
}

function countText(number: number, what: string): string {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

/** What had drifted: whose change it was, and how long it lasted. */
function Drifts({ target }: Of) {
  const [{ value: listed }, more] = useListed<DriftsReply, DriftSpan>(target, "drifts", ({ drifts }) => drifts);
  if (listed.entries.length === 0) return null;
  return (
    <section aria-labelledby="drifts">
      <h2 id="drifts">What had drifted</h2>
      <ul class="lines">
        {listed.entries.map(({ event, endedAt }) => (
          <li key={`${event.at} ${event.identity}`}>
            <Age at={event.at} /> <ResourceLink target={target} identity={event.identity} />{" "}
            <Badge word={event.state} /> {writerText(event)} <span class="soft">{lastingText(event, endedAt)}</span>
          </li>
        ))}
      </ul>
      <Older next={listed.next} what="drift" more={more} />
    </section>
  );
}

function writerText({ changedBy }: ResourceEvent): string {
  return `by ${visible(changedBy?.subject ?? "an unknown subject")}`;
}

// Who wrote it, and when, is known of the last write alone.
function lastingText({ at, changedBy }: ResourceEvent, endedAt: string | null): string {
  const since = Date.parse(changedBy?.at ?? at);
  const span = spanText((endedAt === null ? now.value : Date.parse(endedAt)) - since) ?? "a moment";
  return endedAt === null ? `for ${span} until now` : `for ${span}`;
}

function ResourceLink({ target, identity }: Of & { readonly identity: string }) {
  return (
    <a class="name" href={pathOfResource(target, identity)}>
      {visible(identity)}
    </a>
  );
}

function PassList({ target }: Of) {
  const [listed, more] = useListed<PassesReply, PassRecord>(target, "passes", ({ passes }) => passes);
  const commits = useCommits(target, listed);
  const { entries, next, isRead } = listed.value;
  const opened = address.value.filters.get("pass");
  return (
    <section aria-labelledby="passes">
      <h2 id="passes">Passes that changed something</h2>
      {isRead && entries.length === 0 && <p class="soft">No pass is stored.</p>}
      {entries.length > 0 && (
        <table class="cards">
          <ColumnNames of={["Ended", "Commit", "Result", "Took", "What"]} />
          <tbody>
            {entries.map((pass) => (
              <PassRow
                key={`${pass.endedAt} ${pass.commit} ${pass.result}`}
                target={target}
                pass={pass}
                commit={commits.value.get(pass.commit ?? "") ?? null}
                isOpen={opened === pass.endedAt && pass.result !== "superseded"}
              />
            ))}
          </tbody>
        </table>
      )}
      <Older next={next} what="passes" more={more} />
    </section>
  );
}

function PassRow(props: {
  readonly target: string;
  readonly pass: PassRecord;
  readonly commit: CommitSummary | null;
  readonly isOpen: boolean;
}) {
  const { target, pass, commit, isOpen } = props;
  const { startedAt, endedAt, result, reason, message, counts, machine } = pass;
  // What a person asked for is none, and has no commit.
  const isPass = result !== "superseded" && result !== "action";
  const why = [reason, message].filter((text) => text !== null).join(": ");
  return (
    <tr>
      <td data-label="Ended">
        <Age at={endedAt} />
      </td>
      <td data-label="Commit">
        <Commit id={pass.commit} none={result === "action" ? "–" : "uncommitted"} />
        {commit !== null && (
          <p>
            {visible(commit.subject)} <span class="soft">{visible(commit.author)}</span>
          </p>
        )}
      </td>
      <td data-label="Result">
        <Badge word={result} />
      </td>
      <td data-label="Took">{isPass ? tookText(startedAt, endedAt) : "–"}</td>
      <td data-label="What">
        {visible([why, countsText(counts)].filter((text) => text !== "").join("; "))}
        {machine !== undefined && <span class="soft"> on {visible(machine)}</span>}
        {isPass && (
          <p>
            <a href={withFilters({ pass: isOpen ? "" : endedAt })} aria-expanded={isOpen}>
              Resources that it changed
            </a>
          </p>
        )}
        {isOpen && <ChangedResources target={target} at={endedAt} />}
      </td>
    </tr>
  );
}

function tookText(startedAt: string, endedAt: string): string {
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : (spanText(ms) ?? "");
}

/** The resources of which a pass has stored an event. */
function ChangedResources({ target, at }: Of & { readonly at: string }) {
  const [{ value: listed }, more] = useListed<EventsReply, ResourceEvent>(
    target,
    `events?at=${encodeURIComponent(at)}&changes=true`,
    ({ events }) => events,
  );
  if (!listed.isRead) return <p class="soft">Reading…</p>;
  return (
    <>
      {listed.entries.length === 0 && <p class="soft">None is stored.</p>}
      <ul class="lines">
        {listed.entries.map(({ identity, state, rollout, why, changed }) => (
          <li key={identity}>
            <ResourceLink target={target} identity={identity} /> <Badge word={state} />{" "}
            {rollout !== null && <Badge word={rollout} text={`rollout ${rollout}`} />}
            {why !== null && ` ${visible(why)}`}
            {changed !== undefined && <WrittenFields changed={changed} />}
          </li>
        ))}
      </ul>
      <Older next={listed.next} what="entries" more={more} />
    </>
  );
}

/** So many fields of a resource are shown without being asked for. */
const OPEN_FIELDS = 10;

/** What a write changed: each field before and after it, and whose change that was. */
function WrittenFields({ changed: { fields, leftOut, cut } }: { readonly changed: WrittenChanges }) {
  const more = [
    ...(leftOut > 0 ? [`${countText(leftOut, "more field")} not kept`] : []),
    ...(cut > 0 ? [`the beginning of ${countText(cut, "long value")}`] : []),
  ];
  return (
    <details class="written" open={fields.length <= OPEN_FIELDS}>
      <summary>{[countText(fields.length, "field"), ...more].join(", ")}</summary>
      <ul class="lines">
        {fields.map(({ path, label, before, after, cause, diff }) => (
          <li key={path}>
            <b class="name">{visible(label)}</b> <Badge word={cause} /> <FieldValue value={before} /> →{" "}
            <FieldValue value={after} />
            {diff !== null && (
              <details>
                <summary>Lines that differ</summary>
                <pre>{valueText(diff)}</pre>
              </details>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Reads author and subject of the commits that are listed, each once. */
function useCommits(target: string, listed: Signal<Listed<PassRecord>>): Signal<ReadonlyMap<string, CommitSummary>> {
  const known = useSignal<ReadonlyMap<string, CommitSummary>>(new Map());
  useSignalEffect(() => {
    const ids = new Set(listed.value.entries.flatMap(({ commit }) => commit ?? []));
    const missing = [...ids].filter((id) => !known.peek().has(id)).slice(0, PART);
    if (missing.length === 0) return;
    const ended = new AbortController();
    const query = new URLSearchParams(missing.map((id) => ["id", id]));
    readListOf<CommitsReply>(target, `commits?${query}`, ended.signal).then(
      ({ commits }) => {
        known.value = new Map([...known.peek(), ...commits.map((one) => [one.commit, one] as const)]);
      },
      () => undefined,
    );
    return () => ended.abort();
  });
  return known;
}
