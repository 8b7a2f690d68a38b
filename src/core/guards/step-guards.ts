import type { Danger, StepGuard } from "../../contract/generated/output.ts";
import type { Decision } from "../decide/decision.ts";
import { isDriftAlone } from "../decide/drift-alone.ts";
import type { Identity } from "../manifest.ts";
import { type Risk, writes } from "../plan/plan.ts";

/** The action on each risk that a guard can refuse, when the configuration sets none. */
const defaults = {
  adopts: "refuse",
  "privilege-growth": "refuse",
  "scale-to-zero": "mark",
  exposure: "mark",
  "secret-removed": "mark",
  reverts: "mark",
} as const satisfies { readonly [risk in Risk]?: "refuse" | "mark" };

/** The action on each risk: refuse the step unless a person confirms it, or only mark it. */
type RiskGuards = { readonly [risk in keyof typeof defaults]?: "refuse" | "mark" | null };

/** The text of a guard: what the step would do, and how to allow it; the flag that does, if there is one. */
type GuardText = { readonly danger: string; readonly remedy: string; readonly flag: string | null };

const guardText: { readonly [risk in Risk]: GuardText } = {
  adopts: {
    danger: "would overwrite what somebody else manages",
    flag: "--allow-adopt",
    remedy:
      "holdfast import --update takes what is live into git, holdfast adopt lets git overwrite it, --allow-adopt overwrites it at once",
  },
  "privilege-growth": {
    danger: "would give somebody more rights",
    flag: "--allow-privilege",
    remedy: "--allow-privilege allows it",
  },
  "scale-to-zero": remedied("may leave no replica running"),
  exposure: remedied("would change what the network can reach"),
  "secret-removed": remedied("would take a secret away"),
  reverts: remedied("would undo a change that was made in live"),
  "version-immutable": remedied("would change the content of a version that exists"),
};

/** What is dangerous about a write where live cannot be read: nobody knows whose the resource is, if there is one. */
export const MAY_EXIST = "may exist already and be somebody else's: live cannot be read";

/** What is dangerous about a write where live cannot be read, although it is known to be there and somebody else's. */
export const UNREAD = "live cannot be read";

/** How many dangers of a step are listed one by one. */
export const LISTED = 10;

function remedied(danger: string): GuardText {
  return { danger, flag: null, remedy: "confirm it at a terminal, or change guards in the configuration" };
}

/** Whether guards refuse less than the defaults. */
export function isLooserGuard(guards: RiskGuards): boolean {
  return (Object.keys(defaults) as (keyof typeof defaults)[]).some(
    (risk) => defaults[risk] === "refuse" && guards[risk] === "mark",
  );
}

/** The risks that guards refuse. */
export function refusedRisks(guards: RiskGuards): ReadonlySet<Risk> {
  const risks = Object.keys(defaults) as (keyof typeof defaults)[];
  return new Set(risks.filter((risk) => (guards[risk] ?? defaults[risk]) === "refuse"));
}

/** What a daemon must not do without approval by a person. */
export type PlanGuards = {
  readonly refused: ReadonlySet<Risk>;
  /** The largest share of the resources that one pass may update. */
  readonly updateShare?: number;
  /** Resources that a person put on hold, and the reason. */
  readonly held?: ReadonlyMap<Identity, string>;
  /** The resources that are written although only live has changed; absent where that is always written back. */
  readonly writtenBack?: ReadonlySet<Identity>;
  /** Why policies refuse steps. */
  readonly policies?: ReadonlyMap<Identity, string>;
  /** Whether nothing was written yet: then one resource that somebody else manages blocks all writes. @default false */
  readonly isFirst?: boolean;
};

/** Why all writes, or all updates, are held back; null when they are not. */
export type HoldAll = { readonly writes: string | null; readonly updates: string | null };

/**
 * Why the first write is held back, or null: resources that somebody else manages may mean that the target is wrong.
 * What only may exist is no reason to wait: nothing would ever be written to a new control plane that cannot be read.
 */
