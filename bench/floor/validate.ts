import { listFiles, readManifest } from "./read-manifests.ts";

/** `validate` with nothing but its unavoidable work: read, js-yaml, the precompiled validators. */
const [, , folder = "."] = process.argv;
process.stdout.write(`${JSON.stringify({ manifests: listFiles(folder).map(readManifest).length })}\n`);
