import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { serveGit } from "../support/git-http.ts";
import { planOf } from "../support/json-output.ts";
import { everyKind, type Files, service, team } from "../support/manifests.ts";
import { runHere } from "../support/run-here.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf } from "../support/upstream.ts";

const REF = "refs/holdfast/prod";
const files = { ...everyKind, ".gitignore": ".holdfast/\n", "other.yaml": service("other", "replicas: 1\n") };
const scaled = (name: string, replicas: number) => service(name, `replicas: ${replicas}\n`);

/** A bare repository, a clone of it on `main`, and commands in that. */
async function clonedBare(server: Server, declared: Files = files) {
  const bare = await bareRepository();
  const source = await sourceOf(declared);
  const { folder } = source;
  const first = await commitAll(folder, "Declare a platform");
  await git(folder, "remote", "add", "origin", bare);
  await git(folder, "push", "--quiet", "--set-upstream", "origin", "main");
  const config = join(await temporaryFolder(), "operator.yaml");
  const prod = { name: "prod", server: server.url, publishRef: true, publishUrl: bare };
  await writeFile(config, stringify({ targets: [prod] }));
  const env = {
    HOLDFAST_CONFIG: config,
    HOLDFAST_TOKEN: server.token,
    HOLDFAST_ALLOW_ADOPT: "true",
    HOLDFAST_ALLOW_PRIVILEGE: "true",
  };
  return {
    ...source,
    bare,
    first,
    run: (...args: readonly string[]) => runHere(args, { cwd: folder, env }),
    runIn: (cwd: string, ...args: readonly string[]) => runHere(args, { cwd, env }),
    published: () => git(bare, "for-each-ref", "--format=%(objectname)", REF),
    commit: async (changed: { readonly [file: string]: string }) => {
      for (const [file, text] of Object.entries(changed)) await source.write(file, text);
      return commitAll(folder, "Change");
    },
  };
}

async function bareRepository(): Promise<string> {
  const bare = await temporaryFolder();
  await git(bare, "init", "--quiet", "--bare", "--initial-branch", "main");
  return bare;
}

