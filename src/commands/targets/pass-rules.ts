import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { HoldfastConfig } from "../../contract/generated/config.ts";
import { HoldfastError } from "../../core/errors.ts";
import { refusedRisks } from "../../core/guards/step-guards.ts";
import type { IgnoreRule } from "../../core/ignore/ignore-rules.ts";
import type { Risk } from "../../core/plan/plan.ts";
import type { Selection } from "../../core/selection/select.ts";
import type { Rules, Target } from "../../engine/target.ts";
import { relativePath } from "../../files/real-path.ts";
import { kindOf, kinds as knownKinds } from "../../kinds/index.ts";
import type { LoadRules } from "../../manifests/load-manifests.ts";
import { kindHint } from "../../schema/closest-name.ts";
import type { Invocation } from "../command.ts";

const ROLLOUT_TIMEOUT_MS = 10 * 60 * 1000;

const DEFAULT_HISTORY = 1000;

type RuleOptions = Pick<LoadRules, "rename" | "patches" | "places"> & {
  /** The folder of the source; null for a commit. */
  readonly root: string | null;
  readonly writers: readonly string[];
  readonly approvals: Rules["approvals"];
  /** Whether the operator has written `sync: heal` for the target. */
  readonly heals: boolean;
};

/** The rules of a command's passes, in the order flag > environment > configuration > default. */
export function rulesOf(
  invocation: Invocation,
  { root, writers, approvals, heals, rename, patches, places = {} }: RuleOptions,
): Target["rules"] {
  const { flags } = invocation;
  const selection = selectionOf(invocation, root);
  return (config): Rules => ({
    selection,
    ref: flags.ref ?? config.ref ?? null,
    load: {
      ...config,
      defaults: { workspace_fqn: flags.workspace ?? config.defaults?.workspace_fqn ?? null },
      ...(rename ? { rename } : {}),
      ...(patches ? { patches } : {}),
      places,
    },
    strict: flags.strict ?? false,
    partial: flags.partial ?? false,
    ignore: (config.ignore ?? []).map(ignoreRule),
    guards: guardsOf(config),
    allowShrink: flags.allowShrink ?? false,
    refusedRisks: refusedRisks(config.guards ?? {}),
    allowedRisks: allowedRisks({
      ...flags,
      allowAdopt: flags.allowAdopt ?? (heals && config.guards?.adopts !== "refuse"),
    }),
    allowedPolicies: flags.allowPolicy ?? [],
    approvals,
    updateShare: config.guards?.updateShare ?? null,
    dryRunsCreates: flags.dryRun ?? true,
    history: flags.history ?? DEFAULT_HISTORY,
    writers,
    leaseScope: flags.leaseScope ?? null,
    maxLeaseMs: milliseconds(flags.leaseSeconds) ?? null,
    concurrency: flags.concurrency ?? config.concurrency ?? 16,
    requestTimeoutMs: milliseconds(flags.requestTimeout ?? config.requestTimeout) ?? 30_000,
    rolloutTimeoutMs: milliseconds(flags.waitTimeout) ?? ROLLOUT_TIMEOUT_MS,
    wait: flags.wait ?? true,
    failFast: flags.failFast ?? false,
    timeout: flags.timeout === undefined ? (config.timeout ?? null) : null,
  });
}

/** Converts seconds to milliseconds; null if no value is given. */
export function milliseconds(seconds: number | null | undefined): number | null {
  return seconds === null || seconds === undefined ? null : seconds * 1000;
}

function selectionOf({ args, flags, terminal: { cwd } }: Invocation, root: string | null): Selection {
  const missing = root === null ? undefined : args.find((path) => !existsSync(resolve(cwd, path)));
  if (missing !== undefined) {
    throw new HoldfastError("invalid", `${missing} does not exist`, { hint: "correct the path" });
  }
  const kinds = flags.kind ?? [];
  const unknownKind = kinds.find((kind) => kindOf(kind) === undefined);
  if (unknownKind !== undefined) {
    throw new HoldfastError("invalid", `--kind ${unknownKind} is not a kind`, {
      hint: kindHint(
        unknownKind,
        knownKinds.map(({ type }) => type),
      ),
    });
  }
  const chosen = { only: flags.only ?? [], kinds, exclude: flags.exclude ?? [] };
  if (root === null) return { paths: args.filter((path) => !isWhole(path)), ...chosen };
  // The root of the source selects everything.
  const isRoot = args.some((path) => realpathSync(resolve(cwd, path)) === root);
  const paths = isRoot ? [] : args.map((path) => relativePath(cwd, resolve(cwd, path)));
  return { paths, ...chosen };
}

const isWhole = (path: string) => /^\.?\/*$/.test(path);

function ignoreRule(rule: NonNullable<HoldfastConfig["ignore"]>[number]): IgnoreRule {
  const { path, match, reason, owner, expires } = rule;
  return { path, match, reason, ...(owner ? { owner } : {}), ...(expires ? { expires } : {}) };
}

/** The risks that the operator allows by flag. */
export function allowedRisks({ allowAdopt, allowPrivilege }: Invocation["flags"]): readonly Risk[] {
  return [...(allowAdopt ? ["adopts" as const] : []), ...(allowPrivilege ? ["privilege-growth" as const] : [])];
}

function guardsOf({ guards }: HoldfastConfig): Rules["guards"] {
  return {
    ...(guards?.shrinkFrom ? { shrinkFrom: guards.shrinkFrom } : {}),
    ...(typeof guards?.shrinkShare === "number" ? { shrinkShare: guards.shrinkShare } : {}),
  };
}
