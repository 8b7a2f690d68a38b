import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The marker in a Node binary that tells whether it has a program in it. */
const MARKER = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The flags that `bin/holdfast.js` gives Node. */
const [, FLAGS = ""] = /^#!.*? node (.*)$/m.exec(readFileSync("bin/holdfast.js", "utf8")) ?? [];

/** Puts a built program, the folder with `package.json` and `dist`, into a copy of a Node binary. */
export function writeExecutable(program: string, node: string, output: string): void {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-executable-"));
  try {
    copyFileSync(node, output);
    chmodSync(output, 0o755);
    const args = [output, "NODE_SEA_BLOB", writeBlob(program, folder), "--sentinel-fuse", MARKER];
    const postject = fileURLToPath(import.meta.resolve("postject/dist/cli.js"));
    // It warns of sections of Node that it does not know, and leaves them as they are.
    execFileSync(process.execPath, [postject, ...args], { stdio: "pipe" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Without compiled code in it, it is the same for each architecture.
function writeBlob(program: string, folder: string): string {
  const files = ["package.json", ...globSync("dist/**/*.{js,cjs,json}", { cwd: program })];
  const assets = Object.fromEntries(files.map((file) => [file, resolve(program, file)]));
  for (const name of ["holdfast", "worker"]) {
    const start = join(folder, `start-${name}.cjs`);
    writeFileSync(start, `import("./dist/${name}.js");\n`);
    assets[`start-${name}.cjs`] = start;
  }
  const output = join(folder, "blob");
  const config = {
    main: join(import.meta.dirname, "executable-main.cjs"),
    output,
    assets,
    disableExperimentalSEAWarning: true,
    execArgv: FLAGS.split(" "),
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--experimental-sea-config", join(folder, "config.json")], { stdio: "pipe" });
  return output;
}
