import type { Decision } from "../decide/decision.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { pointerOf } from "../diff/pointer.ts";
import { HoldfastError } from "../errors.ts";
import type { Identity } from "../manifest.ts";
import { type Plan, type Risk, type Step, writes } from "../plan/plan.ts";

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

/** The text of a guard: what the step would do, and how to allow it. */
const guardText: { readonly [risk in Risk]: { readonly danger: string; readonly remedy: string } } = {
  adopts: {
    danger: "would overwrite what somebody else manages",
    remedy: "holdfast adopt records what is live as it is; --allow-adopt overwrites it",
  },
  "privilege-growth": { danger: "would give somebody more rights", remedy: "--allow-privilege allows it" },
  "scale-to-zero": remedied("may leave no replica running"),
  exposure: remedied("would change what the network can reach"),
  "secret-removed": remedied("would take a secret away"),
  reverts: remedied("would undo a change that was made in live"),
  "version-immutable": remedied("would change the content of a version that exists"),
};

const LISTED = 10;

function remedied(danger: string): { readonly danger: string; readonly remedy: string } {
  return { danger, remedy: "confirm it at a terminal, or change guards in the configuration" };
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
  /** Whether nothing was written yet: then one resource that somebody else manages blocks all writes. @default false */
  readonly isFirst?: boolean;
};

/** Why all writes, or all updates, are held back; null when they are not. */
export type HoldAll = { readonly writes: string | null; readonly updates: string | null };

/**
 * Why the first write is held back, or null: resources that somebody else manages may mean that the target is wrong.
 */
export function firstWriteGuard(
  decisions: Iterable<Pick<Step, "action" | "risks">>,
  { isFirst = false }: PlanGuards,
): string | null {
  if (!isFirst) return null;
  const unadopted = [...decisions].filter(needsAdoption).length;
  if (unadopted === 0) return null;
  const what =
    unadopted === 1 ? "a resource that somebody else manages" : `${unadopted} resources that somebody else manages`;
  return `held back before the target's first write: ${what} must be adopted first; holdfast adopt records what is live`;
}

/** Whether a step is blocked until its resource is adopted. */
export function needsAdoption({ action, risks }: Pick<Step, "action" | "risks">): boolean {
  return action === "block" && risks.includes("adopts");
}

/**
 * The decision, blocked if a person holds the resource, a guard refuses one of its risks, or all such writes are held
 * back.
 */
export function holdBack(
  identity: Identity,
  decision: Decision,
  { refused, held }: PlanGuards,
  all: HoldAll,
): Decision {
  const { action, risks, differences } = decision;
  if (!writes({ action })) return decision;
  const hold = held?.get(identity);
  if (hold !== undefined) return { ...decision, action: "block", reason: "held", detail: hold };
  const guarded = risks.filter((one) => refused.has(one));
  const lost = differences.filter(({ cause, before }) => isActedOn(cause) && before !== undefined);
  const fields = lost.map(({ tokens }) => pointerOf(tokens));
  const shared = all.writes ?? (action === "update" ? all.updates : null);
  const why = guarded.length === 0 ? shared : guardDetail(guarded, fields);
  return why === null ? decision : { ...decision, action: "block", reason: "guard", detail: why };
}

/** The guard's message for a step: the dangers, the fields of live that would be lost, and how to allow it. */
function guardDetail(risks: readonly Risk[], lost: readonly string[]): string {
  const dangers = risks.map((risk) => guardText[risk].danger + (risk === "adopts" ? lostText(lost) : ""));
  const remedies = new Set(risks.map((risk) => guardText[risk].remedy));
  return `${dangers.join(", ")}; ${[...remedies].join("; ")}`;
}

function lostText(lost: readonly string[]): string {
  if (lost.length === 0) return "";
  const more = lost.length > LISTED ? ` and ${lost.length - LISTED} more` : "";
  return ` (${lost.slice(0, LISTED).join(", ")}${more})`;
}

/** Throws if a guard refuses a step of an unconfirmed plan. */
export function requireUnguarded(
  { steps }: Plan,
  refused: ReadonlySet<Risk>,
  { isVerified = true }: { readonly isVerified?: boolean } = {},
): void {
  const guarded = steps.map((step) => guardDiagnostics(step, refused)).filter(({ length }) => length > 0);
  if (guarded.length === 0) return;
  const count = guarded.length === 1 ? "one step" : `${guarded.length} steps`;
  throw new HoldfastError("refused", `guards refuse ${count} of this plan`, {
    hint: isVerified
      ? "nothing was written: review the steps; each names what allows it"
      : "nothing was written: another key has sealed the plan, so apply needs its flags too; or give both the same HOLDFAST_STATE_KEY",
    diagnostics: guarded.flat(),
  });
}

function guardDiagnostics(step: Step, refused: ReadonlySet<Risk>): readonly Diagnostic[] {
  const { identity, risks, changes, file, line } = step;
  const lost = changes.filter(({ before }) => before !== null).map(({ path }) => path);
  return risks
    .filter((risk) => refused.has(risk))
    .map((risk) => {
      const detail = guardDetail([risk], lost);
      return { severity: "error", code: risk, summary: `${identity} ${detail}`, detail: null, file, line, column: 1 };
    });
}
