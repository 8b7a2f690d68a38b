import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";

const EARLIER = new Date(Date.now() - 60_000);

/** A package whose bundle and sources print what they are; both were made at the same time. */
async function packageFolder(): Promise<string> {
  const folder = await temporaryFolder();
  cpSync(resolve(import.meta.dirname, "../../bin"), join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [file, text] of [
    ["dist/holdfast.js", 'console.log("bundle")'],
    ["src/cli.ts", 'console.log("sources")'],
    ["schemas/team.json", "{}"],
  ] as const) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
    for (const path of [join(folder, file), join(folder, file, "..")]) utimesSync(path, EARLIER, EARLIER);
  }
  return folder;
}

const run = (folder: string): string =>
  execFileSync(process.execPath, [join(folder, "bin/holdfast.js")], { encoding: "utf8" }).trim();

test("holdfast runs its bundle, in a checkout and where there are no sources", async () => {
  const folder = await packageFolder();
  expect(run(folder)).toBe("bundle");
  for (const sources of ["src", "schemas"]) rmSync(join(folder, sources), { recursive: true });
  expect(run(folder)).toBe("bundle");
});

test.each(["src/cli.ts", "schemas/team.json"])(
  "holdfast runs the sources once %s is newer than the bundle",
  async (file) => {
    const folder = await packageFolder();
    utimesSync(join(folder, file), new Date(), new Date());
    expect(run(folder)).toBe("sources");
  },
);

// Git ignores what is made from the schemas, of a folder as a whole.
const compiled = readFileSync(resolve(import.meta.dirname, "../../.gitignore"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("src/"))
  .map((line) => (line.endsWith("/") ? `${line}types.ts` : line));

test.each(compiled)("holdfast runs its bundle still once a check has made %s again", async (file) => {
  const folder = await packageFolder();
  const made = join(folder, file);
  mkdirSync(join(made, ".."), { recursive: true });
  writeFileSync(made, "");
  for (let path = join(made, ".."); path !== folder; path = join(path, "..")) utimesSync(path, EARLIER, EARLIER);
  expect(run(folder)).toBe("bundle");
});

test("holdfast runs the sources where nothing was built", async () => {
  const folder = await packageFolder();
  rmSync(join(folder, "dist"), { recursive: true });
  expect(run(folder)).toBe("sources");
});

const said = [
  ...["src/**/*.ts", "bin/*", "scripts/**/*.ts", "deploy/**/*", ".github/**/*", "docs/*.md", "examples/**/*", "*.md"],
  ...["Dockerfile", "package.json", "schemas/**/*.json"],
];
// Each of these downloads a package of that name where none is installed. A file is no such name.
const DOWNLOADING =
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun) (?:exec|x|dlx|create|i|install|add))\b(?! --?\S*install| --global (?:--\S+ )*"?(?:\.\/|\$))/;

test("S84 nothing that is said or shipped runs or installs a package by name", () => {
  const files = said.flatMap((pattern) => globSync(pattern, { cwd: resolve(import.meta.dirname, "../..") }));
  expect(files).toEqual(expect.arrayContaining(["bin/holdfast.js", "README.md", "deploy/ci/shell/holdfast-ci"]));
  const lines = files
    .filter((file) => statSync(file).isFile() && file !== "CHANGELOG.md")
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(lines.filter((line) => DOWNLOADING.test(line))).toEqual([]);
  for (const named of ["start it as `npx holdfast …`", "npm install --global holdfast", "npm i -g @a/holdfast"])
    expect([named, DOWNLOADING.test(named)]).toEqual([named, true]);
});

test("S84 holdfast names itself, on a Node that is too old, by what is in the checkout alone", async () => {
  const folder = await packageFolder();
  const program = join(folder, "bin/holdfast.js");
  writeFileSync(program, readFileSync(program, "utf8").replace("< 24", "< 2400"));
  const tryIt = () => spawnSync(process.execPath, [program], { encoding: "utf8" });
  const { status, stderr } = tryIt();
  expect(status).toBe(1);
  const [, script = ""] = /`npm run -s (\w+) -- …`/.exec(stderr) ?? [];
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(scripts[script]).toMatch(/^node (?:--\S+ )*bin\/holdfast\.js$/);
  // An installed package has no scripts to run.
  rmSync(join(folder, "src"), { recursive: true });
  expect(tryIt().stderr).toMatch(/^error: .*: install Node 24, or use the executable of the release [^\n]*\n$/);
});
