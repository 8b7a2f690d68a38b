import { constants } from "node:fs";
import { access, mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Secret } from "../contract/secret.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";

/** Where one-time tokens go. */
export type Sink = {
  readonly name: string;
  /** Fails when a token could not be kept; asked before the write that would answer one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Keeps a token durably, reads it back, and answers where it is. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

/** Tokens as files of mode 0600 under `STATE/tokens/<server>/<kind>/<name>`; one that exists is never overwritten. */
export function fileSink(state: string, server: string): Sink {
  const path = (identity: Identity): string => {
    const { kind, key } = splitIdentity(identity);
    return join(state, "tokens", fileName(server.toLowerCase()), kind, fileName(key));
  };
  return {
    name: "file",
    check: async (identity) => {
      const folder = dirname(path(identity));
      await makeFolder(folder);
      await access(folder, constants.W_OK);
    },
    // A token may come unasked for: with a secret store nobody has checked the sink.
    deliver: async (identity, token) => {
      await makeFolder(dirname(path(identity)));
      return writeExclusively(path(identity), token);
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** A name as one path segment: `_` for everything but letters, digits, dots, dashes and underscores. */
function fileName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_");
  return /^\.+$/.test(safe) ? safe.replaceAll(".", "_") : safe;
}

async function writeExclusively(path: string, token: Secret): Promise<string> {
  for (let copy = 1; ; copy += 1) {
    const candidate = copy === 1 ? path : `${path}.${copy}`;
    try {
      await writeDurably(candidate, token);
      return candidate;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

async function writeDurably(path: string, token: Secret): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(`${token.open()}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  if ((await readFile(path, "utf8")) !== `${token.open()}\n`)
    throw new Error(`the token in ${path} does not read back`);
}
