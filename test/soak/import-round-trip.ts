import { cpSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import type { ImportedResource, ImportReport } from "../../src/contract/generated/output.ts";
import { isObject, type JsonObject } from "../../src/contract/json.ts";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { baseCount, corpusFiles, isUpload, makeSecrets, own, variantsByType } from "../conformance/platform-world.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { randomFrom } from "../support/random.ts";
import { type Server, serve, serveProcess } from "../support/server.ts";
import { exampleCount, examples, type Source, sourceOf } from "../support/source.ts";
import { sample, seedOf } from "./sweep.ts";

/**
 * How many manifests are drawn of each type: that many of its variants, and combinations of two where these are too few;
 * and how many there are then at least.
 */
type Sizes = { readonly variants: number; readonly least: number; readonly total: number };

/** Tests that manifests of every type, and the examples, make a round trip through an import; `SEED` repeats a run. */
export function testRoundTrips(sizes: Sizes): void {
  const seed = seedOf();
  const manifests = drawManifests(sizes, randomFrom(seed));

  test("manifests of every type are drawn", () => {
    expect(new Set(manifests.map(({ type }) => type))).toEqual(new Set(manifestTypes));
    expect(manifests.length).toBeGreaterThanOrEqual(sizes.total);
  });

  const what = `${manifests.length} manifests of seed ${seed} and the examples make a round trip`;
  test(`${what} on SQLite`, () => importBothWays(manifests, null));

  test(`${what} on PostgreSQL`, async ({ skip }) => {
    const postgres = await ownPostgres(skip);
    await importBothWays(manifests, postgres.url);
  });
}

function drawManifests({ variants, least }: Sizes, random: () => number): readonly JsonObject[] {
  return [...variantsByType].flatMap(([type, all]) => {
    const writable = all.filter((one) => !isUpload(one));
    const drawn = sample(writable, variants, random);
    const pick = () => writable[Math.floor(random() * writable.length)];
    const missing = Math.max(least - drawn.length, 0);
    const combined = Array.from({ length: missing }, (): JsonObject => ({ ...pick(), ...pick() }));
    return [...drawn, ...combined].map((one, index) => oddly(own(one, type, index), index, random));
  });
}

const oddParts = [
  ..."no ~ 1e3 0o7 2026-01-01 --- ... << = | > & * ! % ' \" \\ { ] , @ ` é \u{1f600} a 0 a:b".split(" "),
  ...[" ", ": ", " #", "- ", "? ", "\t", "\n", "\n\n", "---\n", "a\n  b"],
];

/** Gives prompts and services texts that YAML may read otherwise, and some services a secret in plain text. */
function oddly(manifest: JsonObject, index: number, random: () => number): JsonObject {
  const count = Math.ceil(random() * 4);
  const odd = Array.from({ length: count }, () => oddParts[Math.floor(random() * oddParts.length)]).join("");
  if (manifest.type === "chat_prompt") return { ...manifest, messages: [{ role: "system", content: odd }] };
  if (manifest.type !== "service") return manifest;
  return { ...manifest, env: { TEXT: odd, ...(index % 20 === 1 ? { [PLAIN]: "plain" } : {}) } };
}

const PLAIN = "API_KEY";

/**
 * Applies manifests and the examples to a control plane with all operations, and imports them from it, then from one with
 * the documented operations alone on the same data: these could not create every kind. There it is done again with the
 * ledger of the apply, which has the ids of applications.
 */
async function importBothWays(manifests: readonly JsonObject[], database: string | null): Promise<void> {
  const flags = database === null ? [] : ["--database", database];
  const server = await serveProcess(flags);
  const { applied, origin } = await applyAll(server, manifests);
  const full = await roundTrip(server, { applied, database });
  const plain = manifests.filter(({ env }) => isObject(env) && PLAIN in env).length;
  // Live does not show where the secrets of the groups are from that were made beside the manifests.
  const groups = (await server.call("GET", "/api/svc/v1/secret-groups")).data.filter(
    ({ associatedSecrets }: { associatedSecrets: readonly unknown[] }) => associatedSecrets.length > 0,
  );
  expect(full).toMatchObject({ skipped: plain + groups.length, unread: 0 });
  server.process.kill("SIGTERM");
  await server.process.ended;
  const options = ["--documented-only", "--port", new URL(server.url).port, ...flags];
  const documented = await serve(options, { data: server.data });
  const without = await roundTrip(documented, { applied, database });
  const withLedger = await roundTrip(documented, { applied, database, origin });
  const unlisted = ["team", "virtual-account", "secret-group"];
  const unread = [...applied.values()].filter((kind) => unlisted.includes(kind)).length;
  expect(withLedger).toMatchObject({ skipped: plain, unread });
  const trips = JSON.stringify({ full, "documented-only": without, "documented-only with the ledger": withLedger });
  process.stdout.write(`import, ${database === null ? "SQLite" : "PostgreSQL"}: ${trips}\n`);
}

async function applyAll(server: Server, manifests: readonly JsonObject[]): Promise<Omit<Platform, "database">> {
  await makeSecrets(server, manifests);
  const source = await sourceOf(corpusFiles(manifests), server);
  cpSync(join(examples, "manifests"), source.folder, { recursive: true });
  const { outcomes } = reportOf(await source.runHere(["apply", "--yes", "--sink", "file", "-o", "json"]));
  expect(outcomes.filter(({ result }) => result !== "created")).toEqual([]);
  expect(outcomes).toHaveLength(manifests.length + baseCount + exampleCount);
  // An import has the newest version, without its number.
  const applied = new Map(outcomes.map(({ identity, kind }) => [identity.replace(/@\d+$/, ""), kind]));
  return { applied, origin: source.folder };
}

type Platform = {
  /** The kind of each resource by its identity. */
  readonly applied: ReadonlyMap<string, string>;
  readonly database: string | null;
  /** The folder of the source that was applied, where its ledger and configuration are kept. */
  readonly origin?: string | undefined;
};

/** The kinds that every control plane lists. */
const listed: ReadonlySet<string> = new Set(["workspace", "ml-repo", "chat_prompt", "model-version"]);

/** Imports everything into an empty source, and fails unless a plan of it finds nothing to do. */
async function roundTrip(server: Server, { applied, database, origin }: Platform) {
  const before = await countEffects(server, database);
  const source = await sourceOf({}, server);
  if (origin !== undefined)
    for (const kept of [".holdfast", "holdfast.yaml"])
      cpSync(join(origin, kept), join(source.folder, kept), { recursive: true });
  const report = await importInto(source);
  const skipped = report.resources.filter(({ result }) => result === "skipped");
  const valued = skipped.filter(({ kind }) => kind === "secret-group");
  expect(valued.filter(({ why }) => why !== "not-declarable")).toEqual([]);
  const others = skipped.filter((one) => !valued.includes(one));
  expect(others.filter(({ why, detail }) => why !== "literal-secret" || !detail?.includes(PLAIN))).toEqual([]);
  expect(report.unread.filter(({ kind, why, isFailure }) => listed.has(kind) || why === "" || isFailure)).toEqual([]);
  expect(report.undeclared).toEqual([]);
  const unread = new Set(report.unread.map(({ kind }) => kind));
  const isBeside = ({ identity, kind }: ImportedResource): boolean => kind === "secret-group" && !applied.has(identity);
  const found = new Set(report.resources.filter((one) => !isBeside(one)).map(({ identity }) => identity));
  expect({
    applied: [...applied].filter(([identity, kind]) => !found.has(identity) && !unread.has(kind)),
    imported: [...found].filter((identity) => !applied.has(identity)),
  }).toEqual({ applied: [], imported: [] });
  const { written } = report.summary;
  expect(report.resources).toHaveLength(written + skipped.length);
  await expectNothingToDo(source, report);
  const files = filesOf(source);
  expect(files).toHaveLength(written);
  expect((await importInto(source)).summary).toMatchObject({ written: 0, unchanged: written });
  expect(filesOf(source)).toEqual(files);
  expect(await countEffects(server, database)).toBe(before);
  return { written, skipped: skipped.length, unread: applied.size - found.size };
}

async function importInto(source: Source): Promise<ImportReport> {
  const ended = await source.runHere(["import", "--into", "live", "-o", "json"]);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return JSON.parse(ended.stdout);
}

// What was skipped is not managed, or an orphan where the ledger has it.
async function expectNothingToDo(source: Source, { summary, resources }: ImportReport): Promise<void> {
  const plan = planOf(await source.runHere(["plan", "--show", "unmanaged", "-o", "json"]));
  const counts = { keep: summary.written, unrecorded: 0 };
  expect(plan).toMatchObject({ complete: true, summary: counts, diagnostics: [] });
  expect(plan.steps.filter(({ action }) => action !== "orphan")).toEqual([]);
  const unmanaged = new Set(plan.unmanaged?.map(({ identity }) => identity));
  const orphans = new Set(plan.steps.map(({ identity }) => identity));
  const results = Map.groupBy(resources, ({ result }) => result);
  const written = new Set(results.get("written")?.map(({ identity }) => identity));
  const skipped = new Set(results.get("skipped")?.map(({ identity }) => identity));
  expect([...unmanaged.difference(skipped), ...orphans.intersection(written)]).toEqual([]);
  expect(skipped.difference(unmanaged.union(orphans))).toEqual(new Set());
}

/** Every manifest with its text and when it was written. */
function filesOf({ folder }: Source) {
  return globSync("live/**/*.yaml", { cwd: folder })
    .toSorted()
    .map((file) => [file, readFileSync(join(folder, file), "utf8"), statSync(join(folder, file)).mtimeMs]);
}

async function countEffects(server: Server, database: string | null): Promise<number> {
  if (database === null) return server.effects().length;
  const client = new Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query(
    "SELECT count(*) AS effects FROM audit WHERE outcome = 'done' AND operation <> 'E10'",
  );
  await client.end();
  return Number(rows[0].effects);
}
