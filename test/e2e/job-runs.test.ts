import { expect, test } from "vitest";
import { parse } from "yaml";
import { eventually } from "../support/eventually.ts";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { reportOf } from "../support/json-output.ts";
import { foundations } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
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
  expect(outcomeOf(first)).toMatchObject({
    result: "created",
    rollout: "succeeded",
    run: { name: "train-1-1", version: "1", status: "FINISHED", exitCode: 0, error: null },
  });
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
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ {2}updated +job\/dev:web\/train {2}run train-2-1 FINISHED/m),
  });
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
  expect(outcomeOf(ended)).toMatchObject({ result: "created", rollout: "failed", run: { status: "FAILED" } });
  expect(ended.code).toBe(7);
});

const nightly = "job/dev:web/train";

/** A source whose job was applied, with no run yet. */
async function appliedJob(flags: readonly string[] = []) {
  const { folder: seed } = await sourceOf(foundations);
  const server = await serve([...flags, "--seed", seed], { rolloutSeconds: 0.5 });
  const proxy = await faultProxy(server);
  const source = await sourceOf({ ...foundations, "job.yaml": job("1", "") }, proxy.server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const trigger = async () => {
    const body = { manifest: parse(job("1", "")), triggerOnDeploy: true };
    const { applicationId, version } = (await server.call("PUT", "/api/svc/v1/apps", body)).data;
    const run = `/api/svc/v1/jobs/${applicationId}/runs/train-${version}-1`;
    const exists = async () =>
      server.call("GET", run).then(
        () => true,
        () => false,
      );
    await eventually("the run after its rollout", exists);
  };
  return { server, proxy, source, trigger };
}

test.each([
  ["with a list of runs", []],
  ["with the documented operations alone", ["--documented-only"]],
])("runs shows the newest runs of a job, or follows one until it ends, on a control plane %s", async (_, flags) => {
  const { source, trigger } = await appliedJob(flags);
  expect(await source.runHere(["runs", nightly])).toMatchObject({ code: 0, stdout: `${nightly} has no run\n` });
  expect(await source.runHere(["runs", nightly, "--follow"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${nightly} has no run that could be followed`),
  });
  await trigger();
  await trigger();
  const followed = await source.runHere(["runs", nightly, "--follow", "-o", "json"]);
  expect(faultsOf("runs", followed.stdout)).toEqual([]);
  expect(JSON.parse(followed.stdout)).toMatchObject({ followed: "succeeded", runs: [{ status: "FINISHED" }] });
  expect(followed.code).toBe(0);
  const listed = await source.runHere(["runs", nightly], { COLUMNS: "60" });
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  const names = [...listed.stdout.matchAll(/^train-(\d+)-1 {2}FINISHED, since /gm)].map(([, version]) =>
    Number(version),
  );
  expect(names).toHaveLength(2);
  expect(names).toEqual(names.toSorted((one, other) => other - one));
  for (const line of listed.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  const one = await source.runHere(["runs", nightly, `train-${names[1]}-1`, "-o", "json"]);
  expect(JSON.parse(one.stdout).runs).toMatchObject([{ name: `train-${names[1]}-1`, version: `${names[1]}` }]);
});

test("runs ends with 1 where the run that it follows fails, with 9 where that takes too long, and names what does not exist", async () => {
  const { proxy, source, trigger } = await appliedJob();
  await trigger();
  expect(await source.runHere(["runs", nightly, "train-7-1"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/job\/dev:web\/train has no run train-7-1[\s\S]*its newest runs are train-2-1/),
  });
  expect(await source.runHere(["runs", "job/dev:web/other"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("job/dev:web/other does not exist on that control plane, or this token cannot see"),
  });
  for (const identity of ["team/ml", "service/dev:web/api", "train"]) {
    expect(await source.runHere(["runs", identity])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`${identity} is no identity of a job`),
    });
  }
  const run = { name: "train-2-1", deploymentVersion: "2", createdAt: 1_800_000_000, triggeredBy: "ada@example.com" };
  proxy.inject("getJobRun", answer(200, { data: { ...run, status: "RUNNING" } }), { times: 100 });
  expect(await source.runHere(["runs", nightly, "--follow", "--wait-timeout", "1"], { COLUMNS: "80" })).toMatchObject({
    code: 9,
    stdout: "train-2-1  RUNNING, since 2027-01-15T08:00:00Z, version 2, by ada@example.com\n",
    stderr: expect.stringContaining("train-2-1: RUNNING\n"),
  });
  proxy.heal();
  const failed = { ...run, status: "FAILED", exitCode: 137, endTime: 1_800_000_090, error: "killed for its memory" };
  proxy.inject("getJobRun", answer(200, { data: failed }), { times: 100 });
  expect(await source.runHere(["runs", nightly, "--follow"], { COLUMNS: "80" })).toMatchObject({
    code: 1,
    stdout: [
      "train-2-1  FAILED (exit code 137), since 2027-01-15T08:00:00Z, took 1m 30s,",
      "  version 2, by ada@example.com",
      "  killed for its memory",
      "",
    ].join("\n"),
  });
});

test("a run that has another name is found in the list of the job's runs", async () => {
  const { proxy, source } = await sourceWithJob();
  proxy.inject("getJobRun", answer(404, { statusCode: 404, message: "the run was not found", code: "not-found" }));
  const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(outcomeOf(ended)).toMatchObject({ result: "created", rollout: "succeeded" });
  expect(proxy.asked.some(({ path }) => /\/jobs\/[^/]+\/runs(?:\?|$)/.test(path))).toBe(true);
});
