import { readFileSync, writeFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git, notingGit } from "../support/git.ts";
import { driftOf, planOf } from "../support/json-output.ts";
import { everyKind, team } from "../support/manifests.ts";
import { run } from "../support/process.ts";
import { runnerCommandsIn } from "../support/runner-commands.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** A server that a repository could name, and what reached it. */
async function strangeServer(status = 200, reply = "{}") {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(status, { "content-type": "application/json" }).end(reply);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, requests };
}

/** Puts a bare repository into a folder, as files that can be committed. */
async function plantBare(folder: string, files: { readonly [file: string]: string }): Promise<string> {
  const planted = await sourceOf(files);
  await commitAll(planted.folder, "Plant");
  const gitFolder = join(planted.folder, ".git");
  await cp(gitFolder, folder, { recursive: true });
  await writeFile(join(folder, "config"), "[core]\n\tbare = true\n\trepositoryformatversion = 0\n");
  // Git commits no empty folder, and takes nothing without this one for a repository.
  await writeFile(join(folder, "refs/keep"), "");
  return gitFolder;
}

describe("git", () => {
  test("S42 speaks about the checkout alone, whatever repository lies in the source or is named in the environment", async () => {
    const server = await serve();
    const source = await sourceOf({ "sub/holdfast.yaml": "unknownFields: refuse\n", "sub/team.yaml": team("ml") });
    await commitAll(source.folder, "Declare a team");
    const sub = join(source.folder, "sub");
    await git(source.folder, "checkout", "--quiet", "-b", "change");
    const planted = await plantBare(sub, { "holdfast.yaml": "unknownFields: warn\n", "team.yaml": team("strange") });
    const commit = await commitAll(source.folder, "Bring a repository of its own");

    const environments = [{}, { GIT_DIR: ".", GIT_WORK_TREE: "." }, { GIT_DIR: planted }];
    for (const environment of environments) {
      const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, ...environment };
      const plan = await run(["plan", "--base", "main", "-o", "json"], { cwd: sub, env });
      expect(plan).toMatchObject({ code: 0 });
      expect(planOf(plan)).toMatchObject({ revision: commit, steps: [{ identity: "team/ml" }] });
      const drift = await run(["drift", "--base", "main", "-o", "json"], { cwd: sub, env });
      expect(driftOf(drift).drift).toMatchObject([{ identity: "team/ml" }]);

      await source.write("sub/team.yaml", `${team("ml")}colour: red\n`);
      const strange = await run(["plan", "--base", "main"], { cwd: sub, env });
      expect(strange).toMatchObject({ code: 3 });
      expect(strange.stderr).toContain("unknown field `colour`");
      await source.write("sub/team.yaml", team("ml"));
    }
  });
});

describe("patterns of the repository", () => {
  /** As many files and patterns as it takes to keep a command busy for a while. */
  async function busySource() {
    const name = (n: number) => `${"a".repeat(200)}${n}.yaml`;
    const pattern = (n: number) => `*a?*b${n}*\n*[b]*${n}*\n*a*[c]${n}*\n`;
    const patterns = Array.from({ length: 60 }, (_, n) => pattern(n)).join("");
    const source = await sourceOf({ ".holdfastignore": patterns });
    await Promise.all(Array.from({ length: 4000 }, (_, n) => writeFile(join(source.folder, name(n)), "")));
    return source;
  }

  test("S43 keep neither SIGTERM nor the time limit waiting", async () => {
    const source = await busySource();
    const late = await source.run(["validate", "--timeout", "0.2"]);
    expect(late).toMatchObject({ code: 9, stdout: "" });

    // It lists the files of its commit right before the patterns, and asks git for its settings right after them.
    await git(source.folder, "init", "--quiet");
    await git(source.folder, "add", ".holdfastignore");
    await git(source.folder, "commit", "--quiet", "--message", "Begin");
    const log = join(await temporaryFolder(), "log");
    writeFileSync(log, "");
    const running = source.start(["validate"], { PATH: `${await notingGit(log)}:${process.env.PATH}` });
    await eventually("the patterns", () => readFileSync(log, "utf8").includes(" ls-tree "));
    running.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 143, stdout: "" });
    expect(readFileSync(log, "utf8")).not.toContain("config ");
  });

  test("S43 beyond the limits end the command with their file and line", async () => {
    const wild = "*a".repeat(40);
    const source = await sourceOf({
      ...everyKind,
      "holdfast.yaml": `external:\n  - "${wild}"\n`,
      ".gitignore": `# wild\n${wild}\n`,
    });
    const ended = await source.runHere(["validate"]);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^holdfast\.yaml:2:5: error: .*a glob with at most 32 of the characters \* and \?/m);
    expect(ended.stdout).toMatch(/^\.gitignore:2:1: error: a pattern with more than 32 wildcards/m);
  });
});

