import { globSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, test } from "vitest";
import { shapes } from "../../src/contract/generated/shapes.ts";
import { isObject, type JsonObject } from "../../src/contract/json.ts";
import { isDocumented, type OperationName, operation, operations } from "../../src/contract/operations.ts";
import { type Kind, readRow } from "../../src/core/kind.ts";
import { manifestReferences } from "../../src/core/manifest-references.ts";
import { kindOf, kinds } from "../../src/kinds/index.ts";
import { inPlaceFields } from "../../src/model/normal-form.ts";
import { manifestTypes, schemaFor } from "../../src/schema/schemas.ts";

const SOURCE = join(import.meta.dirname, "../../src");
const EXAMPLES = join(import.meta.dirname, "../../examples/manifests");
const declared = globSync("**/*.{yaml,json}", { cwd: EXAMPLES })
  .toSorted()
  .flatMap((file) => loadAll(readFileSync(join(EXAMPLES, file), "utf8")).filter(isObject));
const readme = readFileSync(join(SOURCE, "../README.md"), "utf8");
const each = kinds.map((kind) => [kind.type, kind] as const);

const subject = { subjectId: "u", subjectType: "user", subjectSlug: "ada@example.com", subjectDisplayName: "Ada" };
const stamps = { createdAt: "2026-11-21T00:00:00.000Z", updatedAt: "2026-11-21T00:00:01.000Z" };
const snake = { created_by_subject: subject, created_at: stamps.createdAt, updated_at: stamps.updatedAt };
const common = { id: "id-1", tenantName: "t", accountId: "a", createdBy: "u", createdBySubject: subject, ...stamps };

/** Replies as the interface documents them, by operation; a new kind's operation is to be added here. */
const replies: { readonly [name in OperationName]?: (manifest: JsonObject, key: string) => JsonObject } =
  Object.fromEntries(
    (
      [
        [
          "listWorkspaces putWorkspace",
          (m, key) => ({ ...common, fqn: key, name: m.name ?? null, clusterId: m.cluster_fqn ?? null, manifest: m }),
        ],
        ["listClusters getCluster putCluster", (m, key) => ({ ...common, id: key, fqn: key, name: key, manifest: m })],
        ["listTeams putTeam", (m) => ({ ...common, teamName: m.name ?? null, members: m.members ?? [], manifest: m })],
        [
          "listVirtualAccounts putVirtualAccount",
          (m) => ({
            ...common,
            name: m.name ?? null,
            type: "virtual-account",
            isExpired: false,
            jwts: [],
            metadata: {},
            manifest: m,
          }),
        ],
        [
          "listMlRepos putMlRepo",
          (m) => ({
            id: "id-1",
            tenant_name: "t",
            account_id: "a",
            num_runs: 0,
            datasets_count: 0,
            artifact_type_counts: {},
            ...snake,
            manifest: m,
          }),
        ],
        [
          "listPromptVersions putPromptVersion listModelVersions putModelVersion",
          (m, key) => ({
            id: "id-1",
            fqn: `${m.type === "chat_prompt" ? m.type : "model"}:t/${key}:3`,
            ml_repo_id: "r",
            tags: [],
            ...snake,
            manifest: { ...m, version: 3 },
          }),
        ],
        ["listDeployments putApp", (m) => deployment(m)],
        [
          "listApps",
          (m) => ({
            ...common,
            name: m.name ?? null,
            type: m.type ?? null,
            workspaceFqn: m.workspace_fqn ?? null,
            deployment: deployment(m),
          }),
        ],
        [
          "listSecretGroups createSecretGroup putSecretGroup",
          (m, key) => ({
            ...common,
            fqn: `t:${key}`,
            name: key,
            integrationId: "builtin",
            associatedSecrets: [],
            manifest: m,
          }),
        ],
        ["postModelVersion", () => ({})],
      ] satisfies readonly (readonly [string, (manifest: JsonObject, key: string) => JsonObject])[]
    ).flatMap(([names, reply]) => names.split(" ").map((name) => [name, reply])),
  );

function deployment(manifest: JsonObject): JsonObject {
  const status = { status: "DEPLOY_SUCCESS", transition: "", state: { isTerminalState: true, display: "Deployed" } };
  return {
    ...common,
    id: "deployment-3",
    fqn: "c:w:a:3",
    applicationId: "id-1",
    version: 3,
    manifest,
    application: null,
    currentStatus: status,
  };
}

