import { accessSync, constants, statSync } from "node:fs";
import { url as debuggerUrl } from "node:inspector";
import { delimiter, join, resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { readGivenText, whyUnreadable } from "../files/read-given-file.ts";
import { isSentInClear } from "../http/loopback.ts";
import type { Log } from "../log/log.ts";
import { printable } from "../render/escape.ts";
import { wrappedLines } from "../render/wrap.ts";
import { adminTokenFile } from "../server/auth/admin-token/token-file.ts";
import { type ControlPlaneOptions, createControlPlane } from "../server/control-plane.ts";
import type { SeedDocument } from "../server/options.ts";
import { isServedRoot } from "../server/resources/staged-artifact/artifact-storage.ts";
import type { FailureRule } from "../server/rollouts/rollout-driver.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import { dataFolder } from "./configuration/data-folder.ts";
import { serverKeyOptions } from "./configuration/data-options.ts";
import { startFailure } from "./connection/start-embedded.ts";
import type { serve } from "./declarations/serve.ts";
import { readManifestFolder } from "./input/read-manifest-folder.ts";
import { givenFlags, logStopRequest, sayStopped } from "./output/lifecycle.ts";
import { logOf } from "./output/log-stream.ts";
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
  // A log of JSON has the same in its first line.
  if (logOf(terminal.stderr) === null) terminal.stderr.write(startText(invocation, folder, plane.url));
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
  const { database, host, port, seed, documentedOnly, unknownFields, rolloutSeconds } = flags;
  const {
    keepDays,
    keepHistories,
    keepRuns,
    keepReplies,
    keepAuditDays,
    keepAuditRows,
    maxLeaseSeconds,
    rateLimit,
    drainSeconds,
    renewSigningKey,
    revoke,
    newAdminToken,
  } = flags;
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
      ...rolloutOptions(invocation),
      ...(seed === undefined ? {} : { seed: await readSeed(seed, terminal) }),
      ...(read === null ? {} : { snapshot: read.snapshot }),
      ...artifactOptions(invocation),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      retention: {
        ...(keepDays === undefined ? {} : { days: keepDays }),
        ...(keepHistories === undefined ? {} : { histories: keepHistories }),
        ...(keepRuns === undefined ? {} : { runs: keepRuns }),
        ...(keepReplies === undefined ? {} : { replies: keepReplies }),
        ...(keepAuditDays === undefined ? {} : { auditDays: keepAuditDays }),
        ...(keepAuditRows === undefined ? {} : { auditRows: keepAuditRows }),
      },
      ...(maxLeaseSeconds === undefined ? {} : { maxLeaseSeconds }),
      ...(drainSeconds === undefined ? {} : { drainSeconds }),
      ...(renewSigningKey === undefined ? {} : { renewSigningKey }),
      ...(revoke === undefined ? {} : { revoke }),
      ...(newAdminToken === undefined ? {} : { newAdminToken }),
      ...tlsOptions(invocation),
      ...oidcOptions(invocation),
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

/** Where things are, and what is simulated. */
function startText({ flags, terminal: { env } }: Invocation, folder: string, url: string): string {
  const rows = {
    docs: `${url}/docs`,
    data: flags.database ? `PostgreSQL; keys and files in ${folder}` : folder,
    "admin token": env.HOLDFAST_ADMIN_TOKEN ? "in HOLDFAST_ADMIN_TOKEN" : adminTokenFile(folder),
    ...(isServedRoot(flags.artifactRoot) && { files: `of staged versions go through ${flags.artifactRoot}` }),
    rollouts: flags.rolloutDriver === undefined ? "simulated: no cluster runs them" : `by ${flags.rolloutDriver}`,
    "job runs": "simulated: no cluster runs them",
  };
  return Object.entries(rows)
    .map(([name, text]) => `${name.padEnd(12)}${printable(text)}\n`)
    .join("");
}

/** Where the files of staged versions go. */
function artifactOptions({ flags, terminal: { cwd } }: Invocation): Partial<ControlPlaneOptions> {
  const { artifactRoot, artifactFolder, stageHours, stageGigabytes } = flags;
  return {
    ...(artifactRoot === undefined ? {} : { artifactRoot }),
    ...(artifactFolder === undefined ? {} : { artifactFolder: resolve(cwd, artifactFolder) }),
    ...(stageHours === undefined ? {} : { stageHours }),
    ...(stageGigabytes === undefined ? {} : { stageBytes: stageGigabytes * 1_000_000_000 }),
  };
}

function tlsOptions({ flags, terminal: { cwd } }: Invocation): Pick<ControlPlaneOptions, "tls"> {
  const { tlsCert, tlsKey } = flags;
  if (tlsCert === undefined && tlsKey === undefined) return {};
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new HoldfastError("invalid", "--tls-cert and --tls-key belong together", { hint: "give both, or neither" });
  }
  return { tls: { certificate: resolve(cwd, tlsCert), key: resolve(cwd, tlsKey) } };
}

