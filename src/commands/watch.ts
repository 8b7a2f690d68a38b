import { HoldfastError } from "../core/errors.ts";
import { runDaemon } from "../daemon/daemon.ts";
import { observers } from "../daemon/observer.ts";
import type { InvocationOf } from "./command.ts";
import type { watch } from "./declarations/watch.ts";
import { openTarget } from "./target.ts";
import { createWatchReporter } from "./watch-reporter.ts";
import { openWatchServer } from "./watch-server.ts";

const INTERVAL_S = 60;

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: InvocationOf<typeof watch>): Promise<number> {
  const { flags, terminal } = invocation;
  const { stopping } = terminal;
  // One bad manifest does not stop the others.
  const unattended = { ...invocation, flags: { ...flags, partial: true } };
  await using target = await openTarget(unattended, { reading: false, unattended: true });
  await using http = await openWatchServer(invocation);
  const { tell, failure } = observers([createWatchReporter(invocation), ...http.observe("default")]);
  const intervalMs = (flags.interval ?? INTERVAL_S) * 1000;
  await runDaemon(target, { ...terminal, tell, intervalMs, onFailure: failure });
  if (stopping.reason instanceof HoldfastError && stopping.reason.code === "terminated") return 0;
  throw stopping.reason;
}
