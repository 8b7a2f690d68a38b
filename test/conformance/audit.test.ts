import { randomUUID } from "node:crypto";
import { expect, inject, test, vi } from "vitest";
import { fillPath, type OperationName, operation, operations } from "../../src/contract/operations.ts";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { pruneAudit } from "../../src/server/audit/prune.ts";
import type { AuditMark } from "../../src/server/audit/verify.ts";
import { insertAuditRow } from "../../src/server/database/audit.ts";
import { keptByDefault, retentionJob } from "../../src/server/jobs/retention.ts";
import { verifyAuditInDatabase } from "../../src/server/offline-admin.ts";
import { openContextWithoutJobs } from "../../src/server/open-context.ts";
import type { DataOptions } from "../../src/server/options.ts";
import { addUser, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { everyWrite, plantForWrites } from "../support/every-write.ts";
import { machine } from "../support/machine.ts";
import { databaseOf, statement } from "../support/test-database.ts";
import { cluster, service } from "./platform.ts";

type Plane = Awaited<ReturnType<typeof startControlPlane>>;
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Row = any;

const AUDIT = "/api/svc/v1/audit";
const names = Object.keys(operations) as OperationName[];
/** Reads that are audited as effects are. */
const audited: readonly OperationName[] = ["getSecret"];

/** All rows, newest first, once those of some requests are there. */
async function rowsOf({ admin }: Plane, requests: readonly string[] = []): Promise<readonly Row[]> {
  return vi.waitFor(
    async () => {
      const { data } = (await admin.get(`${AUDIT}?limit=1000`)).body;
      const known = new Set(data.map(({ requestId }: Row) => requestId));
      expect(requests.filter((id) => !known.has(id))).toEqual([]);
      return data;
    },
    { timeout: 30_000, interval: 100 },
  );
}

type Asked = { readonly path?: string; readonly body?: unknown; readonly token?: string; readonly headers?: object };

/** Calls an operation, and answers its status and the id of the request. */
async function ask({ url, adminToken }: Plane, name: OperationName, { path, body, token, headers }: Asked) {
  const row = operation(name);
  const id = randomUUID();
  const response = await fetch(url + (path ?? fillPath(row.path, allIds)), {
    method: row.method,
    headers: {
      authorization: `Bearer ${token ?? adminToken.open()}`,
      "x-request-id": id,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.text();
  return { id, status: response.status };
}

const allIds = { id: "x", name: "x", jobId: "x", jobRunName: "x", scope: "c1x:ws1" };

/** What a request is refused for: a body or a parameter that is malformed, or a thing that is not there. */
function refusedRequest(name: OperationName): Asked {
  const row = operation(name);
  if (row.body !== undefined) return { body: {} };
  if (row.reply === "list") return { path: `${fillPath(row.path, allIds)}?limit=0` };
  if (name === "getPersonalAccessToken") return { path: fillPath(row.path, { name: "not a name" }) };
  if (name === "getDigest") return { token: "token-of-dev" };
  return {};
}

/** Operations that need nothing but what the caller is known by, or the log itself. */
const needsKept: readonly OperationName[] = [
  "listAudit",
  "listAddons",
  "listUsers",
  "putUser",
  "putTeam",
  "listTeams",
  "listOwnTeams",
];

/** Without tables, everything else fails for a caller who is known already. */
const kept = [
  "audit",
  "audit_marks",
  "audit_keys",
  "users",
  "tokens",
  "grants",
  "teams",
  "team_members",
  "user_groups",
  "holdfast_commits",
];

async function tablesOf(data: string): Promise<readonly string[]> {
  const isPostgres = inject("postgres") !== undefined;
  const rows = await statement(
    data,
    isPostgres
      ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
      : "SELECT name FROM sqlite_schema WHERE type = 'table'",
  );
  return rows.map((row) => String(row.name)).filter((name) => !/^(?:sqlite|kysely)/.test(name) && !kept.includes(name));
}

const nowhere = createLog({ level: "silent", stream: { write: () => {} } });

test("every operation has a row for each effect, for each refusal and for each failure, and no other", async () => {
  const plane = await startControlPlane({ log: nowhere });
  const ids = await plantForWrites(plane.admin);
  await addUser(plane, "dev");
  const secrets = [{ key: "k", value: "v" }];
  const group = await plane.admin.post("/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets });
  const secretId = group.body.data.associatedSecrets[0].id;
  const wanted = new Map<string, readonly [name: string, outcome: string]>();
  const done: string[] = [];
  const note = (name: OperationName, outcome: string, { id, status }: { id: string; status: number }): void => {
    const form = { done: /^2/, refused: /^4/, failed: /^5/ }[outcome] ?? /-/;
    expect([name, outcome, String(status)]).toEqual([name, outcome, expect.stringMatching(form)]);
    wanted.set(id, [name, outcome]);
  };
  for (const name of names) {
    const write = everyWrite[name as keyof typeof everyWrite];
    if (write !== undefined) note(name, "done", await ask(plane, name, { body: write(ids) }));
    else if (name === "getPersonalAccessToken") note(name, "done", await ask(plane, name, {}));
    else if (name === "reissueVirtualAccount")
      note(name, "done", await ask(plane, name, { path: fillPath(operation(name).path, { name: "new" }) }));
    else if (name === "getSecret")
      note(name, "done", await ask(plane, name, { path: fillPath(operation(name).path, { id: secretId }) }));
    else {
      const read = await ask(plane, name, {});
      // A read that succeeds is no row.
      if (read.status === 200) done.push(read.id);
    }
  }
  // A refusal changes nothing, so each is sent in a second of its own for ten of them.
  for (const name of names.filter((one) => one !== "getCaller")) {
    note(name, "refused", await ask(plane, name, refusedRequest(name)));
    if (wanted.size % 8 === 0) await rowsOf(plane, [...wanted.keys()]);
  }
  await rowsOf(plane, [...wanted.keys()]);
  const tables = await tablesOf(plane.data);
  for (const table of tables) await statement(plane.data, `ALTER TABLE ${table} RENAME TO ${table}_away`);
  let failing = 0;
  for (const name of names.filter((one) => !needsKept.includes(one))) {
    const write = everyWrite[name as keyof typeof everyWrite];
    note(name, "failed", await ask(plane, name, write === undefined ? {} : { body: write(ids) }));
    failing += 1;
    if (failing % 8 === 0) await rowsOf(plane, [...wanted.keys()]);
  }
  for (const table of tables) await statement(plane.data, `ALTER TABLE ${table}_away RENAME TO ${table}`);
  const rows = await rowsOf(plane, [...wanted.keys()]);
  for (const [id, [name, outcome]] of wanted) {
    const found = rows.filter(({ requestId }) => requestId === id);
    expect([name, outcome, found.length]).toEqual([name, outcome, 1]);
    const [row] = found;
    const subject = name === "getDigest" && outcome === "refused" ? "user:dev" : "user:admin";
    expect([name, row]).toMatchObject([name, { subject, operation: name, outcome, address: "127.0.0.1" }]);
    expect(row.token).toMatch(/^user-token\//);
    expect([name, row.status === undefined]).toEqual([name, outcome === "done"]);
  }
  const others = rows.filter(({ requestId }) => done.includes(requestId));
  expect([done.length > 10, others]).toEqual([true, []]);
  const effects = rows.filter(({ outcome, requestId }) => outcome === "done" && wanted.has(requestId));
  const writing = names.filter((name) => operation(name).retry !== "read" || audited.includes(name));
  expect(effects.map((row) => row.operation).toSorted()).toEqual(writing.toSorted());
  await plane.close();
  expect(await verified(plane.data)).toMatchObject({ findings: [], uncovered: [] });
});

async function optionsOf(data: string): Promise<DataOptions> {
  const database = await databaseOf(data);
  return { ...machine, data, log: nowhere, ...(database !== null && { database: new Secret(database) }) };
}

async function verified(data: string, given: readonly AuditMark[] = []) {
  return verifyAuditInDatabase(await optionsOf(data), given);
}

test("a row tells the token, the person, commit and pass, and the fields that changed, without secrets", async () => {
  const plane = await startControlPlane();
  const { admin } = plane;
  await plantForWrites(admin);
  const headers = {
    "x-holdfast-actor": encodeURIComponent("Zoë <zoe@example.com>"),
    "x-holdfast-revision": "commit=2c26b46b; pass=p-1",
    "idempotency-key": randomUUID(),
  };
  const image = (uri: string, env: object) => ({
    ...service,
    image: { type: "image", image_uri: uri },
    env: { ...env, DB_PASSWORD: `canary-${uri}` },
  });
  await admin.put("/api/svc/v1/apps", { manifest: image("api:1", { A: "1" }) });
  const body = { manifest: image("api:2", { B: "x".repeat(300) }) };
  const { id } = await ask(plane, "putApp", { body, headers });
  // A repetition is no effect.
  const again = await ask(plane, "putApp", { body, headers });
  expect(again.status).toBe(200);
  const malformed = { "x-holdfast-actor": "%E0%A4%A", "x-holdfast-revision": "whatever" };
  const other = await ask(plane, "putCluster", {
    body: { manifest: { ...cluster, base_domains: [] } },
    headers: malformed,
  });
  const rows = await rowsOf(plane, [id, other.id]);
  expect(JSON.stringify(rows)).not.toContain("canary-");
  expect(rows.filter(({ requestId }) => requestId === again.id)).toEqual([]);
  const row = rows.find(({ requestId }) => requestId === id);
  expect(row).toMatchObject({
    subject: "user:admin",
    token: expect.stringMatching(/^user-token\//),
    actor: "Zoë <zoe@example.com>",
    commit: "2c26b46b",
    pass: "p-1",
    operation: "putApp",
    resource: "service/c1x:ws1/api",
    fqn: "c1x:ws1:api",
    idempotencyKeyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    changes: [
      { field: "env.A", before: "1" },
      { field: "env.B", after: `${"x".repeat(200)}…` },
      { field: "env.DB_PASSWORD", before: "(sensitive)", after: "(sensitive)" },
      { field: "image.image_uri", before: "api:1", after: "api:2" },
    ],
  });
  expect(row.changes[0]).not.toHaveProperty("after");
  const said = rows.find(({ requestId }) => requestId === other.id);
  expect(said.changes).toEqual([{ field: "base_domains[*.apps.example.com]", before: "*.apps.example.com" }]);
  for (const name of ["actor", "commit", "pass"]) expect(said).not.toHaveProperty(name);
  const about = async (query: string) =>
    (await admin.get(`${AUDIT}?${query}`)).body.data.map((one: Row) => one.resource);
  expect(new Set(await about("resource=service%2Fc1x%3Aws1%2Fapi"))).toEqual(new Set(["service/c1x:ws1/api"]));
  expect(await about("resource=service%2Fc1x%3Aws1%2F&limit=1")).toEqual(["service/c1x:ws1/api"]);
  expect(await about("resource=service%2Fc1x%3Aws1")).toEqual([]);
  expect(await about("subject=user%3Anobody")).toEqual([]);
  expect(await about("since=2999-01-01")).toEqual([]);
  expect((await admin.get(`${AUDIT}?since=yesterday`)).status).toBe(400);
  const oldest = (await admin.get(`${AUDIT}?after=&limit=2`)).body.data;
  expect((await admin.get(`${AUDIT}?after=${oldest[0].id}&limit=1`)).body.data).toEqual([oldest[1]]);
});

test("of a flood of refusals ten a second are rows, the others one with their number; of a stranger's none is", async () => {
  const plane = await startControlPlane();
  await addUser(plane, "dev");
  const sent = await Promise.all(Array.from({ length: 60 }, () => ask(plane, "listAudit", { token: "token-of-dev" })));
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([403]));
  const stranger = await ask(plane, "listAudit", { token: "token-of-nobody" });
  expect(stranger.status).toBe(401);
  const numbered = await vi.waitFor(
    async () => {
      const rows = (await plane.admin.get(`${AUDIT}?subject=user:dev`)).body.data;
      const all = rows.reduce((total: number, { count = 1 }: Row) => total + count, 0);
      expect(all).toBe(60);
      return rows;
    },
    { timeout: 30_000, interval: 100 },
  );
  expect(numbered.length).toBeLessThan(60);
  expect(numbered.filter(({ operation: what }: Row) => what === "several").length).toBeGreaterThan(0);
  expect((await plane.admin.get(`${AUDIT}?limit=1000`)).body.data.map(({ requestId }: Row) => requestId)).not.toContain(
    stranger.id,
  );
  const metrics = await (await fetch(`${plane.url}/metrics`)).text();
  expect(metrics).toMatch(/holdfast_http_refusals_total\{operation="listAudit",status="401"\} 1\n/);
});

/** A closed control plane with 20 rows in its chain, and its checkpoint. */
async function written(): Promise<{ readonly data: string; readonly mark: AuditMark; readonly rows: readonly Row[] }> {
  const data = await temporaryFolder();
  const plane = await startControlPlane({ data });
  for (let nth = 0; nth < 20; nth += 1) {
    await plane.admin.put("/api/svc/v1/teams", {
      manifest: { type: "team", name: `t${nth}x`, members: ["a@b.example"] },
    });
  }
  await plane.close();
  const [mark] = await statement(data, "SELECT * FROM audit_marks WHERE kind = 'checkpoint'");
  const rows = await statement(data, "SELECT * FROM audit WHERE chain IS NOT NULL ORDER BY id");
  expect(rows.map(({ number }) => Number(number))).toEqual(rows.map((_, nth) => nth + 1));
  expect(await verified(data)).toMatchObject({ findings: [], uncovered: [], rows: rows.length });
  return { data, rows, mark: { ...(mark as unknown as AuditMark), number: Number(mark?.number) } };
}

const kinds = ({ findings }: Awaited<ReturnType<typeof verified>>) =>
  findings.map(({ kind, from, to }) => `${kind} ${from === to ? from : `${from}-${to}`}`);

test("a verification finds rows that were changed, removed and inserted, and says where", async () => {
  const { data, rows, mark } = await written();
  const id = (number: number) => rows[number - 1].id;
  await statement(data, "UPDATE audit SET principal = 'user:eve' WHERE id = ?", [id(3)]);
  await statement(data, "UPDATE audit SET details = '{}' WHERE id = ?", [id(5)]);
  await statement(data, "DELETE FROM audit WHERE id IN (?, ?)", [id(8), id(9)]);
  const copy = (from: number, newId: string, columns: string) =>
    statement(
      data,
      `INSERT INTO audit (id, at, principal, operation, resource, outcome, details, chain, number, key_id, link)
       SELECT ?, at, principal, operation, 'team/forged', outcome, details, ${columns}, key_id, link FROM audit WHERE id = ?`,
      [newId, id(from)],
    );
  // Between two rows, as a row of no chain, and as one that takes the next number.
  await copy(12, `${id(12)}a`, "chain, number");
  await copy(14, `${id(14)}a`, "NULL, NULL");
  await copy(16, `${id(16)}a`, "chain, number + 1");
  const found = await verified(data);
  expect(kinds(found).toSorted()).toEqual(
    ["changed 3", "changed 5", "inserted 12", "inserted 17", "removed 8-9", "unlinked null"].toSorted(),
  );
  expect(found.uncovered).toEqual([]);
  expect(mark.number).toBe(rows.length);
});

test("a verification finds versions of applications that are not as they were written, whose changes are not told", async () => {
  const data = await temporaryFolder();
  const plane = await startControlPlane({ data });
  await plantForWrites(plane.admin);
  const image = (uri: string) => ({ manifest: { ...service, image: { type: "image", image_uri: uri } } });
  for (const uri of ["api:1", "api:2", "api:3"]) await plane.admin.put("/api/svc/v1/apps", image(uri));
  await plane.close();
  const about = "SELECT id, number, details FROM audit WHERE resource = 'service/c1x:ws1/api' ORDER BY id";
  const numbers = (await statement(data, about)).map(({ number }) => Number(number));
  expect(kinds(await verified(data))).toEqual([]);
  await statement(data, "UPDATE deployments SET json = replace(json, 'api:3', 'api:9') WHERE version = 3");
  expect(kinds(await verified(data))).toEqual([`changed-version ${numbers.at(-1)}`]);
  const again = await startControlPlane({ data });
  const { body } = await again.admin.get(`${AUDIT}?resource=service%2Fc1x%3Aws1%2Fapi`);
  const [third, second, first] = body.data;
  expect(third).not.toHaveProperty("changes");
  expect(second.changes).toEqual([{ field: "image.image_uri", before: "api:1", after: "api:2" }]);
  expect(first).toMatchObject({ created: true });
  await again.close();
  await statement(data, "DELETE FROM deployments WHERE version = 2");
  // The row cannot be made to name another version either.
  await statement(
    data,
    "UPDATE audit SET details = replace(details, '\"version\":1', '\"version\":3') WHERE number = ?",
    [numbers[0] ?? 0],
  );
  expect(kinds(await verified(data))).toEqual(
    ["changed", "changed-version", "changed-version"].map((kind, nth) => `${kind} ${numbers[nth]}`),
  );
});

test("rows that are missing at the end are found by the checkpoint, in the database or kept elsewhere", async () => {
  const { data, rows, mark } = await written();
  const last = rows.length;
  await statement(data, "DELETE FROM audit WHERE number > ?", [last - 2]);
  expect(kinds(await verified(data))).toEqual([`removed ${last - 1}-${last}`]);
  await statement(data, "DELETE FROM audit_marks");
  expect(kinds(await verified(data))).toEqual([]);
  expect((await verified(data)).uncovered).toMatchObject([{ from: 1, to: last - 2, rows: last - 2, missing: 0 }]);
  expect(kinds(await verified(data, [mark]))).toEqual([`removed ${last - 1}-${last}`]);
  expect(kinds(await verified(data, [{ ...mark, number: 3 }]))).toEqual(["forged-mark 3"]);
  await statement(data, "DELETE FROM audit");
  expect(kinds(await verified(data, [mark]))).toEqual([`removed 1-${last}`]);
});

test("rows of an earlier release are before the first link", async () => {
  const data = await temporaryFolder();
  const first = await startControlPlane({ data });
  await first.admin.put("/api/svc/v1/clusters", { manifest: cluster });
  await first.close();
  await statement(data, "UPDATE audit SET chain = NULL, number = NULL, key_id = NULL, link = NULL");
  await statement(data, "DELETE FROM audit_marks");
  const second = await startControlPlane({ data });
  await second.admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, name: "c2x" } });
  await second.close();
  expect(await verified(data)).toMatchObject({ earlier: 1, chains: 1, findings: [], uncovered: [] });
});

test("a transaction that is rolled back leaves no hole in the chain, whatever runs beside it", async () => {
  const data = await temporaryFolder();
  const plane = await startControlPlane({ data, log: nowhere });
  const isPostgres = (await databaseOf(data)) !== null;
  // The row has its number already when the database refuses it.
  if (isPostgres) {
    await statement(
      data,
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.02); RAISE EXCEPTION 'no'; END $$",
    );
    await statement(
      data,
      "CREATE TRIGGER refused BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.resource LIKE 'team/bad%') EXECUTE FUNCTION refuse()",
    );
  } else {
    await statement(
      data,
      "CREATE TRIGGER refused BEFORE INSERT ON audit WHEN NEW.resource LIKE 'team/bad%' BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
  }
  const put = (name: string) =>
    plane.admin.put("/api/svc/v1/teams", { manifest: { type: "team", name, members: ["a@b.example"] } });
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, nth) => (await put(`${nth % 2 === 0 ? "bad" : "good"}-${nth}`)).status),
  );
  expect(statuses.toSorted()).toEqual([...Array(20).fill(200), ...Array(20).fill(500)]);
  await statement(data, isPostgres ? "DROP TRIGGER refused ON audit" : "DROP TRIGGER refused");
  if (isPostgres) await statement(data, "DROP FUNCTION refuse");
  await plane.close();
  expect(await verified(data)).toMatchObject({ findings: [], uncovered: [] });
  const [{ unused } = { unused: null }] = await statement(
    data,
    "SELECT count(*) AS unused FROM audit_marks WHERE kind = 'unused'",
  );
  // On SQLite one transaction follows the other, so each number is taken again.
  expect(Number(unused) > 0).toBe(isPostgres);
});

