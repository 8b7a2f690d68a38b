import { isDeepStrictEqual } from "node:util";
import { shapes } from "../../src/contract/generated/shapes.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { fillDefaults } from "../../src/contract/manifest-shape.ts";
import { listLive } from "./list-live.ts";
import { keyOf, listFiles, readManifest } from "./read-manifests.ts";

/** A cold `plan` with nothing but its unavoidable work: read, parse, validate, list live, compare. */
const [, , folder = "."] = process.argv;
const desired = listFiles(folder).map(readManifest);
const live = new Map((await listLive()).map((manifest) => [keyOf(manifest), manifest]));
const same = desired.filter((manifest) => isSame(manifest, live.get(keyOf(manifest))));
process.stdout.write(`${JSON.stringify({ manifests: desired.length, same: same.length })}\n`);

function isSame(manifest: JsonObject, found: JsonObject | undefined): boolean {
  const shape = shapes[String(manifest.type)];
  if (found === undefined || shape === undefined) return false;
  // The number of a version is the server's to write.
  const { version, ...unnumbered } = found;
  return isDeepStrictEqual(fillDefaults(shape, manifest), manifest.version === version ? found : unnumbered);
}
