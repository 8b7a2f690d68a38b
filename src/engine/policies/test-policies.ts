import type { Clock } from "../../clock/clock.ts";
import type { PolicyTestResult } from "../../contract/generated/output.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { ruleFinder } from "../../core/ignore/ignore-rules.ts";
import type { Live } from "../../core/live.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import { hardwareChange } from "../../core/plan/hardware-change.ts";
import { makePlan } from "../../core/plan/make-plan.ts";
import { writes } from "../../core/plan/plan.ts";
import type { Recorded } from "../../core/recorded.ts";
import { kindOf, kindsByType } from "../../kinds/index.ts";
import { nameOf } from "../../manifests/declaration.ts";
import { validateManifest } from "../../schema/validate.ts";
import type { ExpressionAnswer, ExpressionError } from "./expression.ts";
import type { ExpressionSubject } from "./expression-subject.ts";
import { judgePlan } from "./judge-plan.ts";
import type { LoadedPolicy, PolicyTest } from "./policy-set.ts";

/** Runs the tests beside policies: each pair of manifests is planned as apply would plan it, and judged by its policy. */
export function testPolicies(
  policies: readonly LoadedPolicy[],
  clock: Pick<Clock, "monotonic" | "now">,
): readonly PolicyTestResult[] {
  return policies.flatMap((policy) => policy.tests.map((test) => resultOf(policy, test, clock)));
}

function resultOf(policy: LoadedPolicy, test: PolicyTest, clock: Pick<Clock, "monotonic" | "now">): PolicyTestResult {
  const { expect: expected, line } = test;
  const place = { policy: policy.name, name: test.name ?? null, file: policy.file, line, expected };
  const pairs = pairsOf(policy, test);
  if (typeof pairs === "string") return { ...place, actual: null, message: pairs };
  const [first] = pairs.flatMap(faultsOf);
  if (first !== undefined) return { ...place, actual: null, message: first };
  const { plan, manifestsOf, live } = planOf(pairs, test, clock.now());
  const still = plan.steps.find((step) => !writes(step));
  if (still !== undefined) {
    const why = still.reason === null ? "its manifests do not differ" : `it is blocked: ${still.reason}`;
    return { ...place, actual: null, message: `${still.identity} is not written: ${why}` };
  }
  const manifests = pairs.map(({ manifest }) => manifest);
  const hardware = hardwareChange(plan, { manifests, live, kinds: kindsByType });
  const errors: ExpressionError[] = [];
  const set = { policies: [noting(policy, errors)], target: test.target ?? "default" };
  const findings = judgePlan(set, { plan, manifestsOf, hardware }, clock);
  const [error] = errors;
  if (error !== undefined) return { ...place, actual: null, message: errorText(error, policy) };
  const [found] = [...findings.plan, ...findings.steps.values().toArray().flat()];
  const actual = found?.severity ?? "pass";
  return { ...place, actual, message: found === undefined || actual === expected ? null : found.message };
}

// A plan is denied where an expression has no answer, which is never what a test is for.
function noting(policy: LoadedPolicy, errors: ExpressionError[]): LoadedPolicy {
  const evaluate = (subject: ExpressionSubject): ExpressionAnswer => {
    const answer = policy.expression.evaluate(subject);
    if (answer.is === "error") errors.push(answer.error);
    return answer;
  };
  return { ...policy, expression: { evaluate } };
}

function errorText({ message, offset }: ExpressionError, { file, placeOf }: LoadedPolicy): string {
  const { line, column } = placeOf(offset);
  return `the policy's expression cannot be evaluated: ${message} (${file}:${line}:${column})`;
}

/** A manifest as it is live, and as it is declared. */
type Pair = { readonly before: JsonObject | null; readonly manifest: Manifest };