function replyOf(name: OperationName, manifest: JsonObject, key: string): JsonObject {
  const reply = replies[name];
  if (reply === undefined) throw new Error(`no documented reply for ${name} here yet`);
  return reply(manifest, key);
}

function isSnake(name: OperationName): boolean {
  return operation(name).path.startsWith("/api/ml/");
}

describe("the index of kinds", () => {
  test("names every file of the folder, and no file is called anything but its type", async () => {
    const files = (await readdir(join(SOURCE, "kinds"))).filter((name) => name !== "index.ts");
    expect(kinds.map(({ type }) => `${type}.ts`).toSorted()).toEqual(files.toSorted());
  });

  test("finds every type and alias, each once, and covers every schema", () => {
    const types = kinds.flatMap(({ type, aliases = [] }) => [type, ...aliases]);
    expect(new Set(types).size).toBe(types.length);
    expect(types.toSorted()).toEqual(manifestTypes.toSorted());
    for (const type of types) expect(kindOf(type)?.type).toBeTypeOf("string");
    expect(kindOf("constructor")).toBeUndefined();
  });

  test.each(["core", "engine", "render", "client", "daemon"])("is all that %s knows of kinds", async (folder) => {
    const files = await readdir(join(SOURCE, folder), { recursive: true }).catch((): string[] => []);
    // Role assignments have a vocabulary of their own, in which some words are also the names of kinds.
    for (const file of files.filter((name) => name.endsWith(".ts") && name !== "grants.ts")) {
      const source = await readFile(join(SOURCE, folder, file), "utf8");
      for (const { type } of kinds) {
        expect(source, `${folder}/${file} compares with ${type}`).not.toMatch(
          new RegExp(`(?:[!=]==\\s*|case\\s+)["'\`]${type}["'\`]`),
        );
      }
    }
  });
});

