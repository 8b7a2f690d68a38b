import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFrontProxy } from "../support/front-proxy.ts";
import { foundations } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** The most memory in megabytes that the process of an apply has used, and how it ended. */
export type MeasuredUpload = { readonly megabytes: number; readonly code: number | null; readonly output: string };

// Written at the end of the process, since the kernel forgets it then.
const reportMemory = `
  import { writeSync } from "node:fs";
  process.on("exit", () => writeSync(2, "peak " + process.resourceUsage().maxRSS + " kB\\n"));`;

/** Uploads a version with a file of so many megabytes, to a folder or through the control plane. */
export async function measureUpload(place: "folder" | "served", megabytes: number): Promise<MeasuredUpload> {
  const front = await startFrontProxy();
  const server = await serve(place === "served" ? ["--artifact-root", front.url] : []);
  front.passTo(server.url);
  const model = "type: model-version\nname: ranker\nml_repo: registry\nsource: { type: local, path: ./files }\n";
  const source = await sourceOf({ ...foundations, "ranker.yaml": model }, server);
  await mkdir(join(source.folder, "files"));
  await writeFile(join(source.folder, "files/config.json"), "{}");
  // A file with holes is read as zeros, and takes no room here.
  await using weights = await open(join(source.folder, "files/weights.bin"), "w");
  await weights.truncate(megabytes * 1_000_000);
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reportMemory)}` };
  const { code, stdout, stderr } = await source.run(["apply", "--yes"], env, { once: "a second run uploads nothing" });
  const [, kilobytes = "NaN"] = /^peak (\d+) kB$/m.exec(stderr) ?? [];
  return { megabytes: Math.round(Number(kilobytes) / 1024), code, output: `${stdout}${stderr}` };
}
