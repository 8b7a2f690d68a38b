import { createHash } from "node:crypto";
import type { PassRecord, ResourceStatus, TargetStatus } from "../../core/report/target-status.ts";
import { type Html, html } from "../../http/html.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { count, joinCounts } from "../../render/count-text.ts";
import { closedGateTexts, gateCountsText } from "../../render/gate-verdict.ts";
import { ageText } from "../../render/last-write.ts";
import { registryOnlyTexts } from "../../render/registry-only.ts";
import { invalidText } from "../../render/status.ts";
import { statusPageStyle } from "./status-style.ts";

/** A target as the status page shows it. */
export type TargetView = TargetStatus & {
  /** The latest passes, oldest first. */
  readonly passes: readonly PassRecord[];
  /** The resources that need attention, then the others. */
  readonly resources: readonly ResourceStatus[];
  readonly troubled: number;
  /** How many more resources are not listed. */
  readonly leftOut: number;
};

/** A daemon as the status page shows it. */
type StatusView = {
  readonly targets: readonly TargetView[];
  /** Why the latest configuration is refused; null if it is in force. */
  readonly configurationRefused: string | null;
  /** Since when the state cannot be read; null while it can be. */
  readonly stateUnreadableSince: string | null;
};

const styleHash = createHash("sha256").update(statusPageStyle).digest("base64");

/** The headers of the page: they forbid scripts, content of other origins, and framing. */
export const statusPageHeaders: { readonly [name: string]: string } = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
};

