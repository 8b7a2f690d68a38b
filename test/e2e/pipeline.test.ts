import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { forgeFacts, startGitHub, startGitLab } from "../support/fake-forge.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { holdfastOnPath } from "../support/holdfast-on-path.ts";
import { startReceiver } from "../support/http-receiver.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { runHere } from "../support/run-here.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const SCRIPT = resolve(import.meta.dirname, "../../deploy/ci/shell/holdfast-ci");
const files = { ...everyKind, ".gitignore": ".holdfast/\n", "other.yaml": service("other", "replicas: 1\n") };

type Step = { readonly code: number; readonly stdout: string; readonly stderr: string };
type Pipeline = Source & {
  readonly out: string;
  readonly step: (name: string, env?: { readonly [name: string]: string }) => Promise<Step>;
};

/** A clone of a bare repository, and the shell of a job in it with `holdfast` on its path. */
async function pipelineOf(server: Server | null): Promise<Pipeline> {
  const [bare, bin, out] = await Promise.all([temporaryFolder(), holdfastOnPath(), temporaryFolder()]);
  await git(bare, "init", "--quiet", "--bare", "--initial-branch", "main");
  const source = await sourceOf(files, server ?? undefined);
  await commitAll(source.folder, "Declare a platform");
  await git(source.folder, "remote", "add", "origin", bare);
  await git(source.folder, "push", "--quiet", "--set-upstream", "origin", "main");
  const known = server === null ? {} : { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };
  const step = (name: string, env = {}): Promise<Step> =>
    new Promise((done) => {
      const options = {
        cwd: source.folder,
        env: { PATH: `${bin}:${process.env.PATH}`, HOME: bin, OUT: out, ...known, ...env },
      };
      execFile("sh", [SCRIPT, name], options, (error, stdout, stderr) => {
        done({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 255, stdout, stderr });
      });
    });
  return { ...source, out, step };
}

async function push(
  { folder, write }: Pipeline,
  branch: string,
  changed: { readonly [file: string]: string },
): Promise<string> {
  await git(folder, "checkout", "-q", "-B", branch);
  for (const [file, text] of Object.entries(changed)) await write(file, text);
  const commit = await commitAll(folder, "Change");
  await git(folder, "push", "--quiet", "origin", branch);
  return commit;
}

test("the shell of the pipeline reviews a pull request, applies its merge and reports drift", async () => {
  const server = await serve(["--seed", (await sourceOf(files)).folder]);
  const pipeline = await pipelineOf(server);
  const fake = await startGitLab(onTestFinished);
  const job = (head: string) => ({
    GITLAB_CI: "true",
    CI_PROJECT_PATH: forgeFacts.repository,
    CI_API_V4_URL: fake.apiUrl,
    CI_MERGE_REQUEST_IID: String(forgeFacts.number),
    CI_COMMIT_SHA: head,
    GITLAB_TOKEN: forgeFacts.token,
  });
  const review = (head: string, env = {}): Promise<Step> => {
    fake.pull.head = head;
    const COUNTS = join(pipeline.out, "counts.json");
    return pipeline.step("review", { BASE: "origin/main", COUNTS, ...job(head), ...env });
  };
  const head = await push(pipeline, "change", { "other.yaml": service("other", "replicas: 3\n") });
  await git(pipeline.folder, "push", "--quiet", "origin", "main:refs/holdfast/prod");
  expect(await review(head, { GATE: "fail", HOLDFAST_APPLIED: "refs/holdfast/*" })).toMatchObject({ code: 2 });
  const applied = await git(pipeline.folder, "rev-parse", "refs/holdfast/prod");
  expect(applied).toBe(await git(pipeline.folder, "rev-parse", "main"));
  expect(fake.comments.at(-1)?.body).toContain("#### This change: 1 resource");
  expect(JSON.parse(await readFile(join(pipeline.out, "counts.json"), "utf8"))).toMatchObject({ update: 1 });
  const broken = await push(pipeline, "change", { "broken.yaml": "type: team\nname: broken\nmembers: []\n" });
  expect(await review(broken)).toMatchObject({ code: 3 });
  expect(fake.comments.at(-1)?.body).toContain("### Holdfast: no plan");
  expect(fake.comments).toHaveLength(3);
  expect((await review(broken, { BASE: "origin/none" })).stderr).toContain("fetch-depth: 0");

  await git(pipeline.folder, "checkout", "-q", "main");
  await git(pipeline.folder, "merge", "-q", head);
  expect(await pipeline.step("plan")).toMatchObject({ code: 0 });
  expect(await pipeline.step("apply")).toMatchObject({ code: 0 });
  expect(server.effects().filter(({ resource }) => resource === "service/dev:web/other")).toHaveLength(2);
  const behind = await sourceOf({ ...files, "other.yaml": service("other", "replicas: 9\n") });
  const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, HOLDFAST_ALLOW_ADOPT: "true" };
  const moved = ["apply", "--yes", "--only", "service/dev:web/other"];
  expect(await runHere(moved, { cwd: behind.folder, env })).toMatchObject({ code: 0 });
  const scheduled = { ...job(""), ISSUE: "true" };
  expect(await pipeline.step("drift", scheduled)).toMatchObject({ code: 2 });
  expect(fake.issues.at(-1)).toMatchObject({
    title: "Holdfast: drift",
    body: expect.stringContaining("1 drifted"),
    isOpen: true,
  });
  expect(await readFile(join(pipeline.out, "drift.md"), "utf8")).toContain("### Holdfast: 1 drifted");
});

test("the shell of a fork's job simulates without a token, and another job shows that unverified", async () => {
  const server = await serve(["--seed", (await sourceOf(files)).folder]);
  const operator = await pipelineOf(server);
  expect(await operator.step("snapshot", { PUBLIC: "true" })).toMatchObject({ code: 0 });
  const fork = await pipelineOf(null);
  const head = await push(fork, "feature", { "new.yaml": team("new") });
  const snapshot = await readFile(join(operator.out, "snapshot.json"), "utf8");
  const { url: SNAPSHOT } = await startReceiver((response, nth) => {
    response.writeHead(nth === 1 ? 404 : 200).end(nth === 1 ? "" : snapshot);
  });
  const absent = await fork.step("simulate", { BASE: "origin/main", SNAPSHOT });
  expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining("error: there is no snapshot at http://") });
  expect(await fork.step("simulate", { BASE: "origin/main", SNAPSHOT })).toMatchObject({ code: 0 });
  expect(await readFile(join(fork.out, "review.md"), "utf8")).toContain("### Holdfast simulation: 1 to create");
  const fake = await startGitHub(onTestFinished);
  fake.pull.head = head;
  const event = join(fork.out, "event.json");
  const run = { head_branch: "feature", head_sha: head, head_repository: { owner: { login: "stranger" } } };
  await writeFile(event, JSON.stringify({ workflow_run: run }));
  const shown = await fork.step("comment", {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: forgeFacts.repository,
    GITHUB_API_URL: fake.apiUrl,
    GITHUB_EVENT_PATH: event,
    GITHUB_TOKEN: forgeFacts.token,
  });
  expect(shown).toMatchObject({ code: 0 });
  expect(fake.comments.at(-1)?.body).toMatch(/\*\*Unverified\*\*.*### Holdfast simulation: 1 to create/s);
  expect(fake.statuses).toEqual([]);
});
