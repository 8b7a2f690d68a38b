import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Caller, startControlPlane } from "../control-plane.ts";

const PROMPTS = "/api/ml/v1/prompt-versions";
const MODELS = "/api/ml/v1/model-versions";
const REPOS = "/api/ml/v1/ml-repos";
const WRITE_REPO = "/api/svc/v1/ml-repos";
const STAGE = "/api/ml/v1/artifact-versions/stage";
const FAIL = "/api/ml/v1/artifact-versions/mark-stage-failure";

const repo = (name: string, more = {}) => ({ manifest: { type: "ml-repo", name, ...more } });
const prompt = (more = {}) => ({
  manifest: {
    type: "chat_prompt",
    name: "triage",
    ml_repo: "support",
    messages: [{ role: "system", content: "Be kind." }],
    ...more,
  },
});
const model = (more = {}) => ({ manifest: { type: "model-version", name: "ranker", ml_repo: "support", ...more } });

async function withRepo(): Promise<{ readonly admin: Caller; readonly repoId: string }> {
  const { admin } = await startControlPlane();
  const { body } = await admin.put(WRITE_REPO, repo("support"));
  return { admin, repoId: body.data.id };
}

const versions = async (admin: Caller, path: string, query = "") =>
  (await admin.get(`${path}?${query}`)).body.data.map((row: { manifest: { version: number } }) => row.manifest.version);

describe("an ml repo", () => {
  test("is created, found by its exact name, and left alone when written again", async () => {
    const { admin } = await startControlPlane();
    const created = await admin.put(WRITE_REPO, repo("support", { description: "d" }));
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      tenant_name: "holdfast",
      account_id: "holdfast",
      manifest: { type: "ml-repo", name: "support", description: "d" },
      num_runs: 0,
      datasets_count: 0,
      artifact_type_counts: {},
      created_by_subject: { subjectType: "user" },
    });
    expect((await admin.put(WRITE_REPO, repo("support", { description: "d" }))).body).toEqual(created.body);
    expect((await admin.get(`${REPOS}?name=support`)).body.data).toEqual([created.body.data]);
    expect((await admin.get(`${REPOS}?name=suppor_`)).body.pagination).toEqual({ total: 0, offset: 0, limit: 100 });
  });

  test("is dry-run without an id and without a trace", async () => {
    const { admin } = await startControlPlane();
    const { body } = await admin.put(WRITE_REPO, { ...repo("support"), dryRun: true });
    expect(body.data).not.toHaveProperty("id");
    expect((await admin.get(REPOS)).body.pagination.total).toBe(0);
  });

  test("counts its artifacts by type, and its runs", async () => {
    const { admin } = await withRepo();
    await admin.put(PROMPTS, prompt());
    await admin.put(PROMPTS, prompt({ messages: [{ role: "user", content: "x" }] }));
    await admin.put(MODELS, model({ run_id: "r1" }));
    await admin.put(MODELS, model({ run_id: "r1", step: 2 }));
    await admin.put(MODELS, model({ name: "other", run_id: "r2" }));
    const [row] = (await admin.get(REPOS)).body.data;
    expect(row.num_runs).toBe(2);
    expect(row.artifact_type_counts).toEqual({ chat_prompt: 1, model: 2 });
  });
});

