import { describe, expect, test } from "vitest";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";

const REPOS = "/api/svc/v1/ml-repos";
const PROMPTS = "/api/ml/v1/prompt-versions";
const MODELS = "/api/ml/v1/model-versions";
const STAGE = "/api/ml/v1/artifact-versions/stage";
const FAIL = "/api/ml/v1/artifact-versions/mark-stage-failure";

const roles = ["ml-repo-viewer", "ml-repo-editor", "ml-repo-admin"] as const;
const who = (role: string) => `${role}@example.com`;
const collaborators = roles.map((role_id) => ({ subject: `user:${who(role_id)}`, role_id }));
const repo = (more = {}) => ({ manifest: { type: "ml-repo", name: "own", collaborators, ...more } });
const model = (ml_repo: string, name = "m") => ({ manifest: { type: "model-version", name, ml_repo } });
const prompt = (ml_repo: string) => ({
  manifest: { type: "chat_prompt", name: "p", ml_repo, messages: [{ role: "user", content: "hi" }] },
});

async function start() {
  const plane = await startControlPlane();
  await plane.admin.put(REPOS, repo());
  await plane.admin.put(REPOS, { manifest: { type: "ml-repo", name: "foreign" } });
  for (const name of ["own", "foreign"]) {
    await plane.admin.put(MODELS, model(name));
    await plane.admin.put(PROMPTS, prompt(name));
  }
  return plane;
}

const total = async (one: Caller, path: string) => (await one.get(path)).body.pagination.total;

// Role on the repo "own", and the status of: a write of the repo, of versions, of a stage, and of a stage's failure.
const table = [
  ["ml-repo-viewer", 403, 403, 403, 403],
  ["ml-repo-editor", 403, 200, 200, 200],
  ["ml-repo-admin", 200, 200, 200, 200],
] as const;

describe("access to an ml repo", () => {
  test.each(table)(
    "%s: repo %i, versions %i, stage %i, failure %i",
    async (role, onRepo, onVersion, onStage, onFail) => {
      const plane = await start();
      const caller = await addUser(plane, who(role));
      const staged = (await plane.admin.post(STAGE, model("own", "staged"))).body.id;
      const foreign = (await plane.admin.post(STAGE, model("foreign", "staged"))).body.id;
      expect((await caller.put(REPOS, repo({ description: "d" }))).status).toBe(onRepo);
      for (const dryRun of [true, false])
        expect((await caller.put(REPOS, { ...repo({ description: "e" }), dryRun })).status).toBe(onRepo);
      expect((await caller.put(MODELS, model("own", "m2"))).status).toBe(onVersion);
      expect((await caller.post(MODELS, model("own", "m2"))).status).toBe(onVersion);
      expect((await caller.put(PROMPTS, prompt("own"))).status).toBe(onVersion);
      expect((await caller.post(STAGE, model("own", "m3"))).status).toBe(onStage);
      expect((await caller.post(FAIL, { id: staged })).status).toBe(onFail);
      // What it cannot see reads as absent, and a repo that it names as dangling.
      const [invisible, absent] = [await caller.post(FAIL, { id: foreign }), await caller.post(FAIL, { id: "absent" })];
      expect([invisible.status, invisible.text]).toEqual([404, absent.text]);
      for (const name of ["foreign", "absent"]) {
        const replies = [await caller.put(MODELS, model(name)), await caller.put(PROMPTS, prompt(name))];
        for (const { body } of [...replies, await caller.post(STAGE, model(name))])
          expect(body).toMatchObject({
            statusCode: 422,
            details: [{ pointer: "/ml_repo", code: "dangling-reference" }],
          });
      }
      expect((await caller.put(REPOS, { manifest: { type: "ml-repo", name: "foreign" } })).status).toBe(403);
      expect((await caller.put(REPOS, { manifest: { type: "ml-repo", name: "new" } })).status).toBe(403);
      expect(await total(caller, "/api/ml/v1/ml-repos")).toBe(1);
      expect(await total(caller, `${MODELS}?name=m`)).toBe(1);
      expect(await total(caller, PROMPTS)).toBe(1);
      expect(await total(caller, `${PROMPTS}?fqn=chat_prompt:holdfast/foreign/p:1`)).toBe(0);
    },
  );

  test("is nothing at all for one who holds no role", async () => {
    const plane = await start();
    const stranger = await addUser(plane, "eve@example.com");
    for (const path of ["/api/ml/v1/ml-repos", MODELS, PROMPTS]) expect(await total(stranger, path)).toBe(0);
    expect((await stranger.put(MODELS, model("own"))).status).toBe(422);
  });

  test("is granted by its administrator, up to what that one holds", async () => {
    const plane = await start();
    const admin = await addUser(plane, who("ml-repo-admin"));
    const grant = (role_id: string) =>
      admin.put(REPOS, repo({ collaborators: [...collaborators, { subject: "user:eve@example.com", role_id }] }));
    expect((await grant("custom")).status).toBe(403);
    expect((await grant("ml-repo-admin")).status).toBe(200);
    const absent = [{ subject: "team:absent", role_id: "ml-repo-viewer" }];
    expect((await admin.put(REPOS, repo({ collaborators: absent }))).status).toBe(422);
  });
});
