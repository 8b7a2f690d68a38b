import { existsSync } from "node:fs";
import { isObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SeedDocument } from "../../server/options.ts";
import { defaultLimits } from "../../source/limits.ts";
import { readFolder } from "../../source/read-folder.ts";
import type { SourceFile } from "../../source/revision.ts";
import { formatOf } from "../../yaml/document.ts";
import { ExactThread } from "../../yaml/exact/exact-thread.ts";
import { lineFinder } from "../../yaml/locator.ts";
import { readYaml } from "../../yaml/read-yaml.ts";

/**
 * Reads every manifest of a folder by the rules of a source; documents without a `type` are none, and are passed over.
 * `refused` begins what is said where that cannot be done.
 */
export async function readManifestFolder(
  folder: string,
  { refused, signal }: { readonly refused: string; readonly signal: AbortSignal },
): Promise<readonly SeedDocument[]> {
  try {
    return await documentsOf(folder, { signal });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    throw new HoldfastError("invalid", `${refused}: ${error.message}`, { hint: error.hint, cause: error });
  }
}

async function documentsOf(folder: string, stop: { readonly signal: AbortSignal }): Promise<readonly SeedDocument[]> {
  if (!existsSync(folder)) {
    throw new HoldfastError("invalid", `the folder ${folder} cannot be read`, { hint: "name an existing folder" });
  }
  const place = { root: folder, cwd: folder, repository: null, limits: defaultLimits };
  const { files, diagnostics } = await readFolder(place, stop);
  const broken = diagnostics.find(({ severity }) => severity === "error");
  if (broken !== undefined) throw refusal(broken.file ?? folder, broken.summary, broken.detail);
  await using exact = new ExactThread();
  const documents: SeedDocument[] = [];
  for (const file of files) documents.push(...(await documentsIn(file, exact)));
  return documents;
}

async function documentsIn(file: SourceFile, exact: ExactThread): Promise<readonly SeedDocument[]> {
  const { path, size } = file;
  if (size > defaultLimits.fileBytes) throw refusal(path, `larger than ${defaultLimits.fileBytes} bytes`, null);
  const options = { format: formatOf(path) ?? "yaml", limits: defaultLimits, worthy: null };
  const { text, faults, documents } = await readYaml(file.bytes(), options, exact);
  const [fault] = [...faults, ...documents.flatMap((document) => document.faults)].filter(
    ({ severity }) => severity === "error",
  );
  if (fault !== undefined) {
    const { line, column } = lineFinder(text)(fault.offset);
    throw refusal(`${path}:${line}:${column}`, fault.summary, fault.detail);
  }
  return documents.flatMap(({ value }, at) => {
    const place = documents.length > 1 ? `${path} (document ${at + 1})` : path;
    return isObject(value) && typeof value.type === "string" ? [{ place, manifest: value }] : [];
  });
}

function refusal(place: string, summary: string, detail: string | null): HoldfastError {
  return new HoldfastError("invalid", `${place}: ${summary}`, { hint: detail });
}
