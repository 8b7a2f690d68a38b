import { glob, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { isObject, type JsonObject } from "../../contract/json.ts";

/** A manifest of a seed folder, and where it stands. */
export type SeedDocument = { readonly place: string; readonly manifest: JsonObject };

/** A seed folder that cannot be carried out: which document, why, and what may be done about it. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly hint: string;

  constructor(message: string, { hint = CORRECT, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}

const CORRECT = "correct it and start again; what was created before it stays";

/** Reads every manifest of a folder; documents without a `type` are not manifests, and are passed over. */
export async function readDocuments(folder: string): Promise<readonly SeedDocument[]> {
  // A glob finds nothing in a folder that is absent, and does not say so.
  await readdir(folder).catch((cause: unknown) => {
    throw new SeedError(`the folder ${folder} cannot be read`, { cause });
  });
  const files: string[] = [];
  for await (const file of glob("**/*.{yaml,yml,json}", { cwd: folder })) files.push(file);
  const documents = await Promise.all(files.toSorted().map((file) => readFileDocuments(folder, file)));
  return documents.flat();
}

async function readFileDocuments(folder: string, file: string): Promise<readonly SeedDocument[]> {
  const text = await readFile(join(folder, file), "utf8");
  // Without pretty errors a message quotes none of the text, which may hold a secret.
  const documents = [...parseAllDocuments(text, { prettyErrors: false })];
  return documents.flatMap((document, at) => {
    const place = documents.length > 1 ? `${file} (document ${at + 1})` : file;
    const [error] = document.errors;
    if (error !== undefined) throw new SeedError(`${place}: not valid YAML (${error.code})`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return isObject(value) && typeof value.type === "string" ? [{ place, manifest: value }] : [];
  });
}