describe("a server that the repository names", () => {
  test("S41 gets no request, whichever way the token came and whichever file names it", async () => {
    const { url, requests } = await strangeServer();
    const outside = await temporaryFolder();
    const source = await sourceOf({
      ...everyKind,
      "holdfast.yaml": `server: ${url}\ntokenFile: token\n`,
      "ops/config.yaml": `server: ${url}\n`,
      token: "committed\n",
    });
    const ways = [
      { args: [], env: { HOLDFAST_TOKEN: "secret" } },
      { args: [], env: { HOLDFAST_TOKEN_FILE: "token" } },
      { args: ["--token-file", "token"], env: {} },
      { args: [], env: {} },
      { args: ["--config", "ops/config.yaml"], env: { HOLDFAST_TOKEN: "secret", HOME: outside } },
    ];
    const commands = [["drift"], ["apply", "--yes"], ["watch", "--yes"]];
    const runs = [
      ...ways.map(({ args, env }) => ({ args: ["plan", ...args], env })),
      ...commands.map((args) => ({ args, env: { HOLDFAST_TOKEN: "secret" } })),
    ];
    for (const { args, env } of runs) {
      const ended = await source.runHere(args, env);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(/^error: (?:holdfast|ops\/config)\.yaml sets server.*which only the operator may\n/);
    }
    expect(requests).toEqual([]);
  });

  test("S41 is used when a file outside the source names it", async () => {
    const { url, requests } = await strangeServer();
    const outside = await temporaryFolder();
    const source = await sourceOf(everyKind);
    await writeFile(join(outside, "config.yaml"), `server: ${url}\n`);
    await source.runHere(["plan", "--config", join(outside, "config.yaml")], { HOLDFAST_TOKEN: "secret" });
    expect(requests[0]?.headers.authorization).toBe("Bearer secret");
  });
});

describe("what is printed", () => {
  const commands = [
    "::error file=a::b",
    "##[error]b",
    "##vso[task.setvariable variable=a]b",
    "section_end:1:a\r\u001b[0K",
  ];

  test("S44 commands no CI runner, whatever files, keys and values are called", async () => {
    const source = await sourceOf({
      "::error file=a::b.yaml": "type: team\nname: [\n",
      "##vso[task.complete]c.yaml": team("ml").replace("ada@", "::add-mask::@"),
      "d/::warning::e.yaml": `${team("ml")}"${"##[group]f"}": 1\n"::g::h": 1\n`,
      "section_end:1:i\r\u001b[0K.yaml": "type: team\nname: ::stop-commands::j\nmembers: [a@example.com]\n",
      "::k::l.json": "[1]",
    });
    const runs = [
      ["validate"],
      ["validate", "-o", "json"],
      ["plan", "--server", "http://127.0.0.1:1"],
      ["validate", ...commands],
      ["validate", "--only", ...commands],
      [`--\n${commands.join("\n")}`],
      ["plan", "--server", commands.join("\n")],
    ];
    for (const args of runs) {
      const { code, stdout, stderr } = await source.runHere(args, { HOLDFAST_TOKEN: "any", FORCE_COLOR: "1" });
      expect(code).toBe(3);
      expect(runnerCommandsIn(`${stdout}\n${stderr}`)).toEqual([]);
    }
    const { stdout } = await source.runHere(["validate", "-o", "json"]);
    const files = JSON.parse(stdout).diagnostics.map(({ file }: { readonly file: string }) => file);
    expect(files).toContain("::error file=a::b.yaml");
    expect(files).toContain("##vso[task.complete]c.yaml");
    expect((await source.runHere(["validate"])).stdout).toContain("\n\\u003a:error file=a::b.yaml:");
  });

  test("S44 commands no CI runner, whatever a control plane says", async () => {
    const source = await sourceOf(everyKind);
    const said = commands.map((each) => `\n${each}`).join("");
    for (const status of [400, 403, 422]) {
      const reply = JSON.stringify({ statusCode: status, message: said, error: said, code: said });
      const { url, requests } = await strangeServer(status, reply);
      for (const output of ["text", "json"]) {
        const args = ["plan", "--server", url, "-o", output, "--log-level", "trace"];
        const { stdout, stderr } = await source.runHere(args, { HOLDFAST_TOKEN: "any" });
        expect(runnerCommandsIn(`${stdout}\n${stderr}`)).toEqual([]);
        expect(`${stdout}${stderr}`).toContain("\\u0023#vso[task.setvariable variable=a]b");
      }
      expect(requests.length).toBeGreaterThan(0);
    }
  });
});
