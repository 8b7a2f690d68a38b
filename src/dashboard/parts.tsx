import type { ComponentChildren } from "preact";
import type { Json } from "../contract/json.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import { now } from "./browser-clock.ts";

/** The colour of a word, beside which the word always stands. */
export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

const tones: { readonly [word: string]: Tone } = {
  Synced: "good",
  Ready: "good",
  Healthy: "good",
  applied: "good",
  reported: "good",
  created: "good",
  updated: "good",
  succeeded: "good",
  Reconciling: "busy",
  Progressing: "busy",
  progressing: "busy",
  OutOfSync: "warn",
  Unknown: "warn",
  Held: "warn",
  Waiting: "warn",
  kept: "warn",
  blocked: "warn",
  skipped: "warn",
  "to-create": "warn",
  "to-update": "warn",
  "to-ensure": "warn",
  orphan: "warn",
  drifted: "warn",
  drift: "warn",
  unrecorded: "warn",
  conflict: "bad",
  Stalled: "bad",
  Failed: "bad",
  Halted: "bad",
  incomplete: "bad",
  failed: "bad",
  refused: "bad",
  invalid: "bad",
  unknown: "bad",
  timeout: "bad",
};

/** The colour of a word. */
export function toneOf(word: string): Tone {
  return tones[word] ?? "quiet";
}

/** A word with its colour. */
export function Badge({ word, text = word }: { readonly word: string; readonly text?: string }) {
  return <span class={`badge ${toneOf(word)}`}>{visible(text)}</span>;
}

/** A text of others as it may be shown: characters that nobody sees, and those that reorder text, are written out. */
export const visible: (text: string) => string = escapeUnprintable;

/** How long ago something was, in its largest unit; null for a moment. */
function durationText(at: string): string | null {
  return spanText(now.value - Date.parse(at));
}

/** A span of time in its largest unit; null for a moment. */
export function spanText(milliseconds: number): string | null {
  const seconds = Math.round(milliseconds / 1000);
  if (Number.isNaN(seconds) || seconds < 10) return null;
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

function utcText(at: string): string {
  return /^\d{4}-/.test(at) ? `${visible(at.slice(0, 19)).replace("T", " ")} UTC` : visible(at);
}

/** How long ago something was; its time shows on request. */
export function Age({ at }: { readonly at: string }) {
  const duration = durationText(at);
  return (
    <time dateTime={at} title={utcText(at)}>
      {Number.isNaN(Date.parse(at)) ? visible(at) : duration === null ? "just now" : `${duration} ago`}
    </time>
  );
}

/** How long something has lasted until now. */
export function Lasting({ since }: { readonly since: string }) {
  return (
    <time dateTime={since} title={utcText(since)}>
      {durationText(since) ?? "a moment"}
    </time>
  );
}

/** A time that may come. */
export function Time({ at }: { readonly at: string }) {
  return <time dateTime={at}>{utcText(at)}</time>;
}

/** The beginning of a commit's id. */
export function Commit({ id, none = "no commit" }: { readonly id: string | null; readonly none?: string }) {
  if (id === null) return <span class="soft">{none}</span>;
  return <code title={visible(id)}>{visible(id.slice(0, 12))}</code>;
}

/** Numbers with their names, those that are zero left out. */
export function countsText(counts: { readonly [name: string]: number }): string {
  const named = Object.entries(counts).filter(([, number]) => number > 0);
  return named.map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ");
}

/** What somebody should see first. */
export function Callout(props: { readonly tone: Tone; readonly title: string; readonly children?: ComponentChildren }) {
  const { tone, title, children } = props;
  return (
    <div class={`callout ${tone}`}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The head of a table. */
export function ColumnNames({ of }: { readonly of: readonly string[] }) {
  return (
    <thead>
      <tr>
        {of.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const MOST_LINES = 20;

/** A list that begins with its first entries, and has the others behind a button of the browser's own. */
export function Lines<Entry>({
  of,
  line,
}: {
  readonly of: readonly Entry[];
  readonly line: (entry: Entry) => ComponentChildren;
}) {
  const [first, rest] = [of.slice(0, MOST_LINES), of.slice(MOST_LINES)];
  const item = (entry: Entry, at: number) => <li key={at}>{line(entry)}</li>;
  return (
    <>
      <ul class="lines">{first.map(item)}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length.toLocaleString("en")} more</summary>
          <ul class="lines">{rest.map(item)}</ul>
        </details>
      )}
    </>
  );
}

const SHORT = 200;

/** A value as JSON has it; a long one is behind its beginning. */
export function FieldValue({ value }: { readonly value: Json }) {
  if (value === null) return <span class="soft">not set</span>;
  const text = valueText(value);
  if (text.length <= SHORT) return <code class="value">{text}</code>;
  return (
    <details>
      <summary>
        <code>{text.slice(0, SHORT).replace(/[\ud800-\udbff]$/, "")}…</code>
      </summary>
      <pre>{text}</pre>
    </details>
  );
}

/** The text of a value: line feeds stay, and what nobody sees is written out. */
export function valueText(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.split("\n").map(visible).join("\n");
}
