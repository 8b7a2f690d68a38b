import { describe, expect, test } from "vitest";
import { createSimulatedRuns, type RunFailure } from "../../src/server/resources/job-run/simulated-runs.ts";
import { startControlPlane } from "../control-plane.ts";
import { reportOf } from "../support/json-output.ts";
import { foundations, model } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const JOB = "job/dev:web/check";
const job = (name: string) => ({
  type: "job",
  name,
  workspace_fqn: "dev:web",
  image: { type: "image", image_uri: "registry.example.com/check:1.0.0" },
});
const trial = {
  type: "model-version",
  name: "ranker",
  ml_repo: "trial",
  source: { type: "external", uri: "s3://example-models/ranker" },
};

async function platform(documentedOnly: boolean, gate: { readonly job: string }) {
  const state: { failure: RunFailure | null } = { failure: null };
  const { folder } = await sourceOf({ ...foundations, "trial.yaml": "type: ml-repo\nname: trial\n" });
  const runs = createSimulatedRuns({ seconds: 0, failures: () => state.failure });
  const plane = await startControlPlane({ documentedOnly, seed: folder, runs });
  const server = { url: plane.url, token: plane.adminToken.open() };
  const upstream = await upstreamOf({ "job.yaml": JSON.stringify(job("check")), "model.yaml": model("ranker") });
  const target = { name: "prod", server: server.url, gate: { match: "model-version/**", ...gate } };
  const config = { sources: [{ name: "ml", url: upstream.folder }], targets: [target] };
  const { runHere } = await operatorOf(config, server as Parameters<typeof operatorOf>[1]);
  const apply = async () => {
    const applied = await runHere(["apply", "--yes", "-o", "json"]);
    const outcome = reportOf(applied).outcomes.find(({ kind }) => kind === "model-version");
    return { code: applied.code, result: outcome?.result, why: outcome?.error?.message ?? "" };
  };
  /** Each run begins with a deployment of the job, and ends as given. */
  const start = async (name: string, failure: RunFailure | null) => {
    state.failure = failure;
    const { status } = await plane.admin.put("/api/svc/v1/apps", { manifest: job(name), triggerOnDeploy: true });
    expect(status).toBe(200);
  };
  const register = () => plane.admin.post("/api/ml/v1/model-versions", { manifest: trial });
  return { apply, start, register };
}

describe.each([
  { name: "full", documentedOnly: false },
  { name: "documented-only", documentedOnly: true },
])("a gate over the runs of a job, on a $name control plane", ({ documentedOnly }) => {
  test("passes once the newest finished run that began after the registration has succeeded", async () => {
    const { apply, start, register } = await platform(documentedOnly, { job: JOB });
    const first = await apply();
    expect(first).toMatchObject({ code: 7, result: "blocked" });
    expect(first.why).toContain("no version with this content is registered");

    await start("check", null);
    await register();
    expect((await apply()).why).toContain(
      `no run of ${JOB} has begun since trial/ranker@1 was registered; the newest of 1 began before that`,
    );
    await start("check", "stuck");
    expect((await apply()).why).toContain(`of ${JOB} has not ended`);
    await start("check", { exitCode: 3, error: "3 of 12 cases" });
    expect((await apply()).why).toContain("since trial/ranker@1: FAILED, exit code 3");
    await start("check", null);
    expect(await apply()).toMatchObject({ code: 0, result: "created" });
  });

  test("does not pass for a job that this target has not recorded, unless the control plane lists it", async () => {
    const { apply, start, register } = await platform(documentedOnly, { job: "job/dev:web/other" });
    await register();
    const { why } = await apply();
    if (documentedOnly) expect(why).toContain("it cannot be told: that control plane has no list of jobs");
    else expect(why).toContain("the job job/dev:web/other does not exist on that control plane");
    await start("other", null);
    expect((await apply()).result).toBe(documentedOnly ? "blocked" : "created");
  });
});