test("a chain that was pruned begins after a signed mark, and without that mark its rows are missing", async () => {
  const { data, rows } = await written();
  {
    await using stack = new AsyncDisposableStack();
    const context = await openContextWithoutJobs(await optionsOf(data), data, stack);
    const pruning = await context.store.write((transaction) => pruneAudit(transaction, context, rows[9].id));
    expect(pruning).toEqual({ pruned: 9, hasMore: false });
  }
  const left = await statement(data, "SELECT number FROM audit ORDER BY id");
  expect(left.map(({ number }) => Number(number))).toEqual(rows.slice(9).map(({ number }) => Number(number)));
  expect(await verified(data)).toMatchObject({ findings: [], uncovered: [] });
  const { id, at, principal, operation: by, resource, outcome, details, chain, key_id, link } = rows[8];
  const forged = [id, at, principal, by, resource, outcome, details, chain, 2, key_id, link];
  await statement(
    data,
    "INSERT INTO audit (id, at, principal, operation, resource, outcome, details, chain, number, key_id, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    forged,
  );
  expect(kinds(await verified(data))).toEqual(["inserted 2"]);
  await statement(data, "DELETE FROM audit WHERE id = ?", [id]);
  await statement(data, "DELETE FROM audit WHERE id = ?", [rows[9].id]);
  expect(kinds(await verified(data))).toEqual(["removed 10"]);
  await statement(data, "DELETE FROM audit_marks WHERE kind = 'pruned'");
  expect(kinds(await verified(data))).toEqual(["removed 1-10"]);
});

