import { createHmac, generateKeyPairSync } from "node:crypto";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { revokeInDatabase } from "../../src/server/offline-admin.ts";
import { caller, effects, startControlPlane } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/kept-log.ts";
import { machine } from "../support/machine.ts";
import { signInAs, startOidcIssuer } from "../support/oidc-issuer.ts";
import { audience, first, jwkOf, type Key, now, ownIssuer, rsa } from "../support/own-issuer.ts";
import { standingClock } from "../support/standing-clock.ts";
import { databaseOf, statement } from "../support/test-database.ts";
import { cluster } from "./platform.ts";

const users = "/api/svc/v1/users";
const me = "/api/svc/v1/me";
const mine = "/api/svc/v1/personal-access-tokens/mine";
const ada = { sub: "1", email: "ada@example.com", email_verified: true };

const rsaOfNobody = rsa();

/** A control plane that accepts the tokens of an issuer, and its log. */
async function planeOf(issuer: string, options: Parameters<typeof startControlPlane>[0] = {}) {
  const { log, entries } = keptLog();
  const plane = await startControlPlane({ oidc: { issuer, audience }, log, ...options });
  const told = (event: string) => entries().filter((entry) => entry.event === event);
  const as = (token: Secret) => caller(plane.url, token);
  const statusOf = async (token: Secret) => (await as(token).get(me)).status;
  return { ...plane, as, told, statusOf };
}

describe("a token of a real provider", () => {
  test("is that of a person who appears at first sight, with the roles of its e-mail and of its groups", async () => {
    const issuer = await startOidcIssuer();
    issuer.persons.set("ada", { groups: ["ml", "platform-people", "none"], name: "Ada Lovelace" });
    const { admin, as, data } = await planeOf(issuer.url, {
      oidc: { issuer: issuer.url, audience: issuer.audience, groupsClaim: "groups" },
    });
    const team = (manifest: object) => admin.put("/api/svc/v1/teams", { manifest });
    await team({ type: "team", name: "ml", members: ["other@example.com"] });
    await team({ type: "sso-team", name: "platform", group_name: "platform-people" });
    // Its group has another name.
    await team({ type: "sso-team", name: "none", group_name: "some" });
    const collaborators = ["user:ada@example.com", "team:ml", "team:platform", "team:none"].map((subject) => ({
      subject,
      role_id: "cluster-viewer",
    }));
    await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, collaborators } });
    const person = as(await signInAs(issuer, "ada"));
    expect((await person.get("/api/svc/v1/clusters/c1x")).status).toBe(200);
    const role = { role: "cluster-viewer", resourceType: "cluster", resourceFqn: "c1x" };
    expect((await person.get(me)).body.data).toMatchObject({
      subject: "user:ada@example.com",
      tokenExpiresAt: expect.any(String),
      roles: [
        { ...role, through: "team:ml", group: "ml" },
        { ...role, through: "team:platform", group: "platform-people" },
        role,
      ].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    });
    const teams = (await person.get("/api/svc/v1/teams/user")).body.data;
    expect(teams.map(({ teamName }: { readonly teamName: string }) => teamName)).toEqual(["platform", "ml"]);
    const [listed] = (await admin.get(users)).body.data;
    expect(listed).toMatchObject({
      subject: "user:ada@example.com",
      displayName: "Ada Lovelace",
      signIn: "issuer",
      issuer: issuer.url,
      issuerSubject: "ada",
      groups: ["ml", "none", "platform-people"],
    });
    expect(await effects(data)).toContain("issuer E17 user/ada@example.com");
  });
});

