import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { startControlPlane, temporaryFolder } from "../control-plane.ts";

const model = (more: object = {}) => ({
  manifest: { type: "model-version", name: "ranker", ml_repo: "support", ...more },
});

async function planted(artifactRoot: string) {
  const { admin } = await startControlPlane({ artifactRoot });
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  const stage = () => admin.post("/api/ml/v1/artifact-versions/stage", model());
  const register = (uri: string) =>
    admin.put("/api/ml/v1/model-versions", model({ source: { type: "platform", uri } }));
  return { stage, register };
}

test("versions are staged to a folder of one's own", async () => {
  const root = pathToFileURL(`${await temporaryFolder()}/models of ours`).href;
  const { stage, register } = await planted(root);
  const { id, storage_root: uri } = (await stage()).body;
  expect(uri).toBe(`${root}/${id}`);
  expect((await stat(fileURLToPath(uri))).isDirectory()).toBe(true);
  await writeFile(join(fileURLToPath(uri), "model.bin"), "weights");
  expect((await register(uri)).body.data.id).toBe(id);
});

test("versions are staged to a bucket, and registered from there", async () => {
  const { stage, register } = await planted("s3://models.example/prod/");
  const { id, storage_root: uri } = (await stage()).body;
  expect(uri).toBe(`s3://models.example/prod/${id}`);
  const { data } = (await register(uri)).body;
  expect(data.id).toBe(id);
  expect(data.usage_code_snippet).not.toContain("file://");
  expect((await stage()).body.storage_root).not.toBe(uri);
});

test.each([
  "s3://",
  "s3://UPPER/x",
  "s3://bucket?x=1",
  "https://someone@example.com/x",
  "https://example.com/x?y",
  "ftp://example.com/x",
  "/srv/models",
  "file://host/x",
  "gs://b",
])("%s is no root", async (artifactRoot) => {
  await expect(startControlPlane({ artifactRoot })).rejects.toThrow("artifacts are stored at");
});
