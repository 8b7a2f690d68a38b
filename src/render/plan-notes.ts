import type {
  HardwareChange,
  HardwareDifference,
  InterruptedWrite,
  NotChecked,
  NotWritable,
  Risk,
  SecretFingerprint,
  SecretUse,
} from "../contract/generated/output.ts";
import { readApprovalRule } from "../core/approvals/approval-rule.ts";
import type { Plan, Step } from "../core/plan/plan.ts";
import { count, joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

/** Why a step was not dry-run, for one step and for several. */
const reasonTexts: { readonly [reason in NotChecked["reason"]]: readonly [one: string, many: string] } = {
  "depends-on": ["refers to what does not exist yet", "refer to what does not exist yet"],
  unproven: [
    "waits until a dry run is known to change nothing here",
    "wait until a dry run is known to change nothing here",
  ],
  "needs-write": ["needs the right to write", "need the right to write"],
  unsupported: ["is of a kind without a dry run", "are of kinds without a dry run"],
  unanswered: ["got no answer", "got no answer"],
  skipped: ["by --no-dry-run", "by --no-dry-run"],
};

const reasons = Object.keys(reasonTexts) as readonly NotChecked["reason"][];

const foundText: { readonly [found in InterruptedWrite["found"]]: string } = {
  made: "made",
  "not-made": "not made",
  unknown: "unknown whether it was made",
};

const nextText: { readonly [next in InterruptedWrite["next"]]: string } = {
  record: "apply records it",
  send: "apply sends it with the step of its resource",
  close: "apply does not send it again",
  keep: "it stays open, since it is not selected",
  report: "apply reports it and does not exit 0; holdfast resolve shows what is known",
};

const tokenText: { readonly [token in NonNullable<InterruptedWrite["token"]>]: string } = {
  delivered: " and delivers its one-time token",
  lost: ", but its one-time token is lost, so apply does not exit 0",
};

/** A short description of each risk for reviewers. */
export const riskText: { readonly [risk in Risk]: string } = {
  adopts: "overwrites what somebody else manages",
  "privilege-growth": "gives somebody more rights",
  "scale-to-zero": "may leave no replica running",
  exposure: "changes what the network can reach",
  "secret-removed": "takes a secret away",
  reverts: "undoes a change that was made in live",
  "version-immutable": "would change a version that exists",
};

/** How many steps no dry run has checked, by reason, as one sentence; empty when all were checked. */
export function notCheckedCounts(steps: readonly Step[]): string {
  const found = steps.flatMap(({ notChecked }) => notChecked?.reason ?? []);
  if (found.length === 0) return "";
  const counts = reasons.map((reason) => {
    const { length } = found.filter((one) => one === reason);
    return [length, reasonTexts[reason][length === 1 ? 0 : 1]] as const;
  });
  return `Not dry-run: ${joinCounts(counts)}`;
}

/** What the token of a plan may not write, by the role that may, each role written by `nameOf`; null if it may write all. */
export function notWritableText(notWritable: readonly NotWritable[], nameOf: (role: string) => string): string | null {
  if (notWritable.length === 0) return null;
  const steps = notWritable.reduce((sum, { identities }) => sum + identities.length, 0);
  const roles = notWritable.map(({ role, identities }) => `${nameOf(role)} (${identities.length})`);
  return `This token may not write ${count(steps, "step")}, for which apply needs: ${roles.join(", ")}`;
}

/** Workspaces that are told one by one. */
const MAX_WORKSPACES = 10;

/** How the writes of a plan change what is reserved: a text for each workspace, and one for the sum of several. */
export function hardwareTexts(change: HardwareChange | undefined, nameOf: (name: string) => string): readonly string[] {
  if (change === undefined) return [];
  const { total, workspaces } = change;
  const texts = workspaces
    .slice(0, MAX_WORKSPACES)
    .map(({ workspace, difference }) => `Hardware in ${nameOf(workspace)}: ${differenceText(difference, nameOf)}`);
  const more = workspaces.length - texts.length;
  const of = more === 0 ? "sum" : `sum, with ${count(more, "more workspace")}`;
  return workspaces.length > 1 ? [...texts, `Hardware in ${of}: ${differenceText(total, nameOf)}`] : texts;
}

/** The signatures that a plan needs before it is applied. */
export function approvalTexts(approvals: Plan["approvals"], nameOf: (name: string) => string): readonly string[] {
  if (approvals === undefined) return [];
  const rule = readApprovalRule({ atLeast: approvals.atLeast, keys: [...approvals.keys] });
  if (typeof rule === "string") return [];
  const names = rule.keys.map(({ name }) => nameOf(name)).join(", ");
  const needed = rule.atLeast === 1 ? "one approval" : `${rule.atLeast} approvals`;
  return [`Needs ${needed} (${nameOf("holdfast approve PLAN")}), by the keys of ${names}`];
}

function differenceText(
  { replicas, cpu, memory, storage, devices }: HardwareDifference,
  nameOf: (name: string) => string,
): string {
  const parts = [
    ...devices.map(({ name, count: number }) => [number, `× ${nameOf(name)}`] as const),
    [replicas, Math.abs(replicas) === 1 ? "replica" : "replicas"] as const,
    [cpu, "CPU"] as const,
    [memory, "MB memory"] as const,
    [storage, "MB storage"] as const,
  ].filter(([value]) => value !== 0);
  return parts.length === 0 ? "no change" : parts.map(([value, unit]) => `${signed(value)} ${unit}`).join(", ");
}

function signed(value: number): string {
  const digits = Math.abs(value).toLocaleString("en-US", { maximumFractionDigits: 3 });
  return `${value < 0 ? "−" : "+"}${digits}`;
}

/** Which of the values that a plan writes are equal, each name written by `nameOf`: one text, or none. */
export function fingerprintTexts(
  fingerprints: readonly SecretFingerprint[],
  nameOf: (name: string) => string,
): readonly string[] {
  const texts = fingerprints.map(({ identity, key, fingerprint }) => `${nameOf(`${identity}[${key}]`)} ${fingerprint}`);
  return texts.length === 0 ? [] : [`Fingerprints of this run: ${texts.join(", ")}`];
}

/** Who uses the secrets whose values a plan changes, each name written by `nameOf`: one text for each secret. */
export function secretUseTexts(uses: readonly SecretUse[], nameOf: (name: string) => string): readonly string[] {
  return uses.map(({ identity, key, total, deployments }) => {
    const named = deployments.slice(0, MOST_USES).map(({ fqn, older }) => `${nameOf(fqn)}${older ? OLDER : ""}`);
    const more = total > named.length ? ` and ${total - named.length} more` : "";
    const who = count(total, "active deployment");
    return `Blast radius of ${nameOf(`${identity}[${key}]`)}: ${who}, which ${total === 1 ? "has" : "have"} the new value once deployed again: ${named.join(", ")}${more}`;
  });
}

const MOST_USES = 10;
const OLDER = " (has an older version already)";

/** What apply does about the writes that an earlier run left open: one line for each conclusion, with its resources. */
export function interruptedLines(
  writes: readonly InterruptedWrite[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  return interruptedTexts(writes, printable).flatMap((text) =>
    wrapWords(text, { indent: "", nextIndent: "  ", width }).map((line) => paint("yellow", line)),
  );
}

/** The same as texts, each resource written by `nameOf`. */
export function interruptedTexts(
  writes: readonly InterruptedWrite[],
  nameOf: (identity: string) => string,
): readonly string[] {
  return [...Map.groupBy(writes, conclusionOf)].map(([conclusion, alike]) => {
    return `Interrupted write, ${conclusion}: ${alike.map(({ identity }) => nameOf(identity)).join(", ")}`;
  });
}

function conclusionOf({ found, next, token, arrivesUntil }: InterruptedWrite): string {
  const late = arrivesUntil === null ? "" : ` (it may arrive until ${arrivesUntil}; apply waits for that)`;
  return `${foundText[found]}${late}: ${nextText[next]}${token === null ? "" : tokenText[token]}`;
}