describe("a token that is not to be accepted", () => {
  test("is answered 401 without a reason, which the log has", async () => {
    const issuer = await ownIssuer();
    const { url, sign } = issuer;
    const weak = rsa(1024);
    const unknown = rsa();
    const curve: Key = { ...generateKeyPairSync("ec", { namedCurve: "P-256" }), alg: "ES256" };
    const imposter = { ...curve, alg: "ES256" };
    issuer.setKeys(first, weak);
    const { clock, pass } = standingClock();
    const { told, statusOf, as, admin } = await planeOf(url, { clock });
    const plain = (header: object, payload: object, signature: (text: string) => string) => {
      const text = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      return new Secret(`${text}.${signature(text)}`);
    };
    const payload = { ...ada, iss: url, aud: audience, iat: now(), exp: now() + 300 };
    const { kid } = await jwkOf(first);
    const pem = first.publicKey.export({ type: "spki", format: "pem" });
    const hmac = (text: string) => createHmac("sha256", pem).update(text).digest("base64url");
    const cases: readonly (readonly [string, Secret, RegExp])[] = [
      ["another issuer", await sign({ ...ada, iss: "https://evil.example.com" }), /its issuer is "https:\/\/evil/],
      ["no issuer", await sign({ ...ada, iss: undefined }), /its issuer is absent/],
      ["a slash more", await sign({ ...ada, iss: `${url}/` }), /its issuer is/],
      ["another audience", await sign({ ...ada, aud: "https://other.example.com" }), /"aud" claim/],
      ["no audience", await sign({ ...ada, aud: undefined }), /"aud" claim/],
      ["the public key as a secret", plain({ alg: "HS256", kid }, payload, hmac), /algorithm "HS256" is not accepted/],
      ["no signature", plain({ alg: "none" }, payload, () => "AA"), /algorithm "none" is not accepted/],
      ["an unknown key", await sign(ada, { key: unknown }), /no applicable key/],
      ["the id of another key", await sign(ada, { key: unknown, header: { kid } }), /signature verification failed/],
      ["the id of a key of another type", await sign(ada, { key: imposter, header: { kid } }), /no applicable key/],
      ["another algorithm than its key's", await sign(ada, { header: { alg: "PS256" } }), /no applicable key/],
      ["an id of a key that is none", await sign(ada, { header: { kid: "x".repeat(300) } }), /id of its key/],
      ["a token that has expired", await sign({ ...ada, exp: now() - 60 }), /"exp" claim/],
      ["no end", await sign({ ...ada, exp: undefined }), /missing required "exp" claim/],
      ["no begin", await sign({ ...ada, iat: undefined }), /missing required "iat" claim/],
      ["a token of tomorrow", await sign({ ...ada, nbf: now() + 3600 }), /"nbf" claim/],
      ["issued tomorrow", await sign({ ...ada, iat: now() + 3600, exp: now() + 7200 }), /issued in the future/],
      ["a token for a logout", await sign(ada, { header: { typ: "logout+jwt" } }), /type "logout\+jwt"/],
      ["a bound token", await sign({ ...ada, cnf: { jkt: "x" } }), /bound to a key/],
      ["no subject", await sign({ ...ada, sub: undefined }), /missing required "sub" claim/],
      ["an empty subject", await sign({ ...ada, sub: "" }), /its subject is empty/],
      ["an unprintable subject", await sign({ ...ada, sub: "1\u0000" }), /its subject is empty, unprintable/],
      ["an e-mail that is not verified", await sign({ ...ada, email_verified: false }), /no e-mail that the issuer/],
      ["a verification that is a text", await sign({ ...ada, email_verified: "true" }), /no e-mail that the issuer/],
      ["no e-mail", await sign({ ...ada, email: undefined }), /no e-mail that the issuer/],
      ["an e-mail of full width", await sign({ ...ada, email: "\uFF41da@example.com" }), /another Unicode form/],
      ["a list of e-mails", await sign({ ...ada, email: ["ada@example.com"] }), /no e-mail that the issuer/],
      ["a name of the server", await sign({ ...ada, email: "admin" }), /its e-mail is none/],
    ];
    for (const [what, token, reason] of cases) {
      pass(11_000);
      const { status, body } = await as(token).get(me);
      expect([what, status, body]).toEqual([
        what,
        401,
        { statusCode: 401, code: "unauthorized", message: "the token is not valid" },
      ]);
      expect([what, told("token-refused").at(-1).reason]).toEqual([what, expect.stringMatching(reason)]);
    }
    expect((await admin.get(users)).body.pagination.total).toBe(1);
    expect(await statusOf(await sign(ada))).toBe(200);
  });

  test("costs the issuer a request, and the log a line, only now and then", async () => {
    const { url, sign, asked } = await ownIssuer();
    const { clock, pass } = standingClock();
    const { told, statusOf } = await planeOf(url, { clock });
    for (let count = 0; count < 30; count += 1) {
      expect(await statusOf(await sign(ada, { key: rsaOfNobody }))).toBe(401);
    }
    expect(asked.filter((path) => path === "/jwks")).toHaveLength(1);
    expect(told("token-refused")).toHaveLength(10);
    pass(11_000);
    expect(await statusOf(await sign(ada, { key: rsaOfNobody }))).toBe(401);
    expect(told("token-refused").at(-1)).toMatchObject({ unlogged: 20 });
    expect(asked.filter((path) => path === "/jwks")).toHaveLength(2);
  });
});

describe("a user of an issuer", () => {
  test("is its subject: an e-mail that changes keeps the user, and one that is bound is refused", async () => {
    const { url, sign } = await ownIssuer();
    const { as, told, statusOf, admin } = await planeOf(url);
    const old = await sign({ ...ada, iat: now() - 20 });
    const { subjectId } = (await as(old).get(me)).body.data;
    const renamed = (await as(await sign({ ...ada, email: "lovelace@example.com" })).get(me)).body.data;
    expect(renamed).toMatchObject({ subject: "user:ada@example.com", subjectId });
    expect(told("issuer-email-changed")).toMatchObject([
      { user: "user:ada@example.com", email: "lovelace@example.com" },
    ]);
    // Its name is not needed again.
    expect(await statusOf(await sign({ sub: "1" }))).toBe(200);
    for (const email of ["ada@example.com", "ADA@Example.COM"]) {
      expect(await statusOf(await sign({ ...ada, sub: "2", email }))).toBe(401);
    }
    expect(told("token-refused").at(-1)).toMatchObject({
      reason: `its e-mail is that of user:ada@example.com, who is 1 of ${url}`,
      subject: "2",
    });
    await admin.put(users, { email: "local@example.com" });
    expect(await statusOf(await sign({ ...ada, sub: "3", email: "local@example.com" }))).toBe(401);
    expect(told("token-refused").at(-1)).toMatchObject({ reason: expect.stringContaining("who signs in by a token") });
    // Subjects are compared as they are.
    expect(await statusOf(await sign({ ...ada, sub: "x", email: "x@example.com" }))).toBe(200);
    expect(await statusOf(await sign({ ...ada, sub: "X", email: "y@example.com" }))).toBe(200);
    expect((await admin.get(users)).body.pagination.total).toBe(5);
  });

  test("is one row when many requests bring its first token at once", async () => {
    const { url, sign } = await ownIssuer();
    const { statusOf, admin, data } = await planeOf(url);
    const token = await sign(ada);
    const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(token)));
    expect(statuses).toEqual(statuses.map(() => 200));
    expect((await admin.get(users)).body.pagination.total).toBe(2);
    expect((await effects(data)).filter((effect) => effect.startsWith("issuer"))).toHaveLength(1);
  });

  test("loses everything with the next request when it is removed, and is bound anew when it is added again", async () => {
    const { url, sign } = await ownIssuer();
    const { as, told, statusOf, admin } = await planeOf(url);
    const token = await sign(ada);
    const personal = new Secret((await as(token).get(mine)).body.token);
    expect(await statusOf(personal)).toBe(200);
    await admin.put(users, { email: ada.email, remove: true });
    for (const one of [token, personal, await sign(ada)]) expect(await statusOf(one)).toBe(401);
    expect(told("token-refused").at(-1)).toMatchObject({ reason: "user:ada@example.com was removed" });
    await admin.put(users, { email: ada.email, signIn: "issuer" });
    expect(await statusOf(personal)).toBe(401);
    // The next one with the e-mail, whoever it is.
    expect(await statusOf(await sign({ ...ada, sub: "2" }))).toBe(200);
    expect(await statusOf(token)).toBe(401);
    await admin.post("/api/svc/v1/subjects/disable", { subject: "user:ada@example.com" });
    expect(await statusOf(await sign({ ...ada, sub: "2" }))).toBe(401);
    expect(told("token-refused").at(-1)).toMatchObject({ reason: "user:ada@example.com is disabled" });
  });

  test("that is revoked needs a newer token, and its personal access tokens are void", async () => {
    const { url, sign } = await ownIssuer();
    const { as, statusOf, data } = await planeOf(url);
    const token = await sign(ada);
    const personal = new Secret((await as(token).get(mine)).body.token);
    const database = await databaseOf(data);
    const log = createLog({ level: "silent" });
    const beside = { ...machine, data, log, ...(database && { database: new Secret(database) }) };
    await revokeInDatabase(beside, ["user:ada@example.com"]);
    for (const one of [token, personal]) {
      await eventually("it is void", async () => (await statusOf(one)) === 401);
    }
    // Within the difference that clocks may have.
    expect(await statusOf(await sign({ ...ada, iat: now() + 10 }))).toBe(200);
    expect(await statusOf(token)).toBe(401);
    expect(await statusOf(personal)).toBe(401);
  });

  test("has the groups of its newest token, also by older ones and by personal access tokens", async () => {
    const { url, sign } = await ownIssuer();
    const { as, admin, data, close } = await planeOf(url, { oidc: { issuer: url, audience, groupsClaim: "groups" } });
    const sees = async (token: Secret) => (await as(token).get("/api/svc/v1/clusters/c1x")).status === 200;
    const member = await sign({ ...ada, iat: now() - 20, groups: ["ml"] });
    // The team does not exist yet.
    expect((await as(member).get(me)).body.data.roles).toEqual([]);
    await admin.put("/api/svc/v1/teams", { manifest: { type: "team", name: "ml", members: ["other@example.com"] } });
    const collaborators = [{ subject: "team:ml", role_id: "cluster-viewer" }];
    await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, collaborators } });
    const personal = new Secret((await as(member).get(mine)).body.token);
    expect([await sees(member), await sees(personal)]).toEqual([true, true]);
    const left = await sign({ ...ada, iat: now() - 10, groups: [] });
    expect([await sees(left), await sees(member), await sees(personal)]).toEqual([false, false, false]);
    expect(await sees(await sign({ ...ada, groups: "ml" }))).toBe(true);
    expect(await sees(personal)).toBe(true);
    await close();
    // Without the claim nothing says who is in which group; and without the issuer nobody vouches for the user.
    const ungrouped = await startControlPlane({ data, oidc: { issuer: url, audience } });
    expect((await caller(ungrouped.url, personal).get("/api/svc/v1/clusters/c1x")).status).toBe(404);
    await ungrouped.close();
    const alone = await startControlPlane({ data });
    expect((await caller(alone.url, personal).get(me)).status).toBe(401);
    expect(await statement(data, "SELECT * FROM user_groups")).toEqual([]);
  });
});

