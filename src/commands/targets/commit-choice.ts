import type { Stop } from "../../clock/clock.ts";
import type { Hold } from "../../core/holds.ts";
import type { CommitOrder } from "../../engine/order/target-order.ts";
import type { Remote } from "../../source/remote/remote.ts";
import { SourceError } from "../../source/source-error.ts";
import type { TargetState } from "../../state/state.ts";
import type { TargetStore } from "../../state/target-store.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";
import type { TargetChoice } from "./choose-targets.ts";
import { DEFAULT_INTERVAL_S, type StageOrders } from "./stage-orders.ts";

type Use = { readonly follows?: boolean };

type OrderShared = {
  readonly orders: StageOrders | null;
  readonly use: Use;
  readonly invocation: Invocation;
};

/** Whether a daemon applies the commits of a target; one that only reports shows what an apply would do. */
export function isWatching(choice: TargetChoice | null, { follows = false }: Use): boolean {
  return follows && choice?.sync !== "report";
}

/** The order of a target as a command uses it; null if it has none. */
export function orderIn(
  choice: TargetChoice,
  state: TargetState,
  { orders, use, invocation }: OrderShared,
): CommitOrder | null {
  const { allowOrder = false, interval } = invocation.flags;
  const intervalMs = 1000 * (interval ?? choice.interval ?? DEFAULT_INTERVAL_S);
  return orders?.of(choice, { state, isWatched: isWatching(choice, use), isAllowed: allowOrder, intervalMs }) ?? null;
}

type Choosing = Stop & {
  readonly store: TargetStore;
  readonly newest: string;
  readonly terminal: Terminal;
};

/** The commit that a daemon applies now: while the newest one waits, an older one may be applied. */
export async function chooseCommit(
  chooser: CommitOrder,
  remote: Remote,
  { store, newest, terminal, signal }: Choosing,
): Promise<string> {
  const { appliedCommit } = await store.memory();
  const isReconfigured = await chooser.isReconfigured();
  if (newest === appliedCommit && !isReconfigured) return newest;
  const between = chooser.isOrdered ? await remote.between(appliedCommit, newest, { signal }) : [];
  // What is applied has become other content, which may be the newest that has passed.
  const older = isReconfigured && appliedCommit !== null ? [appliedCommit, ...between] : between;
  const candidates = [newest, ...older.toReversed().filter((commit) => commit !== newest)];
  const chosen = await chooser.choose(candidates, { clock: terminal.clock, stopping: signal });
  if (chosen === newest || (await remote.has(chosen, { signal }))) return chosen;
  throw new SourceError("FetchFailed", `source ${remote.name}: commit ${chosen} cannot be fetched`, {
    hint: "the next pass tries again",
  });
}

/** The error of a commit that a person holds. */
export function heldCommit(source: string, commit: string, hold: Hold): SourceError {
  return new SourceError(
    "Held",
    `source ${source}: commit ${commit.slice(0, 12)} is held until ${hold.until}: ${hold.reason}`,
    {
      hint: `holdfast release ${hold.what} ends that; a newer commit is applied`,
    },
  );
}