/** The status of a daemon's targets as one page that needs no script. */
export function renderStatusPage({ targets, ...daemon }: StatusView, now: number): string {
  const { configurationRefused, stateUnreadableSince } = daemon;
  const { markup } = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${titleOf(targets)}</title>
<style>${{ markup: statusPageStyle }}</style>
</head>
<body>
<header><h1>Holdfast</h1><p>${summaryOf(targets)} · as of ${timeText(new Date(now).toISOString())}</p></header>
<main>
${configurationRefused === null ? [] : callout("The changed configuration is refused; the last valid one is in force", [configurationRefused], "bad")}
${stateUnreadableSince === null ? [] : callout("The state cannot be read", [unreadableText(stateUnreadableSince)], "bad")}
${targets.map((target) => targetSection(target, now))}
</main>
</body>
</html>
`;
  return `<!doctype html>
${markup}`;
}

function unreadableText(since: string): string {
  return `Its database has not answered since ${since}. What is shown of the targets is older.`;
}

function titleOf(targets: readonly TargetView[]): string {
  const bad = targets
    .filter(isActive)
    .filter(({ sync, condition }) => sync !== "Synced" || condition === "Stalled").length;
  return bad === 0 ? "Holdfast" : `(${bad}) Holdfast`;
}

function summaryOf(all: readonly TargetView[]): string {
  const targets = all.filter(isActive);
  const retired = all.length - targets.length;
  const counts = (["Synced", "OutOfSync", "Unknown"] as const).map(
    (name) => [targets.filter(({ sync }) => sync === name).length, name] as const,
  );
  const others = retired === 0 ? "" : `; ${retired} retired`;
  return `${count(targets.length, "target")}: ${joinCounts(counts) || "none"}${others}`;
}

function isActive({ condition }: TargetView): boolean {
  return condition !== "Retired";
}

// Invisible characters and direction overrides could make one name look like another.
const shown = escapeUnprintable;

type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

const tones: { readonly [word: string]: Tone } = {
  Synced: "good",
  Ready: "good",
  applied: "good",
  reported: "good",
  created: "good",
  updated: "good",
  succeeded: "good",
  Reconciling: "busy",
  progressing: "busy",
  OutOfSync: "warn",
  Unknown: "warn",
  incomplete: "bad",
  kept: "warn",
  Retired: "quiet",
  blocked: "warn",
  skipped: "warn",
  "to-create": "warn",
  "to-update": "warn",
  "to-ensure": "warn",
  drifted: "warn",
  Held: "warn",
  Stalled: "bad",
  invalid: "bad",
  failed: "bad",
  refused: "bad",
  unknown: "bad",
  timeout: "bad",
};

const reasonTones: { readonly [condition: string]: Tone } = { Stalled: "bad", Retired: "quiet" };

function badge(word: string, text = word): Html {
  return html`<span class="badge ${tones[word] ?? "quiet"}">${text}</span>`;
}

function targetSection(target: TargetView, now: number): Html {
  const { sync, condition, reason, message, invalid, held, unknown, gates, registryOnly = [] } = target;
  const closed = gates === undefined ? [] : closedGateTexts(gates);
  return html`<section>
<h2>${shown(target.target)} ${badge(sync)} ${badge(condition)}</h2>
${reason === null ? [] : callout(reason, message === null ? [] : [message], reasonTones[condition] ?? "warn")}
${invalid.length === 0 ? [] : callout("Invalid manifests", invalid.map(invalidText), "bad")}
${closed.length === 0 ? [] : callout("Gates that have not passed", closed, "warn")}
${factList(target, now)}
${unknown.length === 0 ? [] : callout("The outcome of these writes is unknown", unknown, "bad")}
${held.length === 0 ? [] : callout("Held by a person", held, "warn")}
${registryOnly.length === 0 ? [] : callout("Held by the registry alone", registryOnlyTexts(registryOnly, MAX_LINES), "quiet")}
${resourceTables(target)}
${passTable(target.passes, now)}
</section>`;
}

function callout(title: string, lines: readonly string[], tone: Tone): Html {
  const first = lines.slice(0, MAX_LINES).map((line) => html`<li>${shown(line)}</li>`);
  const more = lines.length > MAX_LINES ? [html`<li>and ${lines.length - MAX_LINES} more</li>`] : [];
  return html`<div class="callout ${tone}"><strong>${shown(title)}</strong><ul>${first}${more}</ul></div>`;
}

const MAX_LINES = 20;

function factList({ source, lastPass, nextPassAt, oldestUnapplied, ...target }: TargetView, now: number): Html {
  const facts: readonly (readonly [string, string | Html])[] = [
    ["Source", shown(source ?? "the local folder")],
    ["Wanted", revision(target.wantedRevision, lastPass === null ? "no commit" : UNCOMMITTED)],
    ["Applied", revision(target.appliedRevision)],
    ["Oldest unapplied", oldestUnapplied === null ? "none" : unapplied(oldestUnapplied, now)],
    ["Last pass", lastPass === null ? "none yet" : timeAndAge(lastPass.endedAt, now)],
    ["Next pass", nextPassAt === null ? "–" : timeText(nextPassAt)],
    ...(target.gates === undefined ? [] : [["Gates", gateCountsText(target.gates)] as const]),
    ["Resources", joinCounts(Object.entries(target.counts).map(([name, number]) => [number, name])) || "–"],
  ];
  return html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Shown instead of a commit for content that equals none. */
const UNCOMMITTED = "uncommitted";

function revision(commit: string | null, none = "no commit"): string | Html {
  return commit === null ? none : html`<code title="${commit}">${commit.slice(0, 12)}</code>`;
}

function unapplied({ commit, since }: NonNullable<TargetStatus["oldestUnapplied"]>, now: number): Html {
  return html`${revision(commit)} ${ageText(since, now)}`;
}

function resourceTables({ resources, troubled, leftOut }: TargetView): readonly Html[] {
  const first = resources.slice(0, troubled);
  const others = resources.slice(troubled);
  const rest = others.length + leftOut;
  return [
    ...(first.length === 0 ? [] : [html`<h3>Needs attention (${troubled})</h3>${resourceTable(first)}`]),
    ...(rest === 0
      ? []
      : [html`<details><summary>As declared (${rest})</summary>${resourceTable(others)}${cut(leftOut)}</details>`]),
  ];
}

function cut(leftOut: number): readonly Html[] {
  return leftOut === 0 ? [] : [html`<p>${count(leftOut, "more resource")} not listed.</p>`];
}

function resourceTable(resources: readonly ResourceStatus[]): Html {
  const rows = resources.map(
    ({ identity, state, rollout, hasDrifted, why }) =>
      html`<tr><td class="name">${shown(identity)}</td><td>${badge(state)} ${rollout === null ? [] : badge(rollout, `rollout ${rollout}`)} ${hasDrifted ? badge("drifted", "moved in live") : []}</td><td>${shown(why ?? "")}</td></tr>`,
  );
  return html`<table class="resources"><thead><tr><th scope="col">Resource</th><th scope="col">State</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function passTable(passes: readonly PassRecord[], now: number): readonly Html[] {
  if (passes.length === 0) return [];
  const rows = passes.toReversed().map(({ endedAt, commit, result, reason, message, counts }) => {
    const what = joinCounts(Object.entries(counts).map(([name, number]) => [number, name]));
    const why = [reason ?? "", message ?? ""].filter((text) => text !== "").join(": ");
    return html`<tr><td>${timeAndAge(endedAt, now)}</td><td>${revision(commit, UNCOMMITTED)}</td><td>${badge(result)}</td><td>${shown(why || what)}</td></tr>`;
  });
  return [
    html`<h3>Last passes that changed something</h3><table class="passes"><thead><tr><th scope="col">Ended</th><th scope="col">Commit</th><th scope="col">Result</th><th scope="col">What</th></tr></thead><tbody>${rows}</tbody></table>`,
  ];
}

function timeAndAge(iso: string, now: number): Html {
  return html`${timeText(iso)} <span class="age">${ageText(iso, now)}</span>`;
}

// Shows seconds and the time zone.
function timeText(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}
