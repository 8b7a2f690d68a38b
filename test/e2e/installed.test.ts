import { execFileSync, spawnSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { writeExecutable } from "../../scripts/package/executable.ts";
import { needsRoot } from "../support/as-root.ts";
import { temporaryFolder } from "../support/folder.ts";
import { git } from "../support/git.ts";
import { everyKind } from "../support/manifests.ts";
import { startNode } from "../support/process.ts";
import { sourceOf } from "../support/source.ts";

const MB = 1e6;
/** The folder that the package is made of. */
const built = (): string => dirname(dirname(inject("holdfast")));
/** A text that only the process of the exact reader reads. */
const quoted = { "zz.yaml": 'type: team\nname: "zz"\nmembers: &members [ada@example.com]\n' };

/** Packs the built program and installs it, as a user does; answers the folder of the installed package. */
async function install(): Promise<{ readonly size: number; readonly command: string; readonly folder: string }> {
  const place = await temporaryFolder();
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const npm = (...args: readonly string[]) => execFileSync("npm", args, { cwd: place, env, stdio: "pipe" }).toString();
  npm("pack", "--ignore-scripts", built());
  const [file = ""] = await readdir(place);
  const told = npm("install", "--global", "--offline", "--prefix", join(place, "prefix"), `./${file}`);
  expect(told).toMatch(/^\s*added 1 package in \S+\s*$/);
  const { name } = JSON.parse(await readFile("package.json", "utf8"));
  const folder = join(place, "prefix/lib/node_modules", name);
  return { size: (await stat(join(place, file))).size, command: join(place, "prefix/bin/holdfast"), folder };
}

describe("the package", () => {
  test("installs alone in less than 17 MB, and its commands find all of their files", async () => {
    const { size, command, folder } = await install();
    const sizes = globSync("**/*", { cwd: folder }).map((file) => statSync(join(folder, file)).size);
    expect(sizes.reduce((sum, one) => sum + one, size)).toBeLessThan(17 * MB);
    const { dependencies, optionalDependencies, scripts } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    expect({ dependencies, optionalDependencies, prepare: scripts.prepare, install: scripts.install }).toEqual({});

    const source = await sourceOf({ ...everyKind, ...quoted });
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: source.folder };
    const validated = spawnSync(command, ["validate"], { cwd: source.folder, env, encoding: "utf8" });
    expect(validated).toMatchObject({ status: 0, stdout: "9 manifests in 9 files: valid\n", stderr: "" });
    const version = spawnSync(command, ["--version"], { env, encoding: "utf8" });
    expect(version.stdout).toMatch(
      /^holdfast \d+\.\d+\.\d+ \(commit [0-9a-f]{40}(?:-changed)?, Node v24\.\d+\.\d+\)\n$/,
    );

    const start = (args: readonly string[], more = {}) =>
      startNode([join(folder, "bin/holdfast.js"), ...args], { cwd: source.folder, env: { ...env, ...more } });
    const data = await temporaryFolder();
    const [, url = ""] = await start(["serve", "--port", "0", "--data", data]).shows("stdout", /^listening on (\S+)\n/);
    const openApi = await fetch(`${url}/openapi.json`);
    expect(await openApi.json()).toMatchObject({ openapi: expect.any(String) });
    const connection = { HOLDFAST_SERVER: url, HOLDFAST_TOKEN_FILE: join(data, "admin-token") };
    const planned = await start(["plan"], connection).ended;
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining("9 to create") });
    const watch = start(["watch", "--sink", "file", "--allow-privilege", "-o", "text"], connection);
    await watch.shows("stdout", /^Applied: 9 created/m);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });

  test("names the two ways out, in one line, on a Node that is too old", async ({ skip }) => {
    const node = "/usr/bin/node";
    const { stdout = "" } = spawnSync(node, ["--version"], { encoding: "utf8" });
    const major = Number(/^v(\d+)/.exec(stdout)?.[1]);
    skip(!(major < 24), `${node} is no older Node here (${stdout.trim() || "there is none"})`);
    const { status, stdout: out, stderr } = spawnSync(node, [inject("holdfast"), "validate"], { encoding: "utf8" });
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(stderr).toBe(
      `error: holdfast needs Node 24 or newer, this is ${stdout.trim()}: install Node 24, or use the executable of the release (holdfast-linux-x64), which needs no Node\n`,
    );
  });
});

describe("the executable", () => {
  /** A root with the executable, git, and the libraries that both are linked with. */
  async function rootFolder(): Promise<string> {
    const root = await temporaryFolder();
    await chmod(root, 0o755);
    for (const folder of ["bin", "dev", "tmp", "source"]) await mkdir(join(root, folder));
    const executable = join(root, "bin/holdfast");
    writeExecutable(built(), process.execPath, executable);
    const program = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    await copyFile(program, join(root, "bin/git"));
    const linked = execFileSync("ldd", [executable, program], { encoding: "utf8" });
    for (const [library] of new Set(linked.matchAll(/\/\S+\.so\S*/g))) {
      await mkdir(dirname(join(root, library)), { recursive: true });
      await copyFile(library, join(root, library));
    }
    // The kernel's, as every container has it.
    execFileSync("mknod", ["-m", "666", join(root, "dev/null"), "c", "1", "3"]);
    return root;
  }

  test("runs in a root that has glibc, git and nothing else", async (context) => {
    needsRoot(context);
    context.skip(process.platform !== "linux", "executables are made for Linux");
    const root = await rootFolder();
    const source = await sourceOf({ ...everyKind, ...quoted });
    await git(source.folder, "init", "--quiet");
    await cp(source.folder, join(root, "source"), { recursive: true });
    expect((await readdir(join(root, "bin"))).toSorted()).toEqual(["git", "holdfast"]);

    const run = (...args: readonly string[]) => {
      const words = [root, "/bin/holdfast", ...args, "--source", "/source"];
      return spawnSync("/usr/sbin/chroot", words, { env: { PATH: "/bin" }, encoding: "utf8" });
    };
    expect(run("validate")).toMatchObject({ status: 0, stdout: "9 manifests in 9 files: valid\n", stderr: "" });
    const applied = run("apply", "--embedded", "--yes", "--allow-privilege");
    expect(applied).toMatchObject({ status: 0, stdout: expect.stringContaining("9 created") });
    const planned = run("plan", "--embedded");
    expect(planned).toMatchObject({ status: 0, stdout: "Plan: nothing to do, 9 unchanged\n" });
  });
});
