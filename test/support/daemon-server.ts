import { onTestFinished } from "vitest";
import type { Clock } from "../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { nothingShown } from "../../src/daemon/api/dashboard-source.ts";
import { type DaemonServer, startDaemonServer } from "../../src/daemon/http/daemon-server.ts";
import { createLog } from "../../src/log/log.ts";

/** The HTTP server of a daemon without targets. */
export async function emptyDaemonServer({
  token,
  host = "127.0.0.1",
  clock = systemClock,
}: {
  readonly token?: () => string;
  readonly host?: string;
  readonly clock?: Clock;
} = {}): Promise<DaemonServer> {
  const server = await startDaemonServer({
    host,
    port: 0,
    log: createLog({ level: "silent", format: "json", stream: { write: () => {} } }),
    clock,
    random: systemRandom,
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => (token === undefined ? null : new Secret(token())),
    build: { version: "1.2.3", commit: null },
    targets: async () => [],
    gates: async () => ({}),
    dashboard: { ...nothingShown, hosts: () => ["holdfast.example.com", "[fd00::7]"] },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...server, url: server.url.replace("0.0.0.0", "127.0.0.1") };
}
