import type { Webhook } from "../daemon/http/webhooks.ts";
import type { PassObserver } from "../daemon/observer.ts";
import type { Invocation } from "./command.ts";
import { readPageToken } from "./page-token.ts";
import { terminalLog } from "./terminal-log.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** What the HTTP server of `watch` is told of the passes of a target. */
export type WatchServer = AsyncDisposable & { readonly observe: (target: string) => readonly PassObserver[] };

/** Starts the HTTP server of `watch` where `--listen` names an address; without it there is none. */
export async function openWatchServer(
  invocation: Invocation<"listen">,
  hooks: ReadonlyMap<string, Webhook>,
  watching: readonly WatchedTarget[],
): Promise<WatchServer> {
  const { flags, terminal } = invocation;
  if (flags.listen === undefined) return { observe: () => [], [Symbol.asyncDispose]: async () => {} };
  const colon = flags.listen.lastIndexOf(":");
  const host = flags.listen.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(flags.listen.slice(colon + 1));
  // Loaded here, so that a watch without it does not load the server.
  const { startDaemonServer } = await import("../daemon/http/daemon-server.ts");
  const { now, stopping } = terminal;
  const targets = () => watching.map(({ recorder }) => ({ status: recorder.status(), passes: recorder.latest() }));
  const page = { token: () => readPageToken(terminal), targets };
  const server = await startDaemonServer({ host, port, log: terminalLog(invocation), now, stopping, hooks, page });
  terminal.stderr.write(`health and metrics on ${server.url}\n`);
  return { observe: (target) => [server.observe(target)], [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}
