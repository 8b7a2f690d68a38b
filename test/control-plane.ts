import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../src/clock/system.ts";
import { readManifestFolder } from "../src/commands/input/read-manifest-folder.ts";
import { Secret } from "../src/contract/secret.ts";
import { createLog } from "../src/log/log.ts";
import { tokenHash } from "../src/server/auth/authenticate.ts";
import { type ControlPlane, type ControlPlaneOptions, createControlPlane } from "../src/server/control-plane.ts";
import { machine } from "./support/machine.ts";
import { expectPromised } from "./support/promised-reply.ts";
import { databaseOf, statement } from "./support/test-database.ts";

/** A reply as a test looks at it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Reply = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: any };

/** Calls a running control plane as one caller. */
export type Caller = {
  readonly get: (path: string) => Promise<Reply>;
  readonly put: (path: string, body: unknown) => Promise<Reply>;
  readonly post: (path: string, body: unknown) => Promise<Reply>;
};

/** A folder that goes when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts a control plane in a folder of its own, or in the given one, with the data in the database that the tests run
 * on; it is closed when the test is over.
 */
export async function startControlPlane({
  seed,
  ...options
}: Omit<Partial<ControlPlaneOptions>, "seed"> & { readonly seed?: string } = {}): Promise<
  ControlPlane & { readonly admin: Caller; readonly data: string }
> {
  const data = options.data ?? (await temporaryFolder());
  const database = await databaseOf(data);
  const plane = await createControlPlane({
    ...machine,
    rolloutSeconds: 0,
    log: createLog({ level: "silent" }),
    ...(database === null ? {} : { database: new Secret(database) }),
    ...options,
    ...(seed === undefined
      ? {}
      : {
          seed: await readManifestFolder(seed, {
            refused: "seed",
            clock: systemClock,
            signal: AbortSignal.timeout(180_000),
          }),
        }),
    data,
  });
  onTestFinished(() => plane.close());
  return { ...plane, admin: caller(plane.url, plane.adminToken), data };
}

/** Calls as the holder of a token; a reply that the OpenAPI document does not promise fails the test. */
export function caller(url: string, token: Secret): Caller {
  const send = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token.open()}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers } = response;
    const reply: Reply = { status, headers, text, body: JSON.parse(text) };
    expectPromised({ method, path, status, type: headers.get("content-type"), body: reply.body });
    return reply;
  };
  return {
    get: (path) => send("GET", path),
    put: (path, body) => send("PUT", path, body),
    post: (path, body) => send("POST", path, body),
  };
}

/** Makes a user, who has no role yet but those that manifests give to `user:<slug>`. */
export async function addUser(
  { url, data }: { readonly url: string; readonly data: string },
  slug: string,
): Promise<Caller> {
  const token = new Secret(`token-of-${slug.replaceAll("@", "-at-")}`);
  await statement(data, "INSERT INTO users (id, slug, display_name, created_at) VALUES (?, ?, ?, '')", [
    slug,
    slug,
    slug,
  ]);
  await statement(data, "INSERT INTO tokens (hash, user_id, name, created_at) VALUES (?, ?, 'test', '')", [
    tokenHash(token),
    slug,
  ]);
  return caller(url, token);
}

/** The effects that were recorded so far: principal, operation and resource of each. */
export async function effects(data: string): Promise<readonly string[]> {
  const rows = await statement(
    data,
    "SELECT principal || ' ' || operation || ' ' || resource AS effect FROM audit WHERE outcome = 'done' ORDER BY id",
  );
  return rows.map(({ effect }) => String(effect));
}
