import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ValidationSeverity, validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { serveControl } from "../../src/daemon/control-socket.ts";
import { createLog } from "../../src/log/log.ts";
import { createControlPlane } from "../../src/server/control-plane.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { createAuthority } from "../unit/client/certificate.ts";

const root = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
const entrypoint: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]");

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

const [, command = "[]"] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? [];
const [node, script = ""]: string[] = JSON.parse(command);

/** How the health check of a container ends whose first process has these arguments. */
async function health(words: readonly string[], env: { readonly [name: string]: string }): Promise<number | null> {
  const path = join(root, script.replace("/opt/holdfast/", ""));
  const commandLine = join(await temporaryFolder(), "cmdline");
  await writeFile(commandLine, [...entrypoint, ...words, ""].join("\0"));
  return new Promise((resolve) => {
    execFile(process.execPath, [path, commandLine], { env }, () => {}).once("exit", resolve);
  });
}

test("the image's health is what the daemon on its state answers", async () => {
  expect(node).toBe("node");
  const state = await temporaryFolder();
  expect(await health(["watch"], { HOLDFAST_STATE: state })).toBe(1);
  const control = { status: async () => [], reconcile: async () => {}, carryOut: async () => null };
  await using served = await serveControl(state, control);
  expect(served).not.toBeNull();
  expect(await health(["watch"], { HOLDFAST_STATE: state })).toBe(0);
  expect(await health(["watch", "--state", state], {})).toBe(0);
  expect(await health(["serve"], { HOLDFAST_STATE: state })).toBe(1);
});

test("the image's health is what the control plane on its data answers, with and without TLS", async () => {
  const folder = await temporaryFolder();
  const { cert, key } = createAuthority().issue("platform.example.com");
  const tls = { certificate: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  await writeFile(tls.certificate, cert);
  await writeFile(tls.key, key);
  const options = { ...machine, log: createLog({ level: "fatal" }), host: "0.0.0.0" };
  await using overTls = await createControlPlane({ data: join(folder, "control-plane"), tls, ...options });
  await using plain = await createControlPlane({ data: join(folder, "other"), ...options });
  expect(await health(["serve"], { HOLDFAST_STATE: folder })).toBe(0);
  expect(await health(["serve", `--data=${folder}/other`], {})).toBe(0);
  await plain.close();
  expect(await health(["serve", `--data=${folder}/other`], {})).toBe(1);
  expect(await health(["watch"], { HOLDFAST_STATE: folder })).toBe(1);
  expect(overTls.url).toMatch(/^https:/);
});

test("the image's labels name the release, and no volume is made for a container that names none", () => {
  const { version, description, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(dockerfile).toMatch(new RegExp(`^ARG VERSION=${version}$`, "m"));
  const labels = Object.fromEntries(
    [...dockerfile.matchAll(/org\.opencontainers\.image\.(\w+)="(.*?)"/g)].map(([, name, value]) => [name, value]),
  );
  expect(labels).toEqual({
    title: "Holdfast",
    description,
    licenses: license,
    version: `\${VERSION}`,
    revision: `\${REVISION}`,
  });
  expect(dockerfile).not.toMatch(/^VOLUME/m);
});

test("an init is the container's first process", () => {
  const [init, end, program] = entrypoint;
  expect([init, end, program]).toEqual(["/sbin/tini", "--", "holdfast"]);
  expect(dockerfile).toMatch(/^RUN apk add .*\btini\b/m);
});

test("the image's user is a number that is not root's", () => {
  expect([...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(["10001:0"]);
});
