import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, prompt } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const messages = (content: string) => [{ role: "system", content }];
const stray = (name: string, content: string) => ({
  manifest: { type: "chat_prompt", name, ml_repo: "registry", messages: messages(content) },
});

describe.each(controlPlaneVariants)("what the registry of a $name control plane holds and git does not", (plane) => {
  test("is listed by plan, drift and status, and fails none of them", async () => {
    const server = await plane.serve();
    const upstream = await upstreamOf({
      ...foundations,
      "prompt.yaml": prompt("greeting", "Be kind."),
    });
    const target = { name: "prod", server: server.url };
    const { runHere } = await operatorOf(
      { sources: [{ name: "ml", url: upstream.folder }], targets: [target] },
      server,
    );
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    for (const content of ["One.", "Two."])
      await server.call("PUT", "/api/ml/v1/prompt-versions", stray("farewell", content));
    const identities = ["chat_prompt/registry/farewell@1", "chat_prompt/registry/farewell@2"];
    const registryOnly = [{ kind: "chat_prompt", count: 2, identities }];
    const planned = await runHere(["plan", "--detailed-exitcode"]);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain("\n  2 chat_prompt: registry/farewell@1, registry/farewell@2\n");
    const drift = await runHere(["drift", "-o", "json"]);
    expect(drift.code).toBe(0);
    expect(JSON.parse(drift.stdout)).toMatchObject({ summary: { drifted: 0, orphan: 0 }, registryOnly });
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const status = await runHere(["status", "-o", "json"]);
    expect(JSON.parse(status.stdout).targets).toMatchObject([{ sync: "Synced", condition: "Ready", registryOnly }]);
    expect(server.effects().filter(({ resource }) => resource.includes("farewell"))).toHaveLength(2);
  });
});

test("a later version than the declared number is held by the registry alone, and one of another target is not", async () => {
  const server = await serve();
  const numbered = (name: string) => `${prompt(name, "Version 1.")}version: 1\n`;
  const upstream = await upstreamOf({
    "one/platform.yaml": Object.values(foundations).join("---\n"),
    "one/prompt.yaml": numbered("greeting"),
    "two/prompt.yaml": numbered("farewell"),
  });
  const targets = ["one", "two"].map((name) => ({ name, server: server.url, paths: [name] }));
  const config = { sources: [{ name: "ml", url: upstream.folder }], targets };
  const { runHere } = await operatorOf(config, server);
  for (const name of ["one", "two"])
    expect(await runHere(["apply", "--yes", "--target", name])).toMatchObject({ code: 0 });
  await server.call("PUT", "/api/ml/v1/prompt-versions", stray("greeting", "Version 2."));
  const planned = await runHere(["plan", "--target", "one", "-o", "json"]);
  expect(JSON.parse(planned.stdout).registryOnly).toEqual([
    { kind: "chat_prompt", count: 1, identities: ["chat_prompt/registry/greeting@2"] },
  ]);
  // A part of the source says nothing of the rest.
  const part = await runHere(["plan", "--target", "one", "cluster/dev", "-o", "json"]);
  expect(JSON.parse(part.stdout)).not.toHaveProperty("registryOnly");
});

test("a source without prompts and models asks for none, and says nothing of them", async () => {
  const server = await serve();
  const { runHere } = await sourceOf(foundations, server);
  expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await server.call("PUT", "/api/ml/v1/prompt-versions", stray("farewell", "Version 1."));
  expect(JSON.parse((await runHere(["plan", "-o", "json"])).stdout)).not.toHaveProperty("registryOnly");
});

test("a list that may not be read leaves what the registry alone holds unknown, and no report is green", async () => {
  const server = await serve();
  const proxy = await faultProxy(server);
  const { runHere } = await sourceOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") }, proxy.server);
  expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await server.call("PUT", "/api/ml/v1/prompt-versions", stray("farewell", "One."));
  proxy.inject("listPromptVersions", answer(403, { statusCode: 403, message: "may not list", code: "forbidden" }));
  const registryOnly = [{ kind: "chat_prompt", count: null, identities: [] }];
  const incomplete = { complete: false, diagnostics: [{ code: "unreadable" }, { code: "unreadable" }], registryOnly };
  const notKnown = "chat_prompt: not known, since they could not be listed";
  for (const [args, titles] of [
    [
      ["plan", "--detailed-exitcode"],
      ["1 blocked, 3 unchanged (incomplete", "1 blocked (incomplete)"],
    ],
    [["drift"], ["none found; 1 unknown, 3 unchanged (incomplete", "no drift found (incomplete)"]],
  ] as const) {
    const texts = await runHere(args);
    expect([texts.code, texts.stdout.includes(`  ${notKnown}\n`), texts.stdout]).toEqual([
      1,
      true,
      expect.stringContaining(titles[0]),
    ]);
    const json = await runHere([...args, "-o", "json"]);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, incomplete]);
    const markdown = await runHere([...args, "-o", "markdown"]);
    expect([markdown.code, markdown.stdout]).toEqual([1, expect.stringContaining(`### Holdfast: ${titles[1]}\n`)]);
    expect(markdown.stdout).toContain("<summary><code>chat_prompt</code>: not known</summary>");
  }
  expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 7 });
  const status = await runHere(["status"]);
  expect(status.stdout).toContain(`registry  held by the registry alone: ${notKnown}\n`);
  const { targets } = statusOf(await runHere(["status", "-o", "json"]));
  expect(targets).toMatchObject([{ sync: "OutOfSync", condition: "Stalled", reason: "Blocked", registryOnly }]);
  proxy.heal();
  expect(JSON.parse((await runHere(["plan", "-o", "json"])).stdout)).toMatchObject({
    complete: true,
    registryOnly: [{ kind: "chat_prompt", count: 1 }],
  });
});
