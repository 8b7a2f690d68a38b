import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { databaseOf, statement } from "../support/databases.ts";
import { type Apart, kill, serveApart } from "../support/serve-apart.ts";
import { plantWorkspace, service } from "./platform.ts";

const seed = Number(process.env.HOLDFAST_CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
const crashes = Number(process.env.HOLDFAST_CRASHES ?? 4);
const chance = randomFrom(seed);

/** What is written, each in a form of its own: where to, and what is to be found of it afterwards. */
const sorts = {
  app: (name: string) => ["PUT", "/api/svc/v1/apps", { manifest: { ...service, name } }],
  group: (name: string) => ["POST", "/api/svc/v1/secret-groups", { name, integrationId: "builtin", secrets }],
  account: (name: string) => ["PUT", "/api/svc/v1/virtual-accounts", { manifest: { ...account, name } }],
  prompt: (name: string) => ["PUT", "/api/ml/v1/prompt-versions", { manifest: promptOf(name) }],
} as const satisfies { readonly [sort: string]: (name: string) => readonly [string, string, unknown] };

const secrets = ["a", "b", "c"].map((key) => ({ key, value: `value-of-${key}` }));
const account = {
  type: "virtual-account",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }],
};
const promptOf = (name: string) => ({
  type: "chat_prompt",
  name,
  ml_repo: "repo",
  messages: [{ role: "system", content: randomUUID() }],
});

type Sort = keyof typeof sorts;
/** A write that was sent, and its reply when there was one. */
type Sent = {
  readonly sort: Sort;
  readonly name: string;
  readonly key: string | null;
  readonly body: unknown;
  readonly reply: string | null;
};

/** What the audit calls a resource of that name, without the number of its version. */
const audited: { readonly [sort in Sort]: (name: string) => string } = {
  app: (name) => `service/c1x:ws1/${name}`,
  group: (name) => `secret-group/${name}`,
  account: (name) => `virtual-account/${name}`,
  prompt: (name) => `chat_prompt/repo/${name}`,
};

test(`F69 after each kill -9, every acknowledged write is there, once and whole (seed ${seed})`, {
  timeout: 30_000 + 5000 * crashes,
}, async () => {
  const data = await temporaryFolder();
  const sent: Sent[] = [];
  for (let nth = 0; nth < crashes; nth += 1) {
    const server = await serveApart(data);
    if (nth === 0) await plant(server);
    sent.push(...(await writeUntilKilled(server, nth)));
  }
  const { admin, url, adminToken } = await startControlPlane({ data });
  const counts = await countEffects(data);
  const unanswered = sent.filter(({ reply }) => reply === null);

  // Without a key nobody can know what became of it: it is there whole, or not at all.
  const bare = unanswered.filter(({ key }) => key === null);
  const bareOf = Map.groupBy(bare, ({ sort, name }) => audited[sort](name));
  const presentOf = new Map(
    [...bareOf].map(([resource, writes]) => {
      const beyond = (counts.get(resource) ?? 0) - answeredOf(sent, resource);
      expect([resource, beyond]).toEqual([resource, Math.min(Math.max(beyond, 0), writes.length)]);
      return [resource, beyond];
    }),
  );
  const present = [...presentOf.values()].reduce((sum, count) => sum + count, 0);
  // With a key it is sent again, and made once.
  const keyed = unanswered.filter(({ key }) => key !== null);
  let replayed = 0;
  for (const write of keyed) {
    const reply = await send({ url, token: adminToken }, write);
    expect([write.name, reply?.status]).toEqual([write.name, 200]);
    if (reply?.isReplay) replayed += 1;
  }
  const total = await countEffects(data);
  const expected = new Map([...presentOf].filter(([, count]) => count > 0));
  for (const { sort, name } of sent.filter((one) => !bare.includes(one))) {
    const resource = audited[sort](name);
    expected.set(resource, (expected.get(resource) ?? 0) + 1);
  }
  expect(total).toEqual(expected);

  await expectWhole(admin, expected);
  for (const write of sent.filter(({ key }) => key !== null).slice(0, 20)) {
    const again = await send({ url, token: adminToken }, write);
    expect(again).toMatchObject({ status: 200, isReplay: true, text: write.reply ?? expect.any(String) });
  }
  if ((await databaseOf(data)) === null)
    expect(await statement(data, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const answered = sent.length - unanswered.length;
  process.stdout.write(
    `${(await databaseOf(data)) === null ? "SQLite" : "PostgreSQL"}: crashes ${crashes}, acknowledged ${answered}, present ${answered}, ` +
      `unanswered ${unanswered.length}: without a key ${present} present whole, ${bare.length - present} absent; ` +
      `with one ${replayed} replayed, ${keyed.length - replayed} made by the repetition\n`,
  );
});

type Admin = ReturnType<typeof caller>;

async function plant({ url, token }: Apart): Promise<void> {
  const admin = caller(url, token);
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "repo" } });
}

