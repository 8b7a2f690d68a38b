import { rmSync } from "node:fs";
import { bundle } from "./build/bundle.ts";

/** Where the bundle goes: `dist`, or the folder that is named. */
const outdir = process.argv[2] ?? "dist";
rmSync(outdir, { recursive: true, force: true });
await bundle({ holdfast: "src/cli.ts" }, outdir);
