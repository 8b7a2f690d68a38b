import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import type { Container } from "kubernetes-types/core/v1.d.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { unknownIn } from "../support/command-line.ts";
import { temporaryFolder } from "../support/folder.ts";
import { filesOf } from "../support/kustomization.ts";

const units = globSync("deploy/systemd/*.service").map((file) => ({ file, text: readFileSync(file, "utf8") }));
const composeText = readFileSync("deploy/compose/compose.yaml", "utf8");

type Service = {
  readonly command: readonly string[];
  readonly secrets: readonly string[];
  readonly volumes: readonly string[];
  readonly environment: { readonly [name: string]: string };
};
type Compose = {
  readonly services: { readonly [name: string]: Service };
  readonly volumes: object;
  readonly secrets: object;
};
const compose: Compose = parse(composeText);

// The schema of the specification's authors. What it says with `id` is only where its parts are.
const { $schema: _, ...schema } = JSON.parse(readFileSync("test/support/compose-spec.json", "utf8"));
const isCompose = new Ajv({ strict: false, validateFormats: false }).removeKeyword("id").compile(schema);

test("every program is started by a command and flags that there are", () => {
  const started = [
    ...units.map(({ text }) => (/^ExecStart=(.*)$/m.exec(text)?.[1] ?? "").split(" ").slice(1)),
    ...Object.values(compose.services).map(({ command }) => command),
    ...[".", "control-plane/sqlite", "control-plane/postgres"].flatMap((folder) =>
      filesOf(join("deploy/kubernetes", folder)).flatMap(({ spec }) => argsOf(spec)),
    ),
  ];
  expect(started.map(([command]) => command).toSorted()).toEqual([
    ...Array(4).fill("serve"),
    ...Array(3).fill("watch"),
  ]);
  expect(started.flatMap(unknownIn)).toEqual([]);
  expect(unknownIn(["serve", "--hots=0.0.0.0", "--port", "1"])).toEqual(["--hots"]);
});

function argsOf(
  spec: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } } | undefined,
) {
  return spec?.template?.spec.containers.flatMap(({ args }) => (args === undefined ? [] : [args])) ?? [];
}

test("the compose file keeps to the compose specification", () => {
  expect([isCompose(compose), isCompose.errors]).toEqual([true, null]);
  expect(isCompose(parse(composeText.replace("read_only:", "readonly:")))).toBe(false);
});

test("what a container of the compose file uses is declared, and its state is on a volume with a name", () => {
  const { services, volumes, secrets } = compose;
  for (const service of Object.values(services)) {
    expect(Object.keys(secrets)).toEqual(expect.arrayContaining([...service.secrets]));
    const state = service.volumes.find((volume) => volume.endsWith(":/state"))?.split(":")[0];
    expect(Object.keys(volumes)).toContain(state);
    const files = [...service.command, ...Object.values(service.environment)].flatMap(
      (word) => /\/run\/secrets\/(\S+)$/.exec(word)?.[1] ?? [],
    );
    expect(service.secrets).toEqual(expect.arrayContaining(files));
  }
});

test("systemd takes the units, and finds little that they may do", async ({ skip }) => {
  skip(spawnSync("systemd-analyze", ["--version"]).status !== 0, "systemd is not installed here");
  const folder = await temporaryFolder();
  const paths = await Promise.all(
    units.map(async ({ file, text }) => {
      const path = join(folder, file.split("/").at(-1) ?? "");
      await writeFile(path, text.replace("/opt/holdfast", resolve()));
      return path;
    }),
  );
  const verified = spawnSync("systemd-analyze", ["verify", ...paths], { encoding: "utf8" });
  expect(verified).toMatchObject({ status: 0, stderr: "" });
  for (const path of paths) {
    const args = ["security", "--offline=yes", "--threshold=30", path];
    expect(spawnSync("systemd-analyze", args, { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  }
});
