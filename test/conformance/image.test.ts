import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ValidationSeverity, validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { serveControl } from "../../src/daemon/control-socket.ts";
import { temporaryFolder } from "../support/folder.ts";

const dockerfile = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");

const { ERROR } = ValidationSeverity;
const everyCheck = {
  deprecatedMaintainer: ERROR,
  directiveCasing: ERROR,
  emptyContinuationLine: ERROR,
  instructionCasing: ERROR,
  instructionCmdMultiple: ERROR,
  instructionEntrypointMultiple: ERROR,
  instructionHealthcheckMultiple: ERROR,
  instructionJSONInSingleQuotes: ERROR,
  instructionWorkdirRelative: ERROR,
};

function faultsOf(text: string): readonly string[] {
  return validate(text, everyCheck).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
}

test("a linter finds nothing wrong with the Dockerfile", () => {
  expect(faultsOf(dockerfile)).toEqual([]);
  expect(faultsOf(dockerfile.replace(/^COPY \. \.$/m, "COPY .\ncopy . ."))).toHaveLength(2);
});

test("the image is built from bases that are pinned by digest", () => {
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)].map(([, base]) => base);
  expect(stages).toEqual([`\${NODE}`, `\${NODE}`, "scratch"]);
  expect(dockerfile).toMatch(/^ARG NODE=node:24-alpine@sha256:[0-9a-f]{64}$/m);
});

test("the image's health is what the daemon on its state answers", async () => {
  const [, command = "[]"] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [node, script = ""] = JSON.parse(command);
  expect(node).toBe("node");
  const path = join(import.meta.dirname, "../..", script.replace("/opt/holdfast/", ""));
  const state = await temporaryFolder();
  const health = (): Promise<number | null> =>
    new Promise((resolve) => {
      execFile(process.execPath, [path], { env: { HOLDFAST_STATE: state } }, () => {}).once("exit", resolve);
    });
  expect(await health()).toBe(1);
  const control = { status: () => [], reconcile: async () => {}, carryOut: async () => null };
  await using served = await serveControl(state, control);
  expect(served).not.toBeNull();
  expect(await health()).toBe(0);
});

test("the image's user is a number that is not root's", () => {
  expect([...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(["10001:0"]);
});
