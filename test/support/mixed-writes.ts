import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Secret } from "../../src/contract/secret.ts";
import { service } from "../conformance/platform.ts";
import { type Caller, effects } from "../control-plane.ts";

/** Numbers from 0 to 1 that follow from a seed alone. */
export type Chance = () => number;

/** A write that was sent, and its reply when there was one. */
export type Sent = {
  readonly sort: Sort;
  readonly name: string;
  readonly key: string | null;
  readonly body: unknown;
  readonly reply: string | null;
};

type Sort = keyof typeof sorts;

const secrets = ["a", "b", "c"].map((key) => ({ key, value: `value-of-${key}` }));
const account = {
  type: "virtual-account",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }],
};
const prompt = (name: string) => ({
  type: "chat_prompt",
  name,
  ml_repo: "repo",
  messages: [{ role: "system", content: randomUUID() }],
});

/** How each sort is written. Of an application or a prompt every write makes a version, a group or account is made once. */
const sorts = {
  app: (name: string) => ["PUT", "/api/svc/v1/apps", { manifest: { ...service, name } }],
  group: (name: string) => ["POST", "/api/svc/v1/secret-groups", { name, integrationId: "builtin", secrets }],
  account: (name: string) => ["PUT", "/api/svc/v1/virtual-accounts", { manifest: { ...account, name } }],
  prompt: (name: string) => ["PUT", "/api/ml/v1/prompt-versions", { manifest: prompt(name) }],
} as const satisfies { readonly [sort: string]: (name: string) => readonly [string, string, unknown] };

/** What the audit calls a resource of that name, without the number of its version. */
const audited: { readonly [sort in Sort]: (name: string) => string } = {
  app: (name) => `service/c1x:ws1/${name}`,
  group: (name) => `secret-group/${name}`,
  account: (name) => `virtual-account/${name}`,
  prompt: (name) => `chat_prompt/repo/${name}`,
};

/** Some write of one of several writers, with a key or without; `nth` is of no other write of that writer. */
export function someWrite(chance: Chance, { writer, nth }: { readonly writer: number; readonly nth: string }): Sent {
  const chosen: readonly Sort[] = ["app", "app", "group", "account", "prompt"];
  const sort = chosen[Math.floor(chance() * chosen.length)] ?? "app";
  const isKeyed = chance() < 0.5;
  const isNew = sort === "group" || sort === "account";
  const name = `${sort}-${writer}${isKeyed ? "k" : "n"}${isNew ? `-${nth}` : ""}`;
  const [, , body] = sorts[sort](name);
  return { sort, name, key: isKeyed ? randomUUID() : null, body, reply: null };
}

/** Sends a write; null when there was no reply, or only a part of it. */
export async function send(
  { url, token }: { readonly url: string; readonly token: Secret },
  { sort, name, key, body }: Sent,
): Promise<{ readonly status: number; readonly text: string; readonly isReplay: boolean } | null> {
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

/** How many effects the audit has of each resource that is written here. */
async function countEffects(data: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const effect of await effects(data)) {
    const resource = (effect.split(" ")[2] ?? "").replace(/@\d+$/, "");
    if (/-\d+[kn]/.test(resource)) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  }
  return counts;
}

/**
 * Every acknowledged write has its one effect, every unanswered one none or one, and all that there is is whole. Answers
 * how many of the unanswered ones are there.
 */
export async function expectAll(admin: Caller, data: string, sent: readonly Sent[]): Promise<number> {
  const counts = await countEffects(data);
  const bySort = Map.groupBy(sent, ({ sort, name }) => audited[sort](name));
  let present = 0;
  for (const [resource, writes] of bySort) {
    const answered = writes.filter(({ reply }) => reply !== null).length;
    const beyond = (counts.get(resource) ?? 0) - answered;
    expect([resource, beyond]).toEqual([resource, Math.min(Math.max(beyond, 0), writes.length - answered)]);
    present += beyond;
  }
  expect([...counts.keys()].filter((resource) => !bySort.has(resource))).toEqual([]);
  await expectWhole(admin, counts);
  return present;
}

/** Every resource has as many versions as effects, and all of its parts. */
async function expectWhole(admin: Caller, counts: ReadonlyMap<string, number>): Promise<void> {
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
  const nameOf = ({ manifest }: { manifest: { name: string } }) => manifest.name;
  for (const [name, versions] of Map.groupBy<string, never>(prompts, nameOf)) {
    found.set(audited.prompt(name), versions.length);
  }
  expect(new Map([...found].toSorted())).toEqual(new Map([...counts].toSorted()));
}
