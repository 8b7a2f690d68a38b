import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

type Step = { readonly uses?: string; readonly run?: string; readonly with?: { readonly [name: string]: unknown } };
type Job = {
  readonly permissions?: { readonly [what: string]: string };
  readonly if?: string;
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly on: unknown;
  readonly permissions?: object;
  readonly jobs: { readonly [name: string]: Job };
};

const root = join(import.meta.dirname, "../..");
const folder = join(root, "deploy/ci");
const workflows = globSync("github/workflows/*.yml", { cwd: folder }).map((file) => {
  const text = readFileSync(join(folder, file), "utf8");
  const workflow: Workflow = parse(text);
  return { name: basename(file), text, workflow, jobs: Object.values(workflow.jobs) };
});

/** What the jobs may do, by workflow; everything else they may not. */
const rights: { readonly [name: string]: readonly string[] } = {
  "review.yml": ["contents: read", "pull-requests: write", "statuses: write"],
  "apply.yml": ["contents: read"],
  "drift.yml": ["contents: read", "issues: write"],
  "fork.yml": ["actions: read", "contents: read"],
  "snapshot.yml": ["contents: read"],
  "fork-comment.yml": ["actions: read", "pull-requests: write"],
};

test("S79 each workflow starts from no rights, and its jobs have those that are written down", () => {
  expect(workflows.map(({ name }) => name).toSorted()).toEqual(Object.keys(rights).toSorted());
  for (const { name, workflow, jobs } of workflows) {
    expect(workflow.permissions).toEqual({});
    const granted = jobs.flatMap(({ permissions = { all: "write" } }) =>
      Object.entries(permissions).map((pair) => pair.join(": ")),
    );
    expect([name, [...new Set(granted)].toSorted()]).toEqual([name, rights[name]]);
  }
});

test("S79 no workflow runs a stranger's code with rights or secrets", () => {
  for (const { name, text, workflow, jobs } of workflows) {
    expect([name, text]).toEqual([name, expect.not.stringContaining("pull_request_target")]);
    const isForks = name.startsWith("fork");
    if (isForks) expect([name, text]).toEqual([name, expect.not.stringContaining("secrets.")]);
    const isOfPullRequests = JSON.stringify(workflow.on).includes("pull_request");
    if (isOfPullRequests)
      for (const job of jobs) expect([name, job.if]).toEqual([name, expect.stringContaining("head.repo.full_name")]);
    const uses = jobs.flatMap(({ steps }) => steps.map((step) => step.uses ?? ""));
    // What may comment checks nothing out of the pull request.
    if (name === "fork-comment.yml") expect(uses.join()).not.toContain("checkout");
    for (const step of jobs.flatMap(({ steps }) => steps)) {
      if (step.uses?.startsWith("actions/checkout"))
        expect([name, step.with]).toMatchObject([name, { "persist-credentials": false }]);
    }
  }
});

const action: { readonly runs: { readonly steps: readonly Step[] } } = parse(
  readFileSync(join(folder, "github/action.yml"), "utf8"),
);
const release: Workflow = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8"));

test("S79 actions are pinned by commit, and no event's text becomes part of a script", () => {
  const jobs = [...workflows.flatMap((one) => one.jobs), ...Object.values(release.jobs)];
  const steps = [...jobs.flatMap((job) => job.steps), ...action.runs.steps];
  for (const { uses, run } of steps) {
    if (uses !== undefined)
      expect(uses).toMatch(/^(?:actions\/[\w-]+@[0-9a-f]{40}|OWNER\/holdfast\/deploy\/ci\/github@COMMIT)$/);
    if (run !== undefined) expect(run).not.toContain("${{");
  }
});