test("apply publishes the commit that it has applied whole, and a lost race fails nothing", async () => {
  const teams = { ".gitignore": ".holdfast/\n", "ml.yaml": team("ml"), "other.yaml": team("other") };
  const { run, published, commit, write, folder, bare, first } = await clonedBare(await serve(), teams);
  expect(await run("apply", "--yes", "--only", "team/ml")).toMatchObject({ code: 0 });
  expect(await published()).toBe("");
  const applied = await run("apply", "--yes");
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.stderr).not.toContain("warning");
  expect(await published()).toBe(first);

  await write("other.yaml", team("other", "bob@example.com"));
  const dirty = await run("apply", "--yes", "--log-level", "debug");
  expect(dirty.stderr).toContain("refs/holdfast/prod is not published: the source is no commit");
  expect(await published()).toBe(first);

  // Another writer moves the ref between the look at it and the push.
  const second = await commit({ "other.yaml": team("other", "eve@example.com") });
  await mkdir(join(bare, "hooks"), { recursive: true });
  const hook = join(bare, "hooks", "pre-receive");
  const other = await git(bare, "commit-tree", "-m", "Other", `${first}^{tree}`);
  await writeFile(hook, `#!/bin/sh\nunset GIT_QUARANTINE_PATH\ngit update-ref ${REF} ${other}\n`);
  await chmod(hook, 0o755);
  const raced = await run("apply", "--yes");
  expect(raced).toMatchObject({ code: 0 });
  expect(raced.stderr).toContain(
    "refs/holdfast/prod was not published: another writer moved the ref; it was not changed",
  );
  expect(await published()).toBe(other);

  await writeFile(hook, "#!/bin/sh\necho 'the writer may not' >&2\nexit 1\n");
  const refused = await run("apply", "--yes", "-o", "json");
  expect(refused).toMatchObject({ code: 0 });
  expect(refused.stderr).toMatch(/warning: refs\/holdfast\/prod was not published: .*hook declined/);
  expect(JSON.parse(refused.stdout).diagnostics).toMatchObject([{ severity: "warning", code: "not-published" }]);
  expect(await run("apply", "--yes", "--strict")).toMatchObject({ code: 1 });
  await writeFile(hook, "#!/bin/sh\n");
  expect(await run("plan", "--out", join(await temporaryFolder(), "plan.json"))).toMatchObject({ code: 0 });
  expect(await run("apply", "--yes")).toMatchObject({ code: 0 });
  expect(await published()).toBe(second);

  const third = await commit({ "other.yaml": team("other", "joe@example.com") });
  await git(folder, "push", "--quiet", "origin", "main");
  await writeFile(hook, `#!/bin/sh\nunset GIT_QUARANTINE_PATH\ngit update-ref ${REF} ${third}\n`);
  const agreed = await run("apply", "--yes");
  expect([agreed.code, agreed.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
  expect(await published()).toBe(third);
});

test("a job without a state folder tells what waits from drift by the published ref, where the base contains it", async () => {
  const server = await serve(["--seed", (await sourceOf(files)).folder]);
  const { run, runIn, folder, commit, first, bare } = await clonedBare(server);
  const drifted = await sourceOf({ ...files, "services/api.yaml": scaled("api", 7) }, server);
  const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, HOLDFAST_ALLOW_ADOPT: "true" };
  const moved = await runHere(["apply", "--yes", "--only", "service/dev:web/api"], { cwd: drifted.folder, env });
  expect(moved).toMatchObject({ code: 0 });
  await commit({ "other.yaml": scaled("other", 5), "late.yaml": team("late") });
  await git(folder, "push", "--quiet", "origin", "main", `${first}:${REF}`);
  await git(folder, "checkout", "-q", "-b", "change");
  await commit({ "new.yaml": team("new") });

  const causes = async (cwd: string, ...more: readonly string[]) => {
    const ended = await runIn(cwd, "plan", "--base", "origin/main", "-o", "json", ...more);
    expect(ended).toMatchObject({ code: 0 });
    const { steps, diagnostics } = planOf(ended);
    const told = steps.map(({ identity, causedBy }) => `${identity} ${causedBy}`).toSorted();
    return { told, said: diagnostics.filter(({ code }) => code === "applied-ref").map(({ summary }) => summary) };
  };
  // Live equals an earlier commit, or an earlier version equals the base; whether a new one was applied is not known.
  const unknown = ["service/dev:web/api drift", "service/dev:web/other pending", "team/late unrecorded"];
  expect(await causes(folder)).toEqual({ told: [...unknown, "team/new change"], said: [] });

  await git(folder, "fetch", "--quiet", "origin", "+refs/holdfast/*:refs/holdfast/*");
  const known = ["service/dev:web/api drift", "service/dev:web/other pending", "team/late pending", "team/new change"];
  expect(await causes(folder)).toEqual({ told: known, said: [] });
  const shown = await run("plan", "--base", "origin/main", "-o", "markdown");
  expect(shown.stdout).toMatch(/#### Merged, not yet applied: 2 resources.*#### Drift: 1 resource/s);
  // What the applied commit declares is this repository's own.
  expect(shown.stdout).not.toContain("adopts");
  expect(await causes(folder, "--applied", first)).toEqual({ told: known, said: [] });

  // Of a branch, or of nowhere.
  for (const forged of ["HEAD", await git(folder, "commit-tree", "-m", "Forged", `${first}^{tree}`)]) {
    await git(folder, "update-ref", REF, forged);
    const { told, said } = await causes(folder);
    expect(told).toEqual([...unknown, "team/new change"]);
    expect(said).toEqual([expect.stringContaining("is ignored, since origin/main does not contain its commit")]);
  }
  const absent = await causes(folder, "--applied", "refs/holdfast/none");
  expect(absent.said).toEqual([expect.stringContaining("it is not in this checkout")]);

  const shallow = await temporaryFolder();
  await git(shallow, "clone", "--quiet", "--depth", "1", `file://${bare}`, "clone");
  const clone = join(shallow, "clone");
  await git(clone, "fetch", "--quiet", "--depth", "1", "origin", `+${REF}:${REF}`);
  const cut = await causes(clone);
  expect(cut.told).toEqual(unknown.map((told) => told.replace("pending", "unrecorded")));
  expect(cut.said).toEqual([expect.stringContaining("origin/main does not contain its commit")]);
});

test("watch publishes each commit with a credential of its own, and goes on where it may not", async () => {
  const server = await serve();
  const { first, folder, commit, bare, published } = await clonedBare(server, { "ml.yaml": team("ml") });
  await git(bare, "config", "http.receivepack", "true");
  const remote = await serveGit(bare);
  const tokenFile = join(await temporaryFolder(), "publish-token");
  await writeFile(tokenFile, "CANARY-publish\n");
  const publishing = { publishRef: true, publishCredentials: { username: "bot", tokenFile } };
  const { start } = await operatorOf(
    {
      sources: [{ name: "platform", url: remote.url, ref: "main" }],
      targets: [{ name: "prod", interval: 0.3, ...publishing }],
    },
    server,
  );
  const watch = start(["watch"]);
  await eventually("the first push", async () => (await published()) === first);
  const pushes = remote.requests.filter(({ path }) => path.includes("git-receive-pack"));
  const basic = `Basic ${Buffer.from("bot:CANARY-publish").toString("base64")}`;
  expect(new Set(pushes.map(({ authorization }) => authorization))).toEqual(new Set([basic]));
  const fetches = remote.requests.filter(({ authorization }) => authorization === null);
  expect(fetches.length).toBeGreaterThan(0);

  await git(bare, "config", "http.receivepack", "false");
  await commit({ "late.yaml": team("late") });
  await git(folder, "push", "--quiet", "origin", "main");
  await watch.shows("stderr", /warning: refs\/holdfast\/prod was not published/);
  await git(bare, "config", "http.receivepack", "true");
  const second = await git(folder, "rev-parse", "HEAD");
  await eventually("the second push", async () => (await published()) === second);
  watch.kill("SIGTERM");
  const ended = await watch.ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout + ended.stderr).not.toContain("CANARY");
});
