import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import { kindOf } from "../kinds/index.ts";
import { jsonText } from "../render/escape.ts";
import { type HistoryView, historyText } from "../render/history.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { KEPT_PASSES, type TargetStore } from "../state/target-store.ts";
import type { InvocationOf } from "./command.ts";
import type { history } from "./declarations/history.ts";
import { RECORDED_TARGETS } from "./targets/create-target.ts";
import { findTargets } from "./targets/find-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";

/** Shows what became of each commit, of resources, or when live had drifted. */
export async function run(invocation: InvocationOf<typeof history>): Promise<number> {
  const { args, flags, terminal } = invocation;
  for (const identity of args) requireIdentity(identity);
  await using opened = await findTargets({ ...invocation, args: [] }, RECORDED_TARGETS);
  const targets = await Promise.all(
    opened.targets.map(async ({ name, state }): Promise<HistoryView> => {
      const view = await viewOf(await state.target(), {
        identities: [...new Set(args)],
        onlyDrift: flags.drifted ?? false,
        withChanges: flags.changes ?? false,
      });
      return { target: name, ...view };
    }),
  );
  const isJson = stdoutFormat(flags.output) === "json";
  await writeResult(
    terminal,
    isJson
      ? jsonText({ format_version: FORMAT_VERSION, targets, diagnostics: terminal.warnings.all() })
      : historyText(targets, columnsOn(terminal.stdout)),
  );
  return 0;
}

/** The newest events that are shown of a resource, and of drift. */
const MAX_EVENTS = 1_000;

type HistoryChoice = {
  readonly identities: readonly Identity[];
  readonly onlyDrift: boolean;
  readonly withChanges: boolean;
};

async function viewOf(
  store: TargetStore,
  { identities, onlyDrift, withChanges }: HistoryChoice,
): Promise<Omit<HistoryView, "target">> {
  if (identities.length === 0 && !onlyDrift && !withChanges) {
    const { entries } = await store.passes({ limit: KEPT_PASSES.count });
    return { passes: entries.toReversed() };
  }
  // Where nothing else chooses, the writes are shown that changed something.
  const isKnown = withChanges && !onlyDrift && identities.length === 0;
  const chosen = {
    ...(onlyDrift && { hasDrifted: true as const }),
    ...(withChanges && { withChanges: true as const }),
    ...(isKnown && { isKnown: true as const }),
  };
  const filters = identities.length === 0 ? [chosen] : identities.map((identity) => ({ ...chosen, identity }));
  const found = await Promise.all(filters.map((filter) => store.events(filter, { limit: MAX_EVENTS })));
  const events = found.flatMap(({ entries }) => entries.toReversed());
  const isCut = found.some(({ next }) => next !== null);
  if (identities.length > 0 || !onlyDrift) return { events, isCut };
  return { events, isCut, driftByDay: (await store.driftByDay({ limit: 100 })).entries.toReversed() };
}

function requireIdentity(identity: string): void {
  if (identity.includes("/") && kindOf(splitIdentity(identity).kind) !== undefined) return;
  throw new HoldfastError("invalid", `${identity} is no identity of a resource`, {
    hint: "write it as plan and status do, such as service/c1:ws1/api or team/ml",
  });
}
