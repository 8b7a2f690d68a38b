import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { faultsOf } from "../support/output-schemas.ts";
import { sourceOf } from "../support/source.ts";

test("explain shows a kind, a field and a key of the configuration, without a server", async () => {
  const source = await sourceOf({});
  const kind = await source.run(["explain", "team"]);
  expect(kind).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^team <object>\n/) });
  expect(kind.stdout).toContain("  Form sso-team:\n");
  const field = await source.runHere(["explain", "service.resources.memory_request"]);
  expect(field.stdout).toContain("  Unit: MB\n");
  expect((await source.runHere(["explain", "config.guards.shrinkFrom"])).stdout).toMatch(
    /^config\.guards\.shrinkFrom /,
  );
});

test("explain -o json has the same facts", async () => {
  const source = await sourceOf({});
  const { code, stdout } = await source.runHere(["explain", "service.ports.protocol", "-o", "json"]);
  expect([code, faultsOf("explain", stdout)]).toEqual([0, []]);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: "service",
    path: "ports.protocol",
    fields: [
      { field: { default: "TCP", knownValues: ["TCP", "UDP"], examples: ["TCP", "UDP"] }, fields: [], forms: [] },
    ],
  });
});

test("explain ends with 3 for what does not exist, and says what may be meant", async () => {
  const source = await sourceOf({});
  const faults = [
    ["servce.image", "there is no kind servce\n  → did you mean service?"],
    [
      "service.memory_request",
      "service has no field memory_request\n  → did you mean service.resources.memory_request?",
    ],
    ["service.replicas.size", "the fields of service.replicas are min_replicas, "],
    ["service.name.first", "service.name has no fields"],
    ["", "there is no kind "],
  ];
  for (const [path = "", says] of faults) {
    const { code, stdout, stderr } = await source.runHere(["explain", path]);
    expect([code, stdout, stderr], path).toEqual([3, "", expect.stringContaining(says ?? "")]);
  }
  expect(await source.runHere(["explain"])).toMatchObject({ code: 3, stderr: expect.stringContaining("kind[.path]") });
  const failed = await source.runHere(["explain", "servce", "-o", "json"]);
  expect(faultsOf("failure", failed.stdout)).toEqual([]);
});

test("a reader of the explanation may close its pipe early", () => {
  const program = `"${process.execPath}" "${resolve("bin/holdfast.js")}" explain service`;
  const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", `${program} | head -1`]);
  expect([status, String(stdout), String(stderr)]).toEqual([0, "service <object>\n", ""]);
});