/** Eight write at once, each what chance wants, until the server is killed at a moment that chance picks. */
async function writeUntilKilled(server: Apart, round: number): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const { promise: enough, resolve: stop } = Promise.withResolvers<void>();
  const last = 10 + Math.floor(chance() * 80);
  let answered = 0;
  const write = async (writer: number) => {
    for (let nth = 0; ; nth += 1) {
      const sort = pick(["app", "app", "group", "account", "prompt"] as const);
      const isKeyed = chance() < 0.5;
      const isNew = sort === "group" || sort === "account";
      const name = `${sort}-${writer}${isKeyed ? "k" : "n"}${isNew ? `-${round}-${nth}` : ""}`;
      const [, , body] = sorts[sort](name);
      const write = { sort, name, key: isKeyed ? randomUUID() : null, body };
      const reply = await send(server, write);
      if (reply === null) return void sent.push({ ...write, reply: null });
      expect([name, reply.status]).toEqual([name, 200]);
      sent.push({ ...write, reply: reply.text });
      answered += 1;
      if (answered === last) stop();
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  await Promise.race([enough, writing]);
  // Just after a reply the server has little in hand: the moment is to be anywhere between two of them.
  await pause(chance() * 15);
  await kill(server.child);
  await writing;
  return sent;
}

/** Sends a write; null when there was no reply, or only a part of it. */
async function send({ url, token }: Pick<Apart, "url" | "token">, { sort, name, key, body }: Omit<Sent, "reply">) {
  const [method, path] = sorts[sort](name);
  try {
    const reply = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token.open()}`,
        "content-type": "application/json",
        ...(key === null ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify(body),
    });
    const isReplay = reply.headers.get("idempotency-replayed") === "true";
    return { status: reply.status, text: await reply.text(), isReplay };
  } catch {
    return null;
  }
}

function answeredOf(sent: readonly Sent[], resource: string): number {
  return sent.filter(({ sort, name, reply }) => audited[sort](name) === resource && reply !== null).length;
}

/** How many effects the audit has of each resource that is written here. */
async function countEffects(data: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const effect of await effects(data)) {
    const resource = (effect.split(" ")[2] ?? "").replace(/@\d+$/, "");
    if (/-\d+[kn]/.test(resource)) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  }
  return counts;
}

/** Every resource has as many versions as effects, and all of its parts. */
async function expectWhole(admin: Admin, counts: ReadonlyMap<string, number>): Promise<void> {
  const found = new Map<string, number>();
  const list = async (path: string) => (await admin.get(`${path}?limit=1000`)).body;
  for (const { id, name, lastVersion } of (await list("/api/svc/v1/apps")).data) {
    const { data } = await list(`/api/svc/v1/apps/${id}/deployments`);
    const versions = data.map(({ version }: { version: number }) => version).toSorted((a: number, b: number) => a - b);
    expect(versions).toEqual(Array.from({ length: lastVersion }, (_, nth) => nth + 1));
    found.set(audited.app(name), lastVersion);
  }
  for (const { name, associatedSecrets } of (await list("/api/svc/v1/secret-groups")).data) {
    expect(associatedSecrets.map((secret: { name: string }) => secret.name).toSorted()).toEqual(["a", "b", "c"]);
    for (const { secretVersions } of associatedSecrets) expect(secretVersions).toHaveLength(1);
    found.set(audited.group(name), 1);
    const [{ id, name: key }] = associatedSecrets;
    expect((await admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value).toBe(`value-of-${key}`);
  }
  for (const { name, jwts } of (await list("/api/svc/v1/virtual-accounts")).data) {
    expect([name, jwts.length]).toEqual([name, 1]);
    found.set(audited.account(name), 1);
  }
  const prompts = (await list("/api/ml/v1/prompt-versions")).data;
  for (const [name, versions = []] of Map.groupBy(
    prompts,
    ({ manifest }: { manifest: { name: string } }) => manifest.name,
  )) {
    found.set(audited.prompt(name), versions.length);
  }
  expect(new Map([...found].toSorted())).toEqual(new Map([...counts].toSorted()));
}

function pick<Value>(values: readonly [Value, ...Value[]]): Value {
  return values[Math.floor(chance() * values.length)] ?? values[0];
}

/** Numbers from 0 to 1 that follow from a seed alone (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
