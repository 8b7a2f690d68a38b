import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Ended } from "./process.ts";

/** Every form in which a secret could slip out. */
function disguises(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    encodeURIComponent(secret),
    [...secret].toReversed().join(""),
    JSON.stringify(secret).slice(1, -1),
    // As text of two bytes for each character.
    Buffer.from(secret, "utf16le").toString(),
  ];
}

/** Fails if a secret is in what runs have printed, in any form. */
export function expectNowhere(secret: string, runs: readonly Ended[]): void {
  for (const { stdout, stderr } of runs) {
    for (const disguise of disguises(secret)) expect(stdout + stderr).not.toContain(disguise);
  }
}

/** Fails if a secret is in a file of a folder, in any form. */
export async function expectInNoFile(secret: string, folder: string, except: readonly string[]): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files.filter((file) => !except.includes(file))) {
    const bytes = await readFile(file);
    for (const disguise of disguises(secret)) expect([file, bytes.includes(disguise)]).toEqual([file, false]);
  }
}
