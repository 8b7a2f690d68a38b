import { expect, test } from "vitest";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { reportOf } from "../support/json-output.ts";
import { foundations } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const job = (tag: string, more = "trigger_on_deploy: true\n") =>
  `type: job
name: train
workspace_fqn: dev:web
image: { type: image, image_uri: "registry.example.com/train:${tag}" }
trigger: { type: manual }
${more}`;

/** A source with a job in front of a control plane whose replies can be changed. */
async function sourceWithJob(more?: string) {
  const server = await serve([], { rolloutSeconds: 0.5 });
  const proxy = await faultProxy(server);
  const source = await sourceOf({ ...foundations, "job.yaml": job("1", more) }, proxy.server);
  const runs = () => server.effects().filter(({ resource }) => resource.startsWith("job-run/"));
  return { server, proxy, source, runs };
}

const outcomeOf = (ended: Parameters<typeof reportOf>[0]) =>
  reportOf(ended).outcomes.find(({ identity }) => identity === "job/dev:web/train");

test("a job with trigger_on_deploy starts one run for each version, and apply follows the run to its end", async () => {
  const { server, proxy, source, runs } = await sourceWithJob();
  const first = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(outcomeOf(first)).toMatchObject({ result: "created", rollout: "succeeded" });
  expect(first.code).toBe(0);
  expect(proxy.asked.some(({ path }) => /^\/api\/svc\/v1\/jobs\/[^/]+\/runs\/train-1-1$/.test(path))).toBe(true);
  const { data: apps } = await server.call("GET", "/api/svc/v1/apps?applicationType=job");
  const { data: run } = await server.call("GET", `/api/svc/v1/jobs/${apps[0].id}/runs/train-1-1`);
  expect(run).toMatchObject({ status: "FINISHED", exitCode: 0 });
  const before = server.effects().length;
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("\nApplied: 4 unchanged\n"),
  });
  expect(server.effects()).toHaveLength(before);
  await source.write("job.yaml", job("2"));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(runs().map(({ resource }) => resource)).toEqual([
    "job-run/dev:web:train/train-1-1",
    "job-run/dev:web:train/train-2-1",
  ]);
});

test("a job without trigger_on_deploy starts no run", async () => {
  const { proxy, source, runs } = await sourceWithJob("trigger_on_deploy: false\n");
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(proxy.asked.filter(({ path }) => path.includes("/jobs/"))).toEqual([]);
  expect(runs()).toEqual([]);
});

test("a run that fails is a failed rollout, and apply ends with 7", async () => {
  const { proxy, source } = await sourceWithJob();
  const failed = { name: "train-1-1", deploymentVersion: "1", status: "FAILED", exitCode: 1, error: "exit code 1" };
  proxy.inject("getJobRun", answer(200, { data: failed }));
  const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(outcomeOf(ended)).toMatchObject({ result: "created", rollout: "failed" });
  expect(ended.code).toBe(7);
});

test("a run that has another name is found in the list of the job's runs", async () => {
  const { proxy, source } = await sourceWithJob();
  proxy.inject("getJobRun", answer(404, { statusCode: 404, message: "the run was not found", code: "not-found" }));
  const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(outcomeOf(ended)).toMatchObject({ result: "created", rollout: "succeeded" });
  expect(proxy.asked.some(({ path }) => /\/jobs\/[^/]+\/runs(?:\?|$)/.test(path))).toBe(true);
});