describe("a prompt version", () => {
  test("carries every field, its number and runnable snippets", async () => {
    const { admin, repoId } = await withRepo();
    const { status, body } = await admin.put(PROMPTS, prompt({ version_alias: "prod" }));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      fqn: "chat_prompt:holdfast/support/triage:1",
      ml_repo_id: repoId,
      manifest: { ...prompt().manifest, version: 1, version_alias: "prod" },
      tags: [],
    });
    expect(body.data.usage_code_snippets.map(({ language }: { language: string }) => language)).toEqual([
      "python",
      "typescript",
      "shell",
    ]);
    expect(body.data.usage_code_snippet).toContain(body.data.fqn);
    expect((await admin.get(PROMPTS)).body.data).toEqual([body.data]);
  });

  test("is made anew for changed content, and found again for equal content", async () => {
    const { admin } = await withRepo();
    const first = await admin.put(PROMPTS, prompt());
    const again = await admin.put(PROMPTS, prompt());
    expect(again.body).toEqual(first.body);
    const second = await admin.put(PROMPTS, prompt({ tools: [] }));
    expect(second.body.data.manifest.version).toBe(2);
    expect(second.body.data.prompt_id).toBe(first.body.data.prompt_id);
    expect(await versions(admin, PROMPTS)).toEqual([2, 1]);
  });

  test("sent back as it was answered changes nothing", async () => {
    const { admin } = await withRepo();
    const first = await admin.put(PROMPTS, prompt({ description: "d", metadata: { a: 1 } }));
    const again = await admin.put(PROMPTS, { manifest: first.body.data.manifest });
    expect(again.body).toEqual(first.body);
  });

  test("changes its description, metadata and alias in place", async () => {
    const { admin } = await withRepo();
    const first = await admin.put(PROMPTS, prompt({ description: "old", version_alias: "prod" }));
    const changed = await admin.put(PROMPTS, prompt({ version: 1, description: "new" }));
    expect(changed.body.data).toMatchObject({ id: first.body.data.id, manifest: { version: 1, description: "new" } });
    expect(changed.body.data.manifest).not.toHaveProperty("version_alias");
    expect(await versions(admin, PROMPTS)).toEqual([1]);
  });

  test("is immutable at its number, and leaves no gap", async () => {
    const { admin } = await withRepo();
    expect((await admin.put(PROMPTS, prompt({ version: 2 }))).body).toMatchObject({
      statusCode: 422,
      details: [{ pointer: "/version", code: "version-gap" }],
    });
    await admin.put(PROMPTS, prompt({ version: 1 }));
    const changed = await admin.put(PROMPTS, prompt({ version: 1, tools: [] }));
    expect(changed.body).toMatchObject({ statusCode: 409, code: "version-immutable" });
    expect((await admin.put(PROMPTS, prompt({ version: 3, tools: [] }))).status).toBe(422);
    expect((await admin.put(PROMPTS, prompt({ version: 2, tools: [] }))).body.data.manifest.version).toBe(2);
  });

  test("takes an alias from the version that had it, within its own name only", async () => {
    const { admin } = await withRepo();
    await admin.put(PROMPTS, prompt({ version_alias: "prod" }));
    await admin.put(PROMPTS, prompt({ name: "other", version_alias: "prod" }));
    await admin.put(PROMPTS, prompt({ tools: [], version_alias: "prod" }));
    const aliases = (await admin.get(PROMPTS)).body.data.map(
      ({ fqn, manifest }: { fqn: string; manifest: { version_alias?: string } }) => [fqn, manifest.version_alias],
    );
    expect(aliases).toEqual([
      ["chat_prompt:holdfast/support/triage:2", "prod"],
      ["chat_prompt:holdfast/support/other:1", "prod"],
      ["chat_prompt:holdfast/support/triage:1", undefined],
    ]);
  });

  test("needs a repo that exists, and a form that is right", async () => {
    const { admin } = await withRepo();
    expect((await admin.put(PROMPTS, prompt({ ml_repo: "absent" }))).body).toMatchObject({
      statusCode: 422,
      details: [{ pointer: "/ml_repo", code: "dangling-reference" }],
    });
    const { body } = await admin.put(PROMPTS, prompt({ messages: [], nmae: "x" }));
    expect(body.details.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual(["/messages", "/nmae"]);
    expect((await admin.put(PROMPTS, model())).status).toBe(422);
    expect((await admin.put(PROMPTS, {})).status).toBe(400);
    expect((await admin.put(PROMPTS, { ...prompt(), dryRun: true })).status).toBe(400);
  });

  test("two writers of one name at once make each content exactly once", async () => {
    const { admin } = await withRepo();
    const contents = Array.from({ length: 8 }, (_, n) =>
      prompt({ messages: [{ role: "user", content: `c${n % 4}` }] }),
    );
    const replies = await Promise.all(contents.map((body) => admin.put(PROMPTS, body)));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const numbers = await versions(admin, PROMPTS);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.toSorted((a: number, b: number) => a - b)).toEqual(numbers.map((_: number, n: number) => n + 1));
  });
});

describe("lists of versions", () => {
  test("match every filter exactly", async () => {
    const { admin, repoId } = await withRepo();
    await admin.put(WRITE_REPO, repo("other"));
    const first = (await admin.put(MODELS, model({ run_id: "r1", step: 1 }))).body.data;
    const second = (await admin.put(MODELS, model({ run_id: "r2", step: 2 }))).body.data;
    await admin.put(MODELS, model({ ml_repo: "other", name: "ranker2", run_id: "r1", step: 1 }));
    await admin.put(PROMPTS, prompt({ name: "ranker" }));
    const fqns = async (query: string): Promise<readonly string[]> =>
      (await admin.get(`${MODELS}?${query}`)).body.data.map(({ fqn }: { fqn: string }) => fqn);
    expect(await fqns("")).toHaveLength(3);
    expect(await fqns(`fqn=${encodeURIComponent(second.fqn)}`)).toEqual([second.fqn]);
    expect(await fqns("name=ranker")).toEqual([second.fqn, first.fqn]);
    expect(await fqns("name=rank%25")).toEqual([]);
    expect(await fqns("name=ranker&version=1")).toEqual([first.fqn]);
    expect(await fqns(`ml_repo_id=${repoId}`)).toEqual([second.fqn, first.fqn]);
    expect(await fqns(`model_id=${first.model_id}`)).toEqual([second.fqn, first.fqn]);
    expect(await fqns("run_ids=r1&run_ids=r2&name=ranker")).toEqual([second.fqn, first.fqn]);
    expect(await fqns("run_steps=1")).toHaveLength(2);
    expect(await fqns("tag=x")).toEqual([]);
    expect(await fqns("include_internal_metadata=true&unknown=1&limit=1&offset=2")).toEqual([first.fqn]);
    expect(await fqns("offset=9")).toEqual([]);
    for (const bad of ["version=x", "version=1&version=2", "limit=0", "limit=1001", "run_steps=1e3"])
      expect((await admin.get(`${MODELS}?${bad}`)).status).toBe(400);
  });
});

