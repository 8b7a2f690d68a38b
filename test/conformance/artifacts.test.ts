import { expect, test } from "vitest";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";

const model = (more: object) => ({ manifest: { type: "model-version", name: "ranker", ml_repo: "support", ...more } });
const messages = [{ role: "system", content: "Be kind." }];
const prompt = { manifest: { type: "chat_prompt", name: "triage", ml_repo: "support", messages } };

async function planted() {
  const plane = await startControlPlane();
  const collaborators = [{ subject: "user:ann@example.com", role_id: "ml-repo-viewer" }];
  const repo = { type: "ml-repo", name: "support", collaborators };
  const { body } = await plane.admin.put("/api/svc/v1/ml-repos", { manifest: repo });
  return { ...plane, repoId: body.data.id };
}

const artifact = (caller: Caller, id: string) => caller.get(`/api/ml/v1/artifacts/${id}`);

test("an artifact is found by what its versions carry, with the newest of them", async () => {
  const { admin, repoId } = await planted();
  const first = await admin.put("/api/ml/v1/model-versions", model({ run_id: "r1", step: 20 }));
  const id = first.body.data.model_id;
  expect((await artifact(admin, id)).body.data).toEqual({
    id,
    ml_repo_id: repoId,
    name: "ranker",
    fqn: "model:holdfast/support/ranker",
    type: "model",
    created_by_subject: first.body.data.created_by_subject,
    created_at: first.body.data.created_at,
    updated_at: first.body.data.updated_at,
    latest_version: first.body.data,
    run_steps: [20],
  });
  for (const step of [3, 100, 3]) {
    const description = `step ${step}`;
    await admin.put("/api/ml/v1/model-versions", model({ run_id: `r${step}`, step, metadata: { step }, description }));
  }
  const [newest] = (await admin.get("/api/ml/v1/model-versions?limit=1")).body.data;
  const { data } = (await artifact(admin, id)).body;
  expect(data.latest_version).toEqual(newest);
  expect(data.run_steps).toEqual([3, 20, 100]);
});

test("a prompt is one too, and a staged version that is not registered has no newest", async () => {
  const { admin } = await planted();
  const { data } = (await admin.put("/api/ml/v1/prompt-versions", prompt)).body;
  expect((await artifact(admin, data.prompt_id)).body.data).toMatchObject({
    type: "chat_prompt",
    latest_version: data,
    run_steps: [],
  });
  const staged = await admin.post("/api/ml/v1/artifact-versions/stage", {
    manifest: { type: "artifact-version", name: "weights", ml_repo: "support" },
  });
  const bare = (await artifact(admin, staged.body.artifact_id)).body.data;
  expect(bare).toMatchObject({ type: "artifact", run_steps: [] });
  expect(bare).not.toHaveProperty("latest_version");
});

test("who may not see its repo finds none", async () => {
  const plane = await planted();
  const { prompt_id: id } = (await plane.admin.put("/api/ml/v1/prompt-versions", prompt)).body.data;
  const absent = await artifact(plane.admin, "absent");
  expect(absent.status).toBe(404);
  expect((await artifact(await addUser(plane, "ann@example.com"), id)).status).toBe(200);
  expect((await artifact(await addUser(plane, "eve@example.com"), id)).body).toEqual(absent.body);
});
