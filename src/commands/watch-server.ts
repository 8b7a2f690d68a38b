import type { Webhook } from "../daemon/http/webhooks.ts";
import type { Meter } from "../daemon/network-meter.ts";
import type { PassObserver } from "../daemon/pass-observer.ts";
import type { Invocation } from "./command.ts";
import { terminalLog } from "./command-log.ts";
import { pageTokenReader } from "./last-good-secret.ts";
import { webhooksOf } from "./watch-webhooks.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** What the HTTP server of `watch` is told of the passes of a target. */
export type WatchServer = AsyncDisposable & {
  /** Serves these targets and webhooks from now on; what it knows of other targets is dropped. */
  readonly show: (watching: readonly WatchedTarget[]) => void;
  readonly observe: (target: string) => readonly PassObserver[];
  /** Measures what goes over the network; absent where nobody can ask for it. */
  readonly meter: Meter | undefined;
  /** Shows whether the latest configuration is in force, or why it is refused. */
  readonly configured: (refusal: string | null) => void;
};

/** Starts the HTTP server of `watch` where `--listen` names an address; without it there is none. */
export async function openWatchServer(invocation: Invocation<"listen">): Promise<WatchServer> {
  const { flags, terminal } = invocation;
  if (flags.listen === undefined) return noServer;
  const colon = flags.listen.lastIndexOf(":");
  const host = flags.listen.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(flags.listen.slice(colon + 1));
  // Loaded here, so that a watch without it does not load the server.
  const { startDaemonServer } = await import("../daemon/http/daemon-server.ts");
  const { now, stopping } = terminal;
  let watching: readonly WatchedTarget[] = [];
  let hooks: ReadonlyMap<string, Webhook> = new Map();
  const server = await startDaemonServer({
    host,
    port,
    log: terminalLog(invocation),
    now,
    stopping,
    hookOf: (source) => hooks.get(source),
    page: {
      token: pageTokenReader(terminal),
      targets: () =>
        watching.map(({ recorder, leader }) => ({
          status: recorder.status(),
          passes: recorder.latest(),
          hasLease: leader.hasLease(),
        })),
    },
  });
  let isSaid = false;
  return {
    show: (all) => {
      if (!isSaid) terminal.stderr.write(`health and metrics on ${server.url}\n`);
      isSaid = true;
      watching = all;
      hooks = webhooksOf(all);
      server.keep(all.map(({ target }) => target.choice?.name ?? "default"));
    },
    observe: (target) => [server.observe(target)],
    meter: server.meter,
    configured: server.configured,
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
}

const noServer: WatchServer = {
  show: () => {},
  observe: () => [],
  meter: undefined,
  configured: () => {},
  [Symbol.asyncDispose]: async () => {},
};
