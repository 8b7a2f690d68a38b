import type { Decision } from "../decide/decision.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { pointerOf } from "../diff/pointer.ts";
import { HoldfastError } from "../errors.ts";
import type { Identity } from "../manifest.ts";
import { type Plan, type Risk, type Step, writes } from "../plan/plan.ts";

/** What is done about each risk that a guard can refuse, where the configuration says nothing. */
const defaults = {
  adopts: "refuse",
  "privilege-growth": "refuse",
  "scale-to-zero": "mark",
  exposure: "mark",
  "secret-removed": "mark",
  reverts: "mark",
} as const satisfies { readonly [risk in Risk]?: "refuse" | "mark" };

/** What is done about risks: refuse the step where nobody confirms it, or only mark it. */
type RiskGuards = { readonly [risk in keyof typeof defaults]?: "refuse" | "mark" | null };

/** A guard in words: what the step would do, and what allows it. */
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

/** Whether guards refuse less than the default ones do. */
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

/** What a daemon does not do on its own. */
export type PlanGuards = {
  readonly refused: ReadonlySet<Risk>;
  /** The largest share of the resources that is updated at once. */
  readonly updateShare?: number;
  /** Resources that a person holds, and why. */
  readonly held?: ReadonlyMap<Identity, string>;
  /** Whether nothing was written yet: then a resource that somebody else manages holds all of them. @default false */
  readonly isFirst?: boolean;
};

/** Why nothing may be written, or nothing updated, whatever the resource; null where it may. */
export type HoldAll = { readonly writes: string | null; readonly updates: string | null };

/** Why nothing is written for the first time, or null: resources that somebody else manages may tell of a wrong target. */
export function firstWriteGuard(
  decisions: Iterable<Pick<Step, "action" | "risks">>,
  { isFirst = false }: PlanGuards,
): string | null {
  if (!isFirst) return null;
  const unadopted = [...decisions].filter(needsAdoption).length;
  if (unadopted === 0) return null;
  const what =
    unadopted === 1
      ? "a resource that somebody else manages is"
      : `${unadopted} resources that somebody else manages are`;
  return `waits for the first write: ${what} to be adopted before; holdfast adopt records what is live`;
}

/** Whether a step is held back until somebody adopts its resource. */
export function needsAdoption({ action, risks }: Pick<Step, "action" | "risks">): boolean {
  return action === "block" && risks.includes("adopts");
}

/** The decision, or that it is held back: for one of its risks, or since nothing of its sort may be written. */
export function holdBack(
  identity: Identity,
  decision: Decision,
  { refused, held }: PlanGuards,
  all: HoldAll,
): Decision {
  const { action, risks, differences } = decision;
  if (!writes({ action })) return decision;
  const hold = held?.get(identity);
  if (hold !== undefined) return { ...decision, action: "block", reason: "guard", detail: hold };
  const guarded = risks.filter((one) => refused.has(one));
  const lost = differences.filter(({ cause, before }) => isActedOn(cause) && before !== undefined);
  const fields = lost.map(({ tokens }) => pointerOf(tokens));
  const shared = all.writes ?? (action === "update" ? all.updates : null);
  const why = guarded.length === 0 ? shared : guardDetail(guarded, fields);
  return why === null ? decision : { ...decision, action: "block", reason: "guard", detail: why };
}

/** What guards say of a step: the dangers, of live what would be lost, and what allows it. */
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

/** Fails where a guard refuses a step of a plan that nobody has confirmed. */
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
      ? "nothing was written: look at the steps; each says what allows it"
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