/** The failures of simulated rollouts, or the program that carries them out. */
function rolloutOptions({ flags, terminal }: Invocation): Partial<ControlPlaneOptions> {
  const { rolloutDriver, rolloutTimeout = 600, rolloutConcurrency = 4, rolloutFailure } = flags;
  const rules = (rolloutFailure ?? []).map(failureRule);
  if (rolloutDriver === undefined) return { rolloutFailures: rules };
  if (rules.length > 0) {
    throw new HoldfastError(
      "invalid",
      "--rollout-failure is for simulated rollouts, and --rollout-driver replaces them",
      {
        hint: "give one of the two",
      },
    );
  }
  const path = rolloutDriver.includes("/") ? resolve(terminal.cwd, rolloutDriver) : rolloutDriver;
  requireProgram(path, terminal.env);
  // The secrets of the server are in variables of ours.
  const env = Object.fromEntries(Object.entries(terminal.env).filter(([name]) => !name.startsWith("HOLDFAST_")));
  return { rolloutProgram: { path, env, seconds: rolloutTimeout, atOnce: rolloutConcurrency } };
}

// Else every rollout would fail, one by one.
function requireProgram(path: string, { PATH = "" }: Terminal["env"]): void {
  const places = path.includes("/") ? [path] : PATH.split(delimiter).map((folder) => join(folder, path));
  if (places.some(isExecutable)) return;
  throw new HoldfastError("invalid", `--rollout-driver ${printable(path)} is no program that can be started`, {
    hint: "name a file that is executable, or a program in a folder of PATH",
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function failureRule(text: string): FailureRule {
  const [, match = "", failure, after] = /^(.+)=(build|deploy|stuck)(?::(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  if (failure !== "build" && failure !== "deploy" && failure !== "stuck") {
    throw new HoldfastError("invalid", `--rollout-failure ${text} is not GLOB=build, GLOB=deploy or GLOB=stuck`, {
      hint: "give it such as 'service/prod-eu:ranking/*=deploy', or with seconds: 'service/**=deploy:30'",
    });
  }
  return { match, failure, ...(after !== undefined && { afterSeconds: Number(after) }) };
}

function oidcOptions({ flags, terminal: { cwd, env } }: Invocation): Pick<ControlPlaneOptions, "oidc"> {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcGroupsClaim: groupsClaim, caFile } = flags;
  if (issuer === undefined && audience === undefined && groupsClaim === undefined) return {};
  if (!issuer || !audience || groupsClaim === "") {
    throw new HoldfastError("invalid", "--oidc-issuer and --oidc-audience belong together", {
      hint: "give both, with --oidc-groups-claim where groups are teams; or none of them",
    });
  }
  if (isSentInClear(issuer)) {
    throw new HoldfastError("invalid", "the keys of an issuer must not come without TLS", {
      hint: "name the issuer by https://",
    });
  }
  const authorities = caFile === undefined ? [] : [readAuthorities(resolve(cwd, caFile))];
  return { oidc: { issuer, audience, authorities, env, ...(groupsClaim !== undefined && { groupsClaim }) } };
}

function readAuthorities(file: string): string {
  try {
    return readGivenText(file);
  } catch (cause) {
    throw new HoldfastError("invalid", `the CA file ${whyUnreadable(cause)}`, { hint: "check --ca-file", cause });
  }
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