describe("the keys of an issuer", () => {
  test("are read again when they are replaced, and one that is withdrawn signs no more", async () => {
    const issuer = await ownIssuer();
    const { sign, url } = issuer;
    const { clock, pass } = standingClock();
    const { statusOf, told } = await planeOf(url, { clock });
    const token = await sign(ada);
    expect(await statusOf(token)).toBe(200);
    const second = rsa();
    issuer.setKeys(second);
    pass(11_000);
    expect(await statusOf(await sign(ada, { key: second }))).toBe(200);
    expect(await statusOf(token)).toBe(401);
    expect(told("token-refused").at(-1)).toMatchObject({ reason: expect.stringContaining("no applicable key") });
  });

  test("that are away, huge, slow, of another issuer or none are not used, and those of before for an hour", async () => {
    const issuer = await ownIssuer();
    const { sign, url } = issuer;
    const { clock, pass } = standingClock();
    const { statusOf, told } = await planeOf(url, { clock });
    const token = await sign(ada);
    const isKeys = (path: string) => path === "/jwks";
    const json = (value: unknown) => JSON.stringify(value);
    const answers: readonly (readonly [string, (path: string, reply: ServerResponse) => boolean, RegExp])[] = [
      ["away", (_, reply) => Boolean(reply.writeHead(503).end("away")), /answered 503/],
      ["moved", (_, reply) => Boolean(reply.writeHead(302, { location: "/jwks" }).end()), /answered 302/],
      ["no JSON", (_, reply) => Boolean(reply.end("<html>")), /JSON/],
      ["another issuer", (_, reply) => Boolean(reply.end(json({ issuer: "https://evil.example.com" }))), /and not of/],
      ["no address of keys", (_, reply) => Boolean(reply.end(json({ issuer: url }))), /names no jwks_uri/],
      [
        "keys in clear",
        (_, reply) => Boolean(reply.end(json({ issuer: url, jwks_uri: "http://id.example.com/jwks" }))),
        /without https/,
      ],
      ["huge", (path, reply) => isKeys(path) && Boolean(reply.end("x".repeat(300_000))), /more than 262144 bytes/],
      ["no keys", (path, reply) => isKeys(path) && Boolean(reply.end(json({ keys: "x" }))), /no set of keys/],
      [
        "many keys",
        (path, reply) => isKeys(path) && Boolean(reply.end(json({ keys: Array.from({ length: 101 }, () => ({})) }))),
        /more than 100 keys/,
      ],
    ];
    for (const [what, answer, reason] of answers) {
      issuer.setAnswer(answer);
      pass(11_000);
      expect([what, await statusOf(token)]).toEqual([what, 401]);
      expect([what, told("token-refused").at(-1).reason]).toEqual([what, expect.stringMatching(reason)]);
    }
    expect(told("issuer-unavailable")).toHaveLength(1);
    issuer.setAnswer(null);
    pass(11_000);
    expect(await statusOf(token)).toBe(200);
    expect(told("issuer-available")).toHaveLength(1);
    // Those of before are good for an hour.
    issuer.setAnswer((_, reply) => Boolean(reply.writeHead(503).end()));
    pass(30 * 60_000);
    expect(await statusOf(token)).toBe(200);
    await eventually("it was asked", () => told("issuer-unavailable").length === 2);
    pass(31 * 60_000);
    expect(await statusOf(token)).toBe(401);
  });

  test("that do not come in time are not waited for longer", async () => {
    const issuer = await ownIssuer();
    // It accepts the request and never answers; the time passes at once.
    issuer.setAnswer(() => true);
    const clock = { ...machine.clock, timeout: () => AbortSignal.timeout(50) };
    const { statusOf, told } = await planeOf(issuer.url, { clock });
    expect(await statusOf(await issuer.sign(ada))).toBe(401);
    expect(told("token-refused")).toMatchObject([{ reason: expect.stringContaining("did not answer within 5 s") }]);
  });
});
