import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { startJudge } from "../support/gate-judge.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf } from "../support/json-output.ts";
import { foundations, prompt, team } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { startRecordingServer } from "../support/recording-server.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** The keys that decide what environments there are, in a configuration that would be valid outside of the source. */
const configurations = {
  each: 'targets: [{ name: "{dir}", each: "clusters/*", paths: ["clusters/{dir}"] }]\n',
  rename: "targets: [{ name: prod, rename: { clusters: { a: b } } }]\n",
  patches: "targets: [{ name: prod, patches: patches/prod }]\n",
  windows: 'targets: [{ name: prod, windows: [{ deny: "@daily", duration: 1h, timeZone: UTC }] }]\n',
  promote: "targets: [{ name: prod, promote: [/replicas] }]\n",
  gate: 'targets: [{ name: prod, gate: { job: "job/c1:ws1/check" } }]\n',
  promotions: "promotions: [{ from: staging, to: prod }]\n",
  "order and gate":
    "targets: [{ name: staging }, { name: prod, after: [staging], when: synced, soak: 1h, stage: live, maxUpdate: 1, gate: { metric: accuracy, atLeast: 0.9 } }]\n",
  servers: "servers: [{ name: prod, url: http://127.0.0.1:9 }]\n",
};

const keyOf = (configuration: string): string => configuration.slice(0, configuration.indexOf(":"));

describe.each(Object.entries(configurations))("the operator key %s in the source", (_, configuration) => {
  const key = keyOf(configuration);
  const files = { "holdfast.yaml": configuration, "clusters/a/ml.yaml": team("ml") };

  test("is refused without a terminal and at one, and nothing is sent", async () => {
    const server = await startRecordingServer();
    const { runHere, runThrough } = await sourceOf(files, { ...server, token: "token" });
    const refused = await runHere(["apply", "--yes"], { CI: "true" });
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain(`holdfast.yaml sets ${key}, which only the operator may`);
    const asked = await runThrough(onTerminal(200), ["plan"]);
    expect(asked.code).toBe(3);
    expect(asked.stdout).toContain(
      `holdfast.yaml sets ${key}, and sources, servers, targets and promotions count only outside`,
    );
    expect(server.requests).toEqual([]);
  });

  test("is refused in a commit of a remote", async () => {
    const server = await serve();
    const upstream = await upstreamOf(files);
    const { runHere } = await operatorOf({ sources: [{ name: "platform", url: upstream.folder }] }, server);
    const refused = await runHere(["plan"]);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain(`the commit's holdfast.yaml sets ${key}`);
  });

  test("is refused with --base", async () => {
    const source = await sourceOf(files, await serve());
    await commitAll(source.folder, "Begin");
    expect(await source.runHere(["plan", "--base", "HEAD"])).toMatchObject({ code: 3, stdout: "" });
  });
});

test("a branch that sets operator keys neither loosens a gate nor adds a promotion in a plan with --base", async () => {
  const server = await serve();
  const judge = await startJudge();
  judge.says(false, "3 of 12 cases");
  const source = await sourceOf({ ...foundations, "a.yaml": team("ml") }, server);
  await commitAll(source.folder, "Begin");
  const config = join(await temporaryFolder(), "operator.yaml");
  const target = { name: "prod", server: server.url, gate: judge.gate };
  await writeFile(config, stringify({ targets: [target] }));
  await git(source.folder, "checkout", "--quiet", "-b", "change");
  await source.write("prompt.yaml", prompt("greeting", "Be kind."));
  const plan = async (keys: string) => {
    await source.write("holdfast.yaml", keys);
    await commitAll(source.folder, "Loosen");
    return source.runHere(["plan", "--base", "main", "--config", config, "-o", "json"]);
  };
  for (const key of ["targets: [{ name: prod }]", "promotions: [{ from: prod, to: staging }]"]) {
    const refused = await plan(`${key}\n`);
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain(`holdfast.yaml sets ${keyOf(key)}`);
  }
  const step = planOf(await plan("guards: {}\n")).steps.find(({ kind }) => kind === "chat_prompt");
  expect(step).toMatchObject({ action: "block", reason: "gate" });
});

describe("with --base, operator keys", () => {
  const configuration = configurations["order and gate"];

  test("in the base alone have no effect", async () => {
    const source = await sourceOf({ "holdfast.yaml": configuration, "ml.yaml": team("ml") }, await serve());
    await commitAll(source.folder, "Begin");
    await source.write("holdfast.yaml", "paths: [.]\n");
    await commitAll(source.folder, "Remove the targets");
    const planned = await source.runHere(["plan", "--base", "HEAD~", "-o", "json"]);
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.stdout).not.toContain("order-not-met");
  });

  test("in the branch alone are refused", async () => {
    const source = await sourceOf({ "ml.yaml": team("ml") }, await serve());
    await commitAll(source.folder, "Begin");
    await source.write("holdfast.yaml", configuration);
    await commitAll(source.folder, "Add targets");
    expect(await source.runHere(["plan", "--base", "HEAD~"])).toMatchObject({ code: 3, stdout: "" });
  });
});