export function firstWriteGuard(decisions: Iterable<Decision>, { isFirst = false }: PlanGuards): string | null {
  if (!isFirst) return null;
  const unadopted = [...decisions].filter(isSomebodyElses).length;
  if (unadopted === 0) return null;
  const what = unadopted === 1 ? "a resource that is" : `${unadopted} resources that are`;
  return `held back before the target's first write: ${what} somebody else's must be adopted or allowed first`;
}

function isSomebodyElses({ action, dangers }: Decision): boolean {
  return action === "block" && dangers.some(({ risk, text }) => risk === "adopts" && !text.startsWith(MAY_EXIST));
}

const DRIFT_IS_PROPOSED = "what was changed in live is proposed for git";

/**
 * The decision, blocked if a person holds the resource, a guard refuses one of its risks, all such writes are held back,
 * or a policy refuses it.
 */
export function holdBack(
  identity: Identity,
  decision: Decision,
  { refused, held, writtenBack, policies }: PlanGuards,
  all: HoldAll,
): Decision {
  const { action, dangers } = decision;
  if (!writes({ action })) return decision;
  const hold = held?.get(identity);
  if (hold !== undefined) return { ...decision, action: "block", reason: "held", detail: hold };
  if (writtenBack !== undefined && !writtenBack.has(identity) && isDriftAlone(decision))
    return { ...decision, action: "block", reason: "held", detail: DRIFT_IS_PROPOSED, keepsLive: true };
  const guarded = dangers.filter(({ risk }) => refused.has(risk));
  const shared = all.writes ?? (action === "update" ? all.updates : null);
  const why = guarded.length === 0 ? shared : guardDetail(guarded);
  const pointer = guarded[0]?.path ?? null;
  if (why !== null) return { ...decision, action: "block", reason: "guard", detail: why, pointer };
  const judged = policies?.get(identity);
  if (judged === undefined) return decision;
  return { ...decision, action: "block", reason: "policy", detail: judged, pointer: null };
}

/** The guard's message for a step: the dangers, and how to allow them. */
export function guardDetail(dangers: readonly Danger[]): string {
  const risks = Map.groupBy(dangers, ({ risk }) => risk);
  const texts = [...risks].map(([risk, some]) => dangerText(risk, some));
  const remedies = new Set([...risks].map(([risk, some]) => (isUnread(some) ? WRITE_UNREAD : guardText[risk].remedy)));
  return `${texts.join(", ")}; ${[...remedies].join("; ")}`;
}

const WRITE_UNREAD = "--allow-adopt writes it all the same";

/** Whether live could not be read: what cannot be read cannot be adopted as it is. */
export function isUnread(dangers: readonly Danger[]): boolean {
  return dangers.every(({ text }) => text.startsWith(MAY_EXIST) || text.startsWith(UNREAD));
}

function dangerText(risk: Risk, dangers: readonly Danger[]): string {
  const [first] = dangers;
  if (first !== undefined && dangers.every(({ text }) => text.startsWith(MAY_EXIST))) return first.text;
  const texts = dangers.flatMap(({ text }) => (text === "" ? [] : [text]));
  const more = texts.length > LISTED ? `, and ${texts.length - LISTED} more` : "";
  return texts.length === 0
    ? guardText[risk].danger
    : `${guardText[risk].danger} (${texts.slice(0, LISTED).join(", ")}${more})`;
}

/** Why guards refuse a step to an apply without a person; null where they do not. */
export function guardOf({ action, dangers }: Decision, refused: ReadonlySet<Risk>): StepGuard | null {
  const guarded = writes({ action }) ? dangers.filter(({ risk }) => refused.has(risk)) : [];
  if (guarded.length === 0) return null;
  const flags = guarded.flatMap(({ risk }) => guardText[risk].flag ?? []);
  return { flags: [...new Set(flags)], dangers: guarded };
}
