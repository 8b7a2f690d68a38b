import { NOT_ADOPTED } from "../../core/guards/adoption.ts";
import { signingRefusal } from "../../core/guards/signing-refusal.ts";
import type { PlanEvent } from "../../core/report/events.ts";
import { shellWord } from "../../render/shell-word.ts";
import { branchOf, defaultBranchOf, locateRepository } from "../../source/git/repository-paths.ts";
import type { Invocation, InvocationOf } from "../command.ts";
import { apply } from "../declarations/apply.ts";
import type { plan } from "../declarations/plan.ts";
import { generalFlags } from "../flags/flags.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { isInteractive, type Terminal } from "../terminal.ts";

/** The command that applies a plan, or that signs it, with the flags that it needs; null where none would work, or on the branch of a pull request. */
export function nextCommand(
  end: PlanEvent,
  { args, flags, terminal, spelled = new Map() }: InvocationOf<typeof plan>,
  target: CommandTarget,
): string | null {
  const isAsked = isInteractive(terminal);
  if (!end.plan.complete || isNotReady(end) || isNotAdopted(end) || isReviewed(flags, terminal, target)) return null;
  // Another token may apply a signed plan.
  if (end.notWritable !== undefined && flags.out === undefined) return null;
  const refusal = signingRefusal(end);
  if (refusal?.isDenied || (refusal?.needsPerson && (!isAsked || flags.out !== undefined))) return null;
  if (flags.out !== undefined && refusal === null && end.plan.approvals !== undefined)
    return `holdfast approve ${shellWord(flags.out)}`;
  const { choice, state } = target;
  const { flags: needed = [] } = refusal ?? {};
  // A plan that was not signed cannot be applied yet.
  const lacksFile = flags.out === undefined && end.plan.approvals !== undefined;
  const isUnsigned = lacksFile || (flags.out !== undefined && refusal !== null);
  // The key of one state folder does not show another one what was allowed.
  const carriesConsent = flags.out !== undefined && state.readKey() !== null;
  const isRepeated = (name: string) => isUnsigned || isOfApply(name, carriesConsent);
  const consent = consentWords(flags.out ?? (lacksFile ? "plan.json" : null), { isAsked, isUnsigned });
  const words = [
    ...args,
    ...(choice === null || spelled.has("target") ? [] : ["--target", choice.name]),
    ...[...spelled].flatMap(([name, of]) => (name !== "out" && isRepeated(name) ? of : [])),
    ...needed.flatMap((flag) => flag.split(" ")),
    ...consent,
    ...(choice?.confirm && !isAsked && !isUnsigned ? ["--confirm", choice.name] : []),
  ];
  return [`holdfast ${isUnsigned ? "plan" : "apply"}`, ...words.map(shellWord)].join(" ");
}

function consentWords(
  file: string | null,
  { isAsked, isUnsigned }: { readonly isAsked: boolean; readonly isUnsigned: boolean },
): readonly string[] {
  if (file === null) return isAsked ? [] : ["--yes"];
  return [isUnsigned ? "--out" : "--plan", file];
}

/** Flags of both commands that change only how a result is shown. */
const OF_OUTPUT = ["output", "color", "logLevel", "logFormat"];

/** Flags whose consent a signed plan carries. */
const SIGNED = ["allowShrink", "allowAdopt", "allowPrivilege", "allowPolicy"];

const ofApply: ReadonlySet<string> = new Set(
  [...apply.flags, ...generalFlags].map((name) => name.replace(/^no([A-Z])/, (_, first) => first.toLowerCase())),
);

function isOfApply(name: string, carriesConsent: boolean): boolean {
  return ofApply.has(name) && !OF_OUTPUT.includes(name) && !(carriesConsent && SIGNED.includes(name));
}

function isNotReady({ plan: { diagnostics } }: PlanEvent): boolean {
  return diagnostics.some(({ code }) => code === "checkout-not-ready");
}

// Whether to take live into git or to overwrite it is a choice that the report explains.
function isNotAdopted({ plan: { diagnostics } }: PlanEvent): boolean {
  return diagnostics.some(({ code }) => code === NOT_ADOPTED);
}

// A pull request is applied after its merge: `--base` compares with it, and CI names it. At a branch that the configuration
// requires, or at the default branch, there is none.
function isReviewed({ base }: Invocation["flags"], { env }: Terminal, { rules, source }: CommandTarget): boolean {
  const isOfPullRequest = env.GITHUB_EVENT_NAME?.startsWith("pull_request") || env.CI_MERGE_REQUEST_IID !== undefined;
  if (base !== undefined || isOfPullRequest) return true;
  if (source.commits !== null || rules(source.config.repository).ref !== null) return false;
  const repository = locateRepository(source.root);
  const [branch, main] = repository === null ? [null, null] : [branchOf(repository), defaultBranchOf(repository)];
  return branch !== null && main !== null && branch !== main;
}