describe("a model version", () => {
  test("is registered by postModelVersion with an empty answer, once", async () => {
    const { admin } = await withRepo();
    const source = { type: "external", uri: "s3://models/ranker" };
    const framework = { type: "transformers", pipeline_tag: "text-classification" };
    const posted = await admin.post(MODELS, model({ source, framework }));
    expect([posted.status, posted.text]).toEqual([200, "{}"]);
    expect((await admin.post(MODELS, model({ source, framework }))).text).toBe("{}");
    const { data } = (await admin.get(MODELS)).body;
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      fqn: "model:holdfast/support/ranker:1",
      deployable: true,
      metrics: [],
      manifest: { version: 1, source },
    });
    expect((await admin.put(MODELS, model({ source, framework }))).body.data).toEqual(data[0]);
  });
});

describe("staging", () => {
  test("makes room for files, and the version that is registered keeps the staged id", async () => {
    const { admin } = await withRepo();
    const staged = await admin.post(STAGE, model());
    expect(Object.keys(staged.body).toSorted()).toEqual(["artifact_id", "id", "storage_root"]);
    expect(existsSync(fileURLToPath(staged.body.storage_root))).toBe(true);
    expect((await admin.get(MODELS)).body.pagination.total).toBe(0);
    const source = { type: "platform", uri: staged.body.storage_root };
    expect((await admin.put(MODELS, model({ source }))).body).toMatchObject({
      statusCode: 422,
      details: [{ pointer: "/source/uri", code: "empty-stage" }],
    });
    expect((await admin.get(MODELS)).body.pagination.total).toBe(0);
    await writeFile(join(fileURLToPath(staged.body.storage_root), "model.bin"), "weights");
    const registered = await admin.put(MODELS, model({ source }));
    expect(registered.body.data).toMatchObject({ id: staged.body.id, model_id: staged.body.artifact_id });
    expect((await admin.put(MODELS, model({ source }))).body).toEqual(registered.body);
    expect((await admin.post(FAIL, { id: staged.body.id })).body).toMatchObject({
      statusCode: 409,
      code: "stage-registered",
    });
    const next = await admin.put(MODELS, model({ source, step: 5 }));
    expect(next.body.data.id).not.toBe(staged.body.id);
    // A version that was never staged cannot fail as a stage either.
    expect((await admin.post(FAIL, { id: next.body.data.id })).body).toMatchObject({
      statusCode: 409,
      code: "stage-registered",
    });
  });

  test("takes a plain artifact too, and nothing else", async () => {
    const { admin } = await withRepo();
    const manifest = { type: "artifact-version", name: "corpus", ml_repo: "support", anything: { goes: true } };
    expect((await admin.post(STAGE, { manifest })).status).toBe(200);
    expect((await admin.post(STAGE, { manifest: { ...manifest, ml_repo: "absent" } })).body).toMatchObject({
      statusCode: 422,
      message: '/ml_repo: there is no ml repo "absent"',
    });
    const { body } = await admin.post(STAGE, { manifest: { type: "artifact-version", name: "a b" } });
    expect(body.details.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["/name", "/ml_repo"]);
    expect((await admin.post(STAGE, prompt())).status).toBe(422);
  });

  test("can fail, as often as one says so, and is not registered then", async () => {
    const { admin } = await withRepo();
    const { body } = await admin.post(STAGE, model());
    expect((await admin.post(FAIL, { id: body.id })).text).toBe("{}");
    expect((await admin.post(FAIL, { id: body.id })).text).toBe("{}");
    const source = { type: "platform", uri: body.storage_root };
    expect((await admin.put(MODELS, model({ source }))).body).toMatchObject({ statusCode: 409, code: "stage-failed" });
    expect((await admin.get(MODELS)).body.pagination.total).toBe(0);
    expect((await admin.post(FAIL, { id: "absent" })).status).toBe(404);
    expect((await admin.post(FAIL, {})).status).toBe(400);
  });

  test("leaves no folder behind when it is refused", async () => {
    const { admin, data } = await startControlPlane();
    await admin.put(WRITE_REPO, repo("support"));
    await admin.post(STAGE, model());
    expect((await admin.post(STAGE, model({ ml_repo: "absent" }))).status).toBe(422);
    expect(await readdir(join(data, "artifacts"))).toHaveLength(1);
  });

  test("belongs to the name that it was made for", async () => {
    const { admin } = await withRepo();
    const { body } = await admin.post(STAGE, model());
    const source = { type: "platform", uri: body.storage_root };
    expect((await admin.put(MODELS, model({ name: "other", source }))).body).toMatchObject({
      statusCode: 422,
      details: [{ pointer: "/source/uri", code: "foreign-stage" }],
    });
  });
});
