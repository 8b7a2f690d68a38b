// src/commands/snapshots: plans against a snapshot instead of live. See docs/pull-requests.md#pull-requests-of-forks.

import { resolve } from "node:path";
import { connect } from "../../client/connect.ts";
import type { JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { count } from "../../render/count-text.ts";
import { printable } from "../../render/escape.ts";
import type { Invocation } from "../command.ts";
import { serverWithToken } from "../connection/open-connection.ts";
import { readManifestFolder } from "../input/read-manifest-folder.ts";
import { sayWait } from "../output/log-stream.ts";
import type { Terminal } from "../terminal.ts";
import { readSnapshotFile } from "./snapshot-file.ts";
import { type ReadSnapshot, takeSnapshot } from "./take-snapshot.ts";

/** Reads the snapshot that `--snapshot` names: a file, or a control plane, which is only read. */
export async function loadSnapshot({ flags, terminal }: Invocation): Promise<ReadSnapshot> {
  const { snapshot: server, tokenFile = null, names, caFile } = flags;
  if (server === undefined) {
    throw new HoldfastError("invalid", "--names is for --snapshot alone", { hint: "name a control plane to copy" });
  }
  if (!/^[a-z]+:\/\//i.test(server)) return readSnapshotFile(resolve(terminal.cwd, server));
  const use = { flags: caFile === undefined ? {} : { caFile }, terminal };
  const { url, token } = await serverWithToken({ server, tokenFile, login: {} }, use);
  const named = names === undefined ? [] : await readNames(resolve(terminal.cwd, names), terminal);
  await using connection = connect({
    server: url,
    token,
    concurrency: 16,
    requestTimeout: 30_000,
    connectTimeout: 10_000,
    ...(caFile === undefined ? {} : { caFile: resolve(terminal.cwd, caFile) }),
    clock: terminal.clock,
    random: terminal.random,
    env: terminal.env,
    userAgent: "holdfast",
    onWait: (text) => sayWait(terminal, text),
    signal: terminal.stopping,
  });
  return await takeSnapshot(connection.reader, named, { signal: terminal.stopping });
}

/** Text with the contents of a snapshot, then one line for everything that could not be read. */
export function snapshotText({ snapshot, unseen }: ReadSnapshot): string {
  const counts = Object.entries(snapshot).map(([what, rows]) => count(rows.length, words(what).replace(/s$/, "")));
  const lines = [`snapshot: ${counts.join(", ")} seen; no token, secret value or job run is copied`];
  return [...lines, ...unseen.map((what) => `not seen: ${printable(what)}`)].map((line) => `${line}\n`).join("");
}

// Turns `mlRepos` into "ml repos".
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

async function readNames(folder: string, { clock, stopping: signal }: Terminal): Promise<readonly JsonObject[]> {
  return (await readManifestFolder(folder, { refused: "--names", clock, signal })).map(({ manifest }) => manifest);
}
