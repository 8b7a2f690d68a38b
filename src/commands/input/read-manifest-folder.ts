import { existsSync } from "node:fs";
import type { Stop } from "../../clock/clock.ts";
import { isObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { claimsType } from "../../manifests/claims-type.ts";
import { claimsFile, detectOversize } from "../../manifests/detect-file.ts";
import { detectDocument } from "../../manifests/detect-manifest.ts";
import { readOptionsOf } from "../../manifests/source-manifest.ts";
import type { SeedDocument } from "../../server/options.ts";
import { defaultLimits } from "../../source/limits.ts";
import type { Pace } from "../../source/pacer.ts";
import { readFolder } from "../../source/read-folder.ts";
import type { SourceFile } from "../../source/revision.ts";
import type { Fault } from "../../yaml/fault.ts";
import { lineFinder } from "../../yaml/locator.ts";
import { ExactProcess, readYaml } from "../../yaml/read-yaml.ts";

/**
 * Reads every manifest of a folder by the rules of a source, which also skip other documents. The first error in a manifest
 * is thrown; its message begins with `refused`.
 */
export async function readManifestFolder(
  folder: string,
  { refused, ...pace }: Pace & { readonly refused: string },
): Promise<readonly SeedDocument[]> {
  try {
    return await documentsOf(folder, pace);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    throw new HoldfastError("invalid", `${refused}: ${error.message}`, { hint: error.hint, cause: error });
  }
}

async function documentsOf(folder: string, pace: Pace): Promise<readonly SeedDocument[]> {
  if (!existsSync(folder)) {
    throw new HoldfastError("invalid", `the folder ${folder} cannot be read`, { hint: "name an existing folder" });
  }
  const place = { root: folder, cwd: folder, repository: null, limits: defaultLimits };
  const { files, diagnostics } = await readFolder(place, pace);
  const broken = diagnostics.find(({ severity }) => severity === "error");
  if (broken !== undefined) throw refusal(broken.file ?? folder, broken.summary, broken.detail);
  await using exact = new ExactProcess();
  const documents: SeedDocument[] = [];
  for (const file of files) documents.push(...(await documentsIn(file, exact, pace)));
  return documents;
}

async function documentsIn(file: SourceFile, exact: ExactProcess, stop: Stop): Promise<readonly SeedDocument[]> {
  const { path } = file;
  const bytes = await file.bytes(stop);
  const oversize = detectOversize(file, bytes, defaultLimits, claimsType);
  if (oversize === "manifest") throw refusal(path, `larger than ${defaultLimits.fileBytes} bytes`, "Split the file.");
  if (oversize !== null) return [];
  const parsed = await readYaml(bytes, readOptionsOf(file, defaultLimits), exact);
  const { text, faults, documents } = parsed;
  const refuseFirst = (found: readonly Fault[]): void => {
    const fault = found.find(({ severity }) => severity === "error");
    if (fault === undefined) return;
    const { line, column } = lineFinder(text)(fault.offset);
    throw refusal(`${path}:${line}:${column}`, fault.summary, fault.detail);
  };
  if (faults.length > 0 && claimsFile(bytes, parsed, claimsType)) refuseFirst(faults);
  return documents.flatMap((document, at) => {
    const { value } = document;
    const place = documents.length > 1 ? `${path} (document ${at + 1})` : path;
    const detected = detectDocument(document, claimsType);
    if (detected.is === "report" || (detected.is === "other" && detected.hasOurType)) return [];
    if (detected.is === "faulty") throw refusal(place, detected.summary, detected.detail);
    if (detected.is !== "other" || claimsType(document.chunk.text)) refuseFirst(document.faults);
    return isObject(value) && typeof value.type === "string" ? [{ place, manifest: value }] : [];
  });
}

function refusal(place: string, summary: string, detail: string | null): HoldfastError {
  return new HoldfastError("invalid", `${place}: ${summary}`, { hint: detail });
}