test("S79 a release is built and tested without rights, and only its publication may sign and write", () => {
  expect(release).toMatchObject({ on: { push: { tags: ["v*"] } }, permissions: {} });
  const granted = Object.entries(release.jobs).map(([name, { permissions = {} }]) => [name, Object.keys(permissions)]);
  expect(granted).toEqual([
    ["build", ["contents"]],
    ["publish", ["contents", "id-token", "attestations"]],
    ["image", ["contents", "packages", "id-token", "attestations"]],
    ["registry", ["id-token"]],
  ]);
  expect(release.jobs.build?.permissions).toEqual({ contents: "read" });
  const scripts = Object.values(release.jobs).map(({ steps }) => steps.map(({ run = "" }) => run).join("\n"));
  const called = scripts.flatMap((script) => Array.from(script.matchAll(/npm run (\S+)/g), ([, name]) => name));
  const { scripts: ours } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(called.filter((name) => name === undefined || !(name in ours))).toEqual([]);
  expect(scripts.join("\n")).toMatch(/^\.ci\/run$/m);
});

test("every workflow gives the action the digest of the package that it runs", () => {
  const uses = workflows
    .flatMap(({ jobs }) => jobs.flatMap(({ steps }) => steps))
    .filter(({ uses = "" }) => uses.startsWith("OWNER"));
  expect(uses.length).toBeGreaterThan(5);
  for (const step of uses) expect(step.with).toMatchObject({ sha256: "DIGEST" });
});

test("the action installs the package of its release by digest, from the network once, and nothing else", () => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-action-"));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const path = join(place, "_actions/ml/holdfast/0123abc/deploy/ci/github");
  mkdirSync(path, { recursive: true });
  const manifest = { name: "@a/holdfast", version: "1.2.3", bin: { holdfast: "holdfast" } };
  writeFileSync(join(path, "../../../package.json"), JSON.stringify(manifest, null, 2));
  writeFileSync(join(path, "../../../holdfast"), "#!/bin/sh\necho installed\n", { mode: 0o755 });
  spawnSync("npm", ["pack"], { cwd: join(path, "../../..") });
  const releases = join(place, "ml/holdfast/releases/download/v1.2.3");
  mkdirSync(releases, { recursive: true });
  renameSync(join(path, "../../../a-holdfast-1.2.3.tgz"), join(releases, "holdfast-1.2.3.tgz"));
  const digest = createHash("sha256")
    .update(readFileSync(join(releases, "holdfast-1.2.3.tgz")))
    .digest("hex");

  const script = action.runs.steps.find(({ run }) => run?.includes("npm install"))?.run ?? "";
  const install = (SHA256: string) => {
    const own = { RUNNER_TEMP: place, GITHUB_PATH: join(place, "path"), GITHUB_ACTION_PATH: path, SHA256, PACKAGE: "" };
    const env = { PATH: process.env.PATH ?? "", HOME: place, GITHUB_SERVER_URL: `file://${place}`, ...own };
    return spawnSync("sh", ["-e", "-c", script], { encoding: "utf8", env });
  };
  const refused = install("0".repeat(64));
  expect(refused).toMatchObject({
    status: 1,
    stdout: expect.stringContaining(`::error::the package of Holdfast has the digest ${digest}`),
  });
  expect(existsSync(join(place, "holdfast"))).toBe(false);
  expect(install(digest)).toMatchObject({ status: 0, stderr: "" });
  const [bin = ""] = readFileSync(join(place, "path"), "utf8").split("\n");
  expect(spawnSync(join(bin, "holdfast"), { encoding: "utf8" }).stdout).toBe("installed\n");
  // What the cache has kept needs no release.
  rmSync(releases, { recursive: true });
  expect(install(digest)).toMatchObject({ status: 0, stderr: "" });
});

