import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { nothingShown } from "../../../../src/daemon/api/dashboard-source.ts";
import { startDaemonServer } from "../../../../src/daemon/http/daemon-server.ts";
import { createLog } from "../../../../src/log/log.ts";

const SECRET = "CANARY-webhook";
const sign = (body: string, secret = SECRET): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** A daemon's server that counts what its webhooks ask for. */
async function receiving(secret: string | null = SECRET) {
  let rings = 0;
  const lines: string[] = [];
  const stopping = new AbortController();
  const log = createLog({ level: "trace", format: "json", stream: { write: (line: string) => void lines.push(line) } });
  const platform = {
    secret: () => (secret === null ? null : new Secret(secret)),
    fire: () => {
      rings += 1;
    },
  };
  const own = {
    token: () => null,
    build: { version: "0.0.0", commit: null },
    targets: async () => [],
    gates: async () => ({}),
  };
  const options = {
    host: "127.0.0.1",
    port: 0,
    log,
    clock: systemClock,
    random: systemRandom,
    stopping: stopping.signal,
    ...own,
  };
  const server = await startDaemonServer({
    dashboard: nothingShown,
    ...options,
    hookOf: (source) => (source === "platform" ? platform : undefined),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const post = async (body: string | Buffer, headers: Record<string, string>, source = "platform") => {
    const answer = await fetch(`${server.url}/hooks/${source}`, { method: "POST", body, headers });
    const { "x-request-id": _, date: __, ...shown } = Object.fromEntries(answer.headers);
    return { status: answer.status, text: await answer.text(), headers: shown };
  };
  return { post, rings: () => rings, log: () => lines.join("") };
}

test("F28 a push is answered, and a thousand of them, repeated or for old commits, ask for passes alone", async () => {
  const { post, rings } = await receiving();
  const body = JSON.stringify({ ref: "refs/heads/main", after: "0".repeat(40) });
  const headers = { "content-type": "application/json", "x-hub-signature-256": sign(body) };
  expect(await post(body, { ...headers, "x-github-delivery": "one" })).toMatchObject({ status: 202 });
  for (let at = 0; at < 200; at += 1) await post(body, { ...headers, "x-github-delivery": "one" });
  // S22: the same delivery asks once.
  expect(rings()).toBe(1);
  await post(body, { ...headers, "x-github-delivery": "two" });
  expect(rings()).toBe(2);
});

test("S22 the deliveries that are remembered are bounded", async () => {
  const { post, rings } = await receiving();
  for (let at = 0; at <= 1001; at += 1) await post("", { "x-gitlab-token": SECRET, "x-gitlab-event-uuid": `${at}` });
  await post("", { "x-gitlab-token": SECRET, "x-gitlab-event-uuid": "1001" });
  expect(rings()).toBe(1002);
  await post("", { "x-gitlab-token": SECRET, "x-gitlab-event-uuid": "0" });
  expect(rings()).toBe(1003);
});

test("S20 S21 whatever is not signed with the secret is refused, and every refusal is the same", async () => {
  const { post, rings, log } = await receiving();
  const body = "{}";
  const wrong: readonly Record<string, string>[] = [
    {},
    { "x-hub-signature": "sha1=0123" },
    { "x-hub-signature-256": sign(body, "another") },
    { "x-hub-signature-256": "sha256=" },
    { "x-hub-signature-256": "sha256=zz" },
    { "x-hub-signature-256": `${sign(body)}00` },
    { "x-hub-signature-256": sign(body).toUpperCase() },
    { "x-hub-signature-256": `${sign(body)}, ${sign(body)}` },
    { "x-gitlab-token": "another" },
    { "x-gitlab-token": "" },
    { "x-gitlab-token": SECRET, "x-hub-signature-256": sign(body) },
  ];
  const answers = [];
  for (const headers of wrong) answers.push(await post(body, { "content-type": "application/json", ...headers }));
  answers.push(await post(body, { "content-type": "application/json", "x-gitlab-token": SECRET }, "nowhere"));
  const [first] = answers;
  expect(first).toMatchObject({ status: 401 });
  for (const answer of answers) expect(answer).toEqual(first);
  expect(rings()).toBe(0);
  expect(log()).not.toContain(SECRET);
});

test("S20 without a secret nothing is accepted, an empty one included", async () => {
  const { post, rings } = await receiving(null);
  for (const secret of ["", SECRET]) {
    expect(await post("{}", { "x-hub-signature-256": sign("{}", secret) })).toMatchObject({ status: 401 });
    expect(await post("{}", { "x-gitlab-token": secret })).toMatchObject({ status: 401 });
  }
  expect(rings()).toBe(0);
});

test("S23 S24 a signed body is not parsed, whatever it is, and one above the limit is refused", async () => {
  const { post, rings } = await receiving();
  const deep = "[".repeat(100_000);
  const url = JSON.stringify({ repository: { clone_url: "http://169.254.169.254/" }, after: "f".repeat(40) });
  for (const body of ["{}", "null", "[]", "{", deep, url, "payload=%7B%7D"])
    for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"])
      expect(await post(body, { "content-type": type, "x-hub-signature-256": sign(body) })).toMatchObject({
        status: 202,
      });
  const before = rings();
  const large = Buffer.alloc(26 * 1024 * 1024, 0x20);
  const headers = { "x-hub-signature-256": sign(large.toString()) };
  const refused = await post(large, headers).catch(() => ({ status: 413 }));
  expect(refused.status).toBe(413);
  expect(rings()).toBe(before);
});
