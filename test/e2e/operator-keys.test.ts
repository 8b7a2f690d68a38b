import { describe, expect, test } from "vitest";
import { commitAll } from "../support/git.ts";
import { team } from "../support/manifests.ts";
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
    const asked = await runThrough(onTerminal(200, "y\\n"), ["plan"]);
    expect(asked.code).toBe(3);
    expect(asked.stdout).toContain(`holdfast.yaml sets ${key}, and sources, servers and targets count only outside`);
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