test("a row of a server whose clock is behind, written while the log is pruned, is not deleted without a mark", async () => {
  const { data } = await written();
  await using stack = new AsyncDisposableStack();
  const context = await openContextWithoutJobs(await optionsOf(data), data, stack);
  const clock = { ...machine.clock, now: () => machine.clock.now() - 400 * 86_400_000 };
  const behind = await openContextWithoutJobs({ ...(await optionsOf(data)), clock }, data, stack);
  const { id: chain } = behind.audit.chain;
  const row = { principal: "user:admin", operation: "19", resource: "team/late", outcome: "done" } as const;
  const write = () =>
    behind.store.write((transaction) =>
      insertAuditRow(transaction, behind, { ...row, keyHash: null, fencingNumber: null, details: {} }),
    );
  await write();
  let count = 1;
  const store: typeof context.store = {
    ...context.store,
    write: async (change) => {
      const result = await context.store.write(change);
      if (count < 6) {
        count += 1;
        await write();
      }
      return result;
    },
  };
  await statement(data, "UPDATE retention SET due_at = 0");
  await retentionJob(keptByDefault).run({ ...context, store });
  const left = await statement(data, "SELECT number FROM audit WHERE chain = ?", [chain]);
  const marks = await statement(data, "SELECT number FROM audit_marks WHERE kind = 'pruned' AND chain = ?", [chain]);
  expect(marks).toHaveLength(1);
  expect(Number(marks[0]?.number) + left.length).toBe(count);
  expect(await verified(data)).toMatchObject({ findings: [] });
});