// What is wrong with the test, as text.
function pairsOf({ over, file }: LoadedPolicy, { before, after, steps, line }: PolicyTest): readonly Pair[] | string {
  if (over === "plan" && !steps) return "a test of a policy over the plan needs `steps`";
  if (over === "step" && steps) return "`steps` is for policies over the plan: give `before` and `after`";
  const given = steps ?? (after ? [{ before, after }] : []);
  if (given.length === 0) return "the test has no manifest `after`";
  const pairs = given.map((one) => pairOf(one, { file, line }));
  return pairs.find((one) => typeof one === "string") ?? pairs.filter((one) => typeof one !== "string");
}

function pairOf(
  { before = null, after }: { readonly before?: unknown; readonly after: unknown },
  place: { readonly file: string; readonly line: number },
): Pair | string {
  if (!isObject(after)) return "`after` is no manifest";
  const type = text(after.type) ?? "";
  const kind = kindOf(type);
  const identity = kind === undefined ? null : nameOf(kind, type, after).identity;
  if (kind === undefined || identity === null) return "`after` has no `type` that is known, or lacks a name";
  const manifest = { kind: kind.type, identity, ...place, references: [], value: after };
  return { before: isObject(before) ? before : null, manifest };
}

function faultsOf({ before, manifest: { value } }: Pair): readonly string[] {
  const sides = [["after", value] as const, ...(before === null ? [] : [["before", before] as const])];
  return sides.flatMap(([side, manifest]) =>
    validateManifest(text(manifest.type) ?? "", manifest)
      .filter(({ severity }) => severity === "error")
      .map(({ pointer, message }) => `\`${side}${pointer}\`: ${message}`),
  );
}

function planOf(pairs: readonly Pair[], { cause, author }: PolicyTest, now: number) {
  const live = new Map(pairs.map((pair) => [pair.manifest.identity, liveOf(pair, author ?? null)]));
  const recorded = new Map(pairs.flatMap((pair) => recordOf(pair, cause ?? "manifest", now)));
  const { plan } = makePlan({
    ...{ server: "", revision: null, kinds: kindsByType, now, complete: true, hasSink: true, sight: null },
    desired: pairs.map(({ manifest }) => ({ manifest, wave: 0 })),
    declared: new Set(pairs.map(({ manifest }) => manifest.identity)),
    ...{ invalid: new Set(), refused: [], nameless: [], inSync: new Map(), dryRuns: new Map(), own: new Map() },
    ...{ live, recorded, base: null, applied: null, removed: new Map(), elsewhere: new Set() },
    capabilities: { has: () => true, registers: true },
    writers: new Set(),
    rulesFor: ruleFinder([], new Date(now).toISOString().slice(0, 10)),
    ...{ diagnostics: [], guards: null, orphans: "none" },
  });
  const byIdentity = new Map(pairs.map((pair) => [pair.manifest.identity, pair]));
  return {
    plan,
    live,
    manifestsOf: ({ identity }: { readonly identity: Identity }) => {
      const pair = byIdentity.get(identity);
      const kind = kindOf(pair?.manifest.kind ?? "");
      if (pair === undefined || kind === undefined) return null;
      const found = live.get(identity);
      return { kind, live: found?.state === "present" ? found.row : null, after: pair.manifest.value };
    },
  };
}

function liveOf({ before, manifest: { identity, kind: type, value } }: Pair, author: string | null): Live {
  if (before === null) {
    // Or it would be blocked, since the versions before it are missing.
    const { version } = value;
    return { state: "absent", ...(typeof version === "number" && version > 1 ? { newest: version - 1 } : {}) };
  }
  const key = identity.slice(type.length + 1);
  const writer = author === null ? {} : { author, createdBy: author };
  // With a version, what is live names who wrote it.
  return { state: "present", row: { key, id: "live", manifest: before, stamp: "live", version: 1, ...writer } };
}

function recordOf(
  { before, manifest: { identity, kind, value } }: Pair,
  cause: "manifest" | "drift" | "unrecorded",
  at: number,
): readonly (readonly [Identity, Recorded])[] {
  if (before === null || cause === "unrecorded") return [];
  const written = cause === "drift" ? value : before;
  return [[identity, { identity, kind, id: "live", version: null, at, written, returned: written }]];
}