test("S78 a fork's job takes its snapshot from a run that only the schedule or a writer could start", () => {
  const fork = workflows.find(({ name }) => name === "fork.yml");
  const script = fork?.jobs.flatMap(({ steps }) => steps).find(({ run }) => run?.includes("gh run list"))?.run ?? "";
  const bin = mkdtempSync(join(tmpdir(), "holdfast-gh-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  // Runs of pull requests are there too; it answers by the event that it is asked for.
  const gh = `#!/bin/sh\ncase "$*" in *"--event schedule"*) echo "$SCHEDULED" ;; *"--event workflow_dispatch"*) echo "$BY_HAND" ;; *) echo 666 ;; esac\n`;
  writeFileSync(join(bin, "gh"), gh, { mode: 0o755 });
  const outcome = (SCHEDULED: string, BY_HAND: string) => {
    const GITHUB_OUTPUT = join(bin, "output");
    writeFileSync(GITHUB_OUTPUT, "");
    const env = { PATH: `${bin}:${process.env.PATH}`, GITHUB_OUTPUT, SCHEDULED, BY_HAND };
    const { status, stdout } = spawnSync("sh", ["-e", "-c", script], { encoding: "utf8", env });
    return [status, readFileSync(GITHUB_OUTPUT, "utf8"), stdout.split("\n")[0]];
  };
  expect(outcome("41", "42")).toEqual([0, "run=41\n", ""]);
  expect(outcome("", "42")).toEqual([0, "run=42\n", ""]);
  expect(outcome("", "")).toEqual([1, "", expect.stringMatching(/^::error::there is no snapshot yet/)]);
});

test("the component for GitLab has inputs and jobs, and each runs a step that there is", () => {
  const [head, body] = parseAllDocuments(readFileSync(join(folder, "gitlab/templates/holdfast.yml"), "utf8"));
  expect(head?.toJS()).toMatchObject({ spec: { inputs: { image: {}, server: {} } } });
  const jobs: { readonly [name: string]: { readonly script?: readonly string[] } } = body?.toJS();
  const steps = Object.values(jobs).flatMap(({ script = [] }) =>
    script.flatMap((line) => /holdfast-ci (\w+)$/.exec(line)?.slice(1) ?? []),
  );
  const shell = readFileSync(join(folder, "shell/holdfast-ci"), "utf8");
  expect(steps).toEqual(["review", "simulate", "snapshot", "plan", "apply", "drift"]);
  for (const step of steps) expect(shell).toMatch(new RegExp(`^  ${step}\\)`, "m"));
});

test("on GitLab a merge request of a fork is told by its projects, wherever its pipeline runs, and gets no token", () => {
  const [, body] = parseAllDocuments(readFileSync(join(folder, "gitlab/templates/holdfast.yml"), "utf8"));
  const jobs: { readonly [name: string]: { readonly rules?: readonly { readonly if: string }[] } } = body?.toJS();
  const [inside, outside] = ["holdfast-review", "holdfast-fork"].map((name) => jobs[name]?.rules?.[0]?.if ?? "");
  const projects = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID";
  expect(inside).toContain(projects);
  expect(outside).toContain(projects.replace("==", "!="));
  expect(JSON.stringify(jobs["holdfast-fork"])).not.toContain("TOKEN");
});

test.each([
  { plan: 0, gate: "", comment: 0, ends: 0 },
  { plan: 2, gate: "", comment: 0, ends: 0 },
  { plan: 2, gate: "fail", comment: 0, ends: 2 },
  { plan: 3, gate: "", comment: 0, ends: 3 },
  { plan: 2, gate: "", comment: 4, ends: 1 },
])("a review whose plan ends with $plan, gate “$gate”, comment $comment, ends with $ends", (one) => {
  const bin = mkdtempSync(join(tmpdir(), "holdfast-shell-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  const holdfast = `#!/bin/sh\n[ "$1" = plan ] || exit ${one.comment}\n: > "$OUT/review.json"\nexit ${one.plan}\n`;
  writeFileSync(join(bin, "holdfast"), holdfast, { mode: 0o755 });
  writeFileSync(join(bin, "git"), "#!/bin/sh\n", { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, OUT: bin, BASE: "main", GATE: one.gate };
  const ended = spawnSync("sh", [join(folder, "shell/holdfast-ci"), "review"], { encoding: "utf8", env });
  expect(ended).toMatchObject({ status: one.ends });
});

test("a review fetches the ref that says what was applied, with the job's token where it is no argument", () => {
  const bin = mkdtempSync(join(tmpdir(), "holdfast-shell-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  const holdfast = `#!/bin/sh\nprintf "%s" "\${HOLDFAST_APPLIED-unset}"\n`;
  const git = `#!/bin/sh\nprintf "%s %s\\n" "$*" "\${GIT_CONFIG_VALUE_0-}" >> "$OUT/git"\n`;
  writeFileSync(join(bin, "holdfast"), holdfast, { mode: 0o755 });
  writeFileSync(join(bin, "git"), git, { mode: 0o755 });
  const review = (HOLDFAST_APPLIED: string) => {
    const job = { GITHUB_ACTIONS: "true", GITHUB_TOKEN: "CANARY" };
    const env = { PATH: `${bin}:${process.env.PATH}`, OUT: mkdtempSync(join(bin, "out-")), BASE: "main", ...job };
    const ended = spawnSync("sh", [join(folder, "shell/holdfast-ci"), "review"], {
      encoding: "utf8",
      env: { ...env, HOLDFAST_APPLIED },
    });
    expect(ended.status).toBe(0);
    return [ended.stdout, readFileSync(join(env.OUT, "git"), "utf8").split("\n").slice(1, -1)];
  };
  const header = `AUTHORIZATION: basic ${Buffer.from("x-access-token:CANARY").toString("base64")}`;
  const fetched = (ref: string) => [`fetch --quiet --no-tags origin +${ref}:${ref} ${header}`];
  expect(review("refs/holdfast/prod")).toEqual(["refs/holdfast/prod", fetched("refs/holdfast/prod")]);
  expect(review("refs/holdfast/*")).toEqual(["unset", fetched("refs/holdfast/*")]);
  expect(review("")).toEqual(["unset", []]);
});

test("the shell is read by sh, and says how it is used", () => {
  const script = join(folder, "shell/holdfast-ci");
  expect(spawnSync("sh", ["-n", script], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  const ended = spawnSync("sh", [script, "nonsense"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, TMPDIR: "/tmp" },
  });
  expect(ended.status).toBe(64);
  expect(ended.stderr).toContain("usage: holdfast-ci");
});

test("S86 the shell writes to no folder of the checkout but copies, in place of whatever lies there", () => {
  const top = mkdtempSync(join(tmpdir(), "holdfast-shell-"));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const [bin, checkout, OUT] = ["bin", "checkout", "out"].map((name) => join(top, name)) as [string, string, string];
  for (const made of [bin, join(checkout, ".git"), join(checkout, "below")]) mkdirSync(made, { recursive: true });
  const holdfast =
    '#!/bin/sh\nfor last; do :; done\n[ "$1" = apply ] && exec cat "$last"\necho "made by $1" > "$last"\n';
  writeFileSync(join(bin, "holdfast"), holdfast, { mode: 0o755 });
  const run = (step: string, env: { readonly [name: string]: string }) => {
    const { status, stdout, stderr } = spawnSync("sh", [resolve(folder, "shell/holdfast-ci"), step], {
      ...{ encoding: "utf8", cwd: join(checkout, "below"), env: { PATH: `${bin}:${process.env.PATH}`, ...env } },
    });
    return { status, stdout, stderr };
  };
  symlinkSync("checkout", join(top, "link"));
  for (const inside of [join(checkout, "results"), join(top, "link"), "results"])
    expect(run("plan", { OUT: inside })).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("in the checkout"),
    });
  // The change under review has a link where the copies go, which leads to what it must not write.
  const victim = join(top, "victim");
  mkdirSync(victim);
  rmSync(join(checkout, "results"), { recursive: true });
  symlinkSync(victim, join(checkout, "results"));
  const published = { OUT, PUBLISH: join(checkout, "results") };
  expect(run("apply", published)).toMatchObject({ status: 3, stderr: expect.stringContaining("no plan in") });
  expect(run("plan", published)).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(victim)).toEqual([]);
  expect(readFileSync(join(checkout, "results/plan.json"), "utf8")).toBe("made by plan\n");
  rmSync(OUT, { recursive: true });
  expect(run("apply", published)).toMatchObject({ status: 0, stdout: "made by plan\n" });
  expect(run("apply", { OUT })).toMatchObject({ status: 0, stdout: "made by plan\n" });
});
