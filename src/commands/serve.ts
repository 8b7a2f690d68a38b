import { url as debuggerUrl } from "node:inspector";
import { resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Log } from "../log/log.ts";
import { wrappedLines } from "../render/wrap.ts";
import { type ControlPlaneOptions, createControlPlane } from "../server/control-plane.ts";
import type { SeedDocument } from "../server/options.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import { dataFolder } from "./configuration/data-folder.ts";
import { serverKeyOptions } from "./configuration/data-options.ts";
import { startFailure } from "./connection/start-embedded.ts";
import type { serve } from "./declarations/serve.ts";
import { readManifestFolder } from "./input/read-manifest-folder.ts";
import { givenFlags, logStopRequest, sayStopped } from "./output/lifecycle.ts";
import { terminalLog } from "./output/terminal-log.ts";
import type { ReadSnapshot } from "./snapshots/take-snapshot.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";

/** Runs the control plane until it is stopped. */
export async function run(invocation: InvocationOf<typeof serve>): Promise<number> {
  refuseDebugger(invocation);
  const { terminal } = invocation;
  const folder = await dataFolder(invocation);
  const log = terminalLog(invocation, "info");
  await using plane = await start(invocation, { folder, log });
  logStopRequest(terminal, log);
  await writeResult(terminal, `listening on ${plane.url}\n`);
  await new Promise<void>((done) => {
    if (terminal.stopping.aborted) done();
    terminal.stopping.addEventListener("abort", () => done(), { once: true });
  });
  await plane.close();
  const { reason } = terminal.stopping;
  if (reason instanceof HoldfastError && reason.code === "terminated") {
    sayStopped(terminal, log);
    return 0;
  }
  throw reason;
}

async function start(
  invocation: Invocation,
  { folder, log }: { readonly folder: string; readonly log: Log },
): Promise<Awaited<ReturnType<typeof createControlPlane>>> {
  const { flags, terminal } = invocation;
  const { artifactRoot, database, host, port, seed, documentedOnly, unknownFields, rolloutSeconds } = flags;
  const { maxLeaseSeconds, rateLimit, drainSeconds, renewSigningKey, revoke, newAdminToken } = flags;
  const adminToken = terminal.env.HOLDFAST_ADMIN_TOKEN;
  try {
    const read = await readSnapshotOf(invocation);
    return await createControlPlane({
      clock: terminal.clock,
      random: terminal.random,
      data: folder,
      ...(database ? { database: new Secret(database) } : {}),
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(documentedOnly === undefined ? {} : { documentedOnly }),
      ...(unknownFields === undefined ? {} : { unknownFields }),
      ...(rolloutSeconds === undefined ? {} : { rolloutSeconds }),
      ...(seed === undefined ? {} : { seed: await readSeed(seed, terminal) }),
      ...(read === null ? {} : { snapshot: read.snapshot }),
      ...(artifactRoot === undefined ? {} : { artifactRoot }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(maxLeaseSeconds === undefined ? {} : { maxLeaseSeconds }),
      ...(drainSeconds === undefined ? {} : { drainSeconds }),
      ...(renewSigningKey === undefined ? {} : { renewSigningKey }),
      ...(revoke === undefined ? {} : { revoke }),
      ...(newAdminToken === undefined ? {} : { newAdminToken }),
      ...tlsOptions(invocation),
      ...serverKeyOptions(terminal),
      ...(adminToken ? { adminToken: new Secret(adminToken) } : {}),
      build: { version: terminal.version, commit: terminal.commit() },
      startedWith: givenFlags(invocation),
      ending: terminal.signal,
      log,
    });
  } catch (error) {
    throw startFailure(error, folder);
  }
}

function tlsOptions({ flags, terminal: { cwd } }: Invocation): Pick<ControlPlaneOptions, "tls"> {
  const { tlsCert, tlsKey } = flags;
  if (tlsCert === undefined && tlsKey === undefined) return {};
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new HoldfastError("invalid", "--tls-cert and --tls-key belong together", { hint: "give both, or neither" });
  }
  return { tls: { certificate: resolve(cwd, tlsCert), key: resolve(cwd, tlsKey) } };
}

function readSeed(folder: string, { clock, cwd, stopping: signal }: Terminal): Promise<readonly SeedDocument[]> {
  return readManifestFolder(resolve(cwd, folder), { refused: "the seed is refused", clock, signal });
}

/** Reads the snapshot that `--snapshot` names and reports its contents; null without the flag. */
async function readSnapshotOf(invocation: Invocation): Promise<ReadSnapshot | null> {
  const { flags, terminal } = invocation;
  if (flags.snapshot === undefined && flags.names === undefined) return null;
  // Loaded here, so that a server without a snapshot does not load the client.
  const { snapshotText, loadSnapshot } = await import("./snapshots/load-snapshot.ts");
  const read = await loadSnapshot(invocation);
  terminal.stderr.write(wrappedLines(snapshotText(read), columnsOn(terminal.stderr)));
  return read;
}

// A debugger's port exposes every secret in the process.
function refuseDebugger({ terminal }: Invocation): void {
  if (terminal.env.NODE_ENV !== "production" || debuggerUrl() === undefined) return;
  throw new HoldfastError("invalid", "the control plane does not start under a debugger where NODE_ENV is production", {
    hint: "leave out --inspect, also in NODE_OPTIONS",
  });
}
