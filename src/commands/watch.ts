import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { OTHER_WRITER } from "../core/other-writer.ts";
import type { Progress } from "../engine/apply.ts";
import { follow, recoverPending } from "../engine/follow.ts";
import { look } from "../engine/look.ts";
import { createTrigger, loop } from "../engine/loop.ts";
import { watchSource } from "../source/watch.ts";
import type { Invocation } from "./command.ts";
import { type Connected, openConnection } from "./connection.ts";
import { followOptions } from "./following.ts";
import { createLead, type Lead } from "./leading.ts";
import { desiredOf, lookingAt, otherWriters } from "./looking.ts";
import { prepare } from "./prepare.ts";
import { guardShrinking } from "./shrinking.ts";
import { createTeller, type Teller } from "./teller.ts";

const INTERVAL_S = 60;

type Pass = Parameters<typeof loop>[0];

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const first = await prepare(invocation, { mayAsk: false });
  await using connected = await openConnection(invocation, first, { reading: false, unattended: true });
  await using _lock = await connected.state.lock();
  await using lead = createLead(invocation, connected);
  const trigger = createTrigger();
  const told = createTeller(invocation);
  const { root, repository, settings } = first;
  const watched = {
    root,
    paths: repository.paths,
    ignore: [settings.state],
    onChange: trigger.ring,
    onTrouble: told.failure,
  };
  await watchSource(watched, { signal: terminal.stopping });
  const intervalMs = (flags.interval ?? INTERVAL_S) * 1000;
  const again = trigger.ring;
  await loop(passes(invocation, connected, { told, lead, again }), { trigger, intervalMs, signal: terminal.stopping });
  await told.settled();
  if (terminal.stopping.reason instanceof HoldfastError && terminal.stopping.reason.code === "terminated") return 0;
  throw terminal.stopping.reason;
}

const REFUSED: readonly FailureCode[] = ["unauthorized", "invalid"];

type Watching = {
  readonly told: Teller;
  readonly lead: Lead;
  /** Asks for another pass at once. */
  readonly again: () => void;
};

// A pass that fails leaves everything as it was; the next one looks again. Only a token, or a flag, that the control
// plane refuses from the beginning ends it, and another writer who would have everything made twice.
function passes(invocation: Invocation, connected: Connected, watching: Watching): Pass {
  const { told } = watching;
  let hasWorked = false;
  return async (due) => {
    try {
      await reconcile(invocation, connected, { ...due, ...watching });
      hasWorked = true;
    } catch (error) {
      if (invocation.terminal.stopping.aborted) return;
      if (!hasWorked && error instanceof HoldfastError && REFUSED.includes(error.code)) throw error;
      if (error instanceof HoldfastError && error.code === "locked") throw error;
      told.failure(error);
    }
  };
}

async function reconcile(
  invocation: Invocation,
  connected: Connected,
  { told, hurry, lead, again }: Watching & { readonly hurry: AbortSignal },
): Promise<void> {
  const { flags } = invocation;
  const prepared = await prepare(invocation, { mayAsk: false });
  const writer = await lead.writer(prepared);
  // It may have stood by for long: everything may have changed.
  if (writer === null) return again();
  const session = { ...connected.session, writer };
  const options = followOptions(invocation, prepared, { hurry });
  const recovered = await recoverPending(session, options);
  told.diagnostics(prepared.loaded.diagnostics, prepared);
  const recorded = await session.recorded();
  const desired = desiredOf(prepared);
  guardShrinking(session, recorded, prepared, flags);
  const looked = await look(desired, lookingAt(session, recorded, prepared, invocation, { records: true }));
  const hasLease = lead.hasLease();
  told.warnings(hasLease ? [] : otherWriters(looked, session, prepared), prepared);
  const onProgress = (progress: Progress): void => {
    if (progress.what === "left") told.left(progress);
    else options.onProgress(progress);
  };
  const applied = await follow(looked, session, { ...options, onProgress, recovered, hasLease });
  told.applied(applied, looked, prepared);
  if (applied.outcomes.some(({ error }) => error?.code === OTHER_WRITER)) throw overlapped();
  if (lead.isLost()) again();
}

function overlapped(): HoldfastError {
  return new HoldfastError(
    "locked",
    "another writer is at work, and this control plane has no leases to keep it apart",
    {
      hint: "stop one of them, or let both use one state folder",
    },
  );
}
