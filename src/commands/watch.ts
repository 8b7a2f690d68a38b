import { errorMessage } from "../contract/error-message.ts";
import { HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { parseKey, type SealKey } from "../seal/seal-key.ts";
import { existingKey, stateSchema } from "../state/open-state.ts";
import type { TargetState } from "../state/state.ts";
import { publicAddress } from "../store/postgres/address.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import { type OperatorFile, readOperatorFile } from "./configuration/read-operator-file.ts";
import type { watch } from "./declarations/watch.ts";
import { givenFlags, logStopRequest, sayStopped } from "./output/lifecycle.ts";
import { logOf, streamFor, tellFailure } from "./output/log-stream.ts";
import { writeWarning } from "./watch/event-reporter.ts";
import { openWatchServer } from "./watch/http-server.ts";
import { createWatchNotifier } from "./watch/notifier.ts";
import { type OpenWatch, openWatch, runWatch, type WatchContext } from "./watch/run-watch.ts";

/** Keeps live equal to the manifests until it is stopped, and reloads a changed configuration. */
export async function run(invocation: InvocationOf<typeof watch>): Promise<number> {
  const { terminal } = invocation;
  const { stopping } = terminal;
  if (stdoutFormat(invocation.flags.output) === "json") terminal.warnings.follow(writeWarning(terminal));
  await using http = await openWatchServer(invocation);
  await using notifier = createWatchNotifier({ ...terminal, meter: http.meter });
  const context: WatchContext = { invocation, http, notifier };
  const open = (operatorFile: OperatorFile): Promise<OpenWatch> => openWatch(context, operatorFile);
  let current = await open(await readOperatorFile(invocation));
  await logStart(invocation, current);
  logStopRequest(terminal, logOf(terminal.stderr));
  terminal.onHangup?.(() => current.daemon.fire("signal"));
  let isReloaded = false;
  // The configuration to roll back to if a new one fails before its first pass.
  let earlier: OpenWatch | null = null;
  try {
    while (!stopping.aborted) {
      const end = await runWatch(current, context, isReloaded);
      await current[Symbol.asyncDispose]();
      if (end.is === "stopped") break;
      if (end.is === "failed" && (earlier === null || current.daemon.hasWorked())) throw end.error;
      if (end.is === "failed") reportUnusable(end.error);
      const next = end.is === "replaced" ? end.next : await open(rolledBack(earlier ?? current, current));
      earlier = end.is === "replaced" ? current : null;
      current = next;
      isReloaded = true;
    }
  } finally {
    await current[Symbol.asyncDispose]();
  }
  if (stopping.reason instanceof HoldfastError && stopping.reason.code === "terminated") {
    sayStopped(terminal, logOf(terminal.stderr));
    return 0;
  }
  throw stopping.reason;

  // The fingerprint of the failed file is kept, so that only a further change reloads it.
  function rolledBack({ operatorFile }: OpenWatch, failed: OpenWatch): OperatorFile {
    return { ...operatorFile, state: failed.operatorFile.state };
  }

  function reportUnusable(error: unknown): void {
    const why = printable(errorMessage(error));
    const message = `the new configuration cannot be used: ${why}`;
    const failure = { message, hint: "going back to the last valid one" };
    tellFailure(streamFor(error, terminal.stderr), "configuration-refused", failure);
    http.configured(why);
    notifier.send({ event: "configuration-refused", target: null, revision: null, summary: message, details: [] });
  }
}

// Text for people begins with what is watched.
async function logStart(invocation: Invocation, { opened, watching: targets }: OpenWatch): Promise<void> {
  const { flags, terminal } = invocation;
  const { version, commit, stderr } = terminal;
  const log = logOf(stderr);
  if (log === null) return;
  const keys = await Promise.all(targets.map(({ state }) => keyOf(state)));
  const servers = targets.map(({ choice }) => choice?.server ?? flags.server ?? opened.operator.server);
  const place = {
    state: opened.database === null ? opened.stateFolder : publicAddress(opened.database),
    schema: await stateSchema(opened.database === null ? "folder" : "database"),
    keys: [...new Set(keys.flatMap((key) => key?.version ?? []))],
    targets: targets.map(({ name }) => name),
    tls: !(flags.embedded ?? false) && servers.every((server) => server?.startsWith("https:") ?? false),
    caFile: flags.caFile !== undefined || targets.some(({ choice }) => choice?.caFile != null),
  };
  const fields = {
    event: "started",
    revision: null,
    identity: null,
    version,
    commit: commit(),
    node: process.version,
    ...place,
  };
  log.info({ ...fields, flags: givenFlags(invocation) }, "started");
}

// The first pass makes the state folder, and refuses a key that cannot be used.
async function keyOf({ folder, readKey }: TargetState): Promise<SealKey | null> {
  const keyText = readKey();
  try {
    return keyText === null ? await existingKey(folder, null) : parseKey(keyText);
  } catch {
    return null;
  }
}