describe.each(each)("the kind %s", (type, kind) => {
  const examples = declared.filter((manifest) => kindOf(String(manifest.type)) === kind);

  test("has a schema and a shape, and an example", () => {
    for (const name of [type, ...(kind.aliases ?? [])]) {
      expect(schemaFor(name)).toBeDefined();
      expect(shapes[name]).toBeDefined();
    }
    expect(examples.length).toBeGreaterThan(0);
  });

  test("reads by lists that are lists, and by one what answers one", () => {
    if (kind.list !== undefined) {
      expect(operation(kind.list.operation)).toMatchObject({ reply: "list", retry: "read", method: "GET" });
      expect(operation(kind.list.operation).path).not.toContain("{");
    }
    if (kind.single !== undefined) {
      const { reply, retry, path } = operation(kind.single.operation);
      expect(retry).toBe("read");
      expect(["one", "list"]).toContain(reply);
      expect(path.match(/\{\w+\}/g)).toEqual(["{id}"]);
    }
  });

  test("writes by operations that take its manifest, and never by one that cannot be read back", () => {
    expect(kind.writeRoutes.length).toBeGreaterThan(0);
    for (const { operation: name, createsOnly, body: made } of kind.writeRoutes) {
      const { body = {}, retry, method } = operation(name);
      const [manifest = {}] = examples;
      const sent = made?.(manifest, () => null) ?? { manifest };
      expect(Object.keys(sent).filter((field) => !Object.hasOwn(body, field))).toEqual([]);
      const required = Object.entries(body).flatMap(([field, member]) => (member.required ? [field] : []));
      expect(required.filter((field) => sent[field] === undefined)).toEqual([]);
      // What only creates is refused where the resource exists, so that sending it again makes nothing.
      expect(["repeat", "version", "token", ...(createsOnly ? ["once"] : [])]).toContain(retry);
      expect(method).not.toBe("GET");
    }
  });

  test("says why it cannot be read or written exactly where no documented operation does, as the README does", () => {
    const isPossible = (names: readonly (OperationName | undefined)[]) =>
      names.some((name) => name !== undefined && isDocumented(operation(name)));
    const reading = [kind.list?.operation, kind.single?.operation];
    const writing = kind.writeRoutes.map((route) => route.operation);
    expect([kind.cannotRead === undefined, kind.cannotWrite === undefined]).toEqual([reading, writing].map(isPossible));
    const row = readme.split("\n").find((line) => line.startsWith("| `") && line.includes(`\`${kind.type}\``)) ?? "";
    for (const reason of [kind.cannotRead, kind.cannotWrite, kind.cannotUpdate]) expect(row).toContain(reason ?? "");
  });

  test("makes its dry run by the write itself, where that has dryRun and only there", () => {
    for (const { operation: name, dryRun } of kind.writeRoutes) {
      expect(dryRun).toBe(operation(name).body?.dryRun === undefined ? undefined : name);
    }
  });

  test("issues a one-time token exactly where its write answers one", () => {
    const answersToken = kind.writeRoutes.some(({ operation: name }) => operation(name).retry === "token");
    expect(kind.issuesToken !== undefined).toBe(answersToken);
  });

  test("is versioned, or rolls out, exactly where each write may make a version", () => {
    const makesVersions = kind.writeRoutes.some(({ operation: name }) => operation(name).retry === "version");
    expect(kind.hasVersions === true || kind.rollsOut === true || kind.values !== undefined).toBe(makesVersions);
  });

  test("narrows its list by query parameters that the operation has", () => {
    const query = kind.list === undefined ? {} : (operation(kind.list.operation).query ?? {});
    for (const name of Object.keys(kind.list?.query ?? {})) expect(query).toHaveProperty(name);
    for (const manifest of examples) {
      for (const [name, value] of Object.entries(kind.list?.narrow?.(kind.key(manifest)) ?? {})) {
        expect(query).toHaveProperty(name);
        expect(value).not.toBe("");
      }
    }
  });

  test("names its examples apart, in words without spaces and undefined parts", () => {
    const keys = examples.map((manifest) => `${kind.key(manifest)}@${manifest.version}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const manifest of examples) {
      expect(kind.key(manifest)).toMatch(/^[^\s]+$/);
      expect(kind.key(manifest)).not.toMatch(/undefined|null/);
      expect(kind.group(kind.key(manifest))).not.toBe("");
    }
  });

  test("refers to kinds that exist, by pointers into the manifest", () => {
    for (const manifest of examples) {
      for (const { identity, pointer } of manifestReferences(manifest)) {
        expect(kindOf(identity.slice(0, identity.indexOf("/")))).toBeDefined();
        expect(identity).not.toMatch(/undefined|null/);
        expect(at(manifest, pointer)).toBeTypeOf("string");
      }
    }
  });

  test("reads rows of every documented reply that carries it", () => {
    for (const manifest of examples) {
      const key = kind.key(manifest);
      for (const { operation: name, row } of readings(kind)) {
        const found = readRow({ row }, replyOf(name, manifest, key));
        if (operation(name).reply === "empty") {
          expect(found).toBeNull();
          continue;
        }
        expect(found).toMatchObject({
          key,
          id: name === "getCluster" || name.endsWith("Clusters") || name === "putCluster" ? key : "id-1",
        });
        expect(found).toMatchObject({ createdBy: "u", author: "user:ada@example.com" });
        expect(found?.manifest).toMatchObject({ type: manifest.type ?? null, name: manifest.name ?? null });
        if (kind.hasVersions) expect(found?.version).toBe(3);
        if (kind.rollsOut)
          expect(found).toMatchObject({ version: 3, stamp: "deployment-3", status: { status: "DEPLOY_SUCCESS" } });
      }
    }
  });

  test("refuses replies that carry no manifest, and takes an absent id for none", () => {
    const [manifest = {}] = examples;
    for (const { operation: name, row } of readings(kind).filter((one) => operation(one.operation).reply !== "empty")) {
      const reply = replyOf(name, manifest, kind.key(manifest));
      expect(() => readRow({ row }, "text")).toThrow(TypeError);
      expect(() => readRow({ row }, { ...reply, manifest: null, deployment: undefined })).toThrow(TypeError);
      if (!isSnake(name)) expect(readRow({ row }, { ...reply, id: null, applicationId: null })?.id ?? null).toBeNull();
    }
  });

  test("lets only fields change in place that its schema has", () => {
    const shape = shapes[type];
    for (const name of kind.hasVersions ? inPlaceFields : [])
      expect(shape?.is === "object" && Object.hasOwn(shape.fields, name)).toBe(true);
  });
});

test("every operation in the table that a kind may use exists once", () => {
  const used = kinds.flatMap((kind) => readings(kind).map(({ operation: name }) => name));
  for (const name of used) expect(operations).toHaveProperty(name);
});

type Reading = { readonly operation: OperationName; readonly row: (reply: never) => ReturnType<typeof readRow> };

function readings({ list, single, writeRoutes: write }: Kind): readonly Reading[] {
  return [list, single, ...write].flatMap((reading) => reading ?? []);
}

function at(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>(
      (inner, step) => (Array.isArray(inner) ? inner[Number(step)] : isObject(inner) ? inner[step] : undefined),
      value,
    );
}
