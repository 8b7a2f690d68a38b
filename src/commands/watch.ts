import { HoldfastError } from "../core/errors.ts";
import type { Progress } from "../engine/apply.ts";
import { follow, recoverPending } from "../engine/follow.ts";
import { look } from "../engine/look.ts";
import { createTrigger, loop } from "../engine/loop.ts";
import { lockState } from "../engine/state.ts";
import { watchSource } from "../source/watch.ts";
import type { Invocation } from "./command.ts";
import { type Connected, openConnection } from "./connection.ts";
import { followOptions } from "./following.ts";
import { desiredOf, lookingAt } from "./looking.ts";
import { prepare } from "./prepare.ts";
import { guardShrinking } from "./shrinking.ts";
import { createTeller, type Teller } from "./teller.ts";

const INTERVAL_S = 60;

type Pass = Parameters<typeof loop>[0];

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const first = await prepare(invocation);
  await using connected = await openConnection(invocation, first, { reading: false });
  await using _lock = lockState(connected.state);
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
  await loop(passes(invocation, connected, told), { trigger, intervalMs, signal: terminal.stopping });
  await told.settled();
  if (terminal.stopping.reason instanceof HoldfastError && terminal.stopping.reason.code === "terminated") return 0;
  throw terminal.stopping.reason;
}

// A pass that fails leaves everything as it was; the next one looks again. Only a token that was never taken ends it.
function passes(invocation: Invocation, connected: Connected, told: Teller): Pass {
  let hasWorked = false;
  return async (due) => {
    try {
      await reconcile(invocation, connected, { ...due, told });
      hasWorked = true;
    } catch (error) {
      if (invocation.terminal.stopping.aborted) return;
      if (!hasWorked && error instanceof HoldfastError && error.code === "unauthorized") throw error;
      told.failure(error);
    }
  };
}

async function reconcile(
  invocation: Invocation,
  { session }: Connected,
  { told, hurry }: { readonly told: Teller; readonly hurry: AbortSignal },
): Promise<void> {
  const { terminal, flags } = invocation;
  const prepared = await prepare(invocation);
  const options = followOptions(invocation, prepared, { hurry });
  const interrupted = await recoverPending(session, options);
  told.diagnostics([...prepared.loaded.diagnostics, ...interrupted], prepared);
  const recorded = await session.recorded();
  const desired = desiredOf(prepared);
  guardShrinking(session, recorded, prepared, flags);
  const looked = await look(
    desired,
    lookingAt(session, recorded, prepared, { records: true, signal: terminal.stopping }),
  );
  const onProgress = (progress: Progress): void => {
    if (progress.what === "left") told.left(progress);
    else options.onProgress(progress);
  };
  const applied = await follow(looked, session, { ...options, onProgress });
  told.applied(applied, looked, prepared);
}
