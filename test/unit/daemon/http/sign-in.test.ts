import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import type { SignInSettings } from "../../../../src/daemon/api/dashboard-source.ts";
import { createSignIn } from "../../../../src/daemon/http/sign-in.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-30T12:00:00Z");

const settings: SignInSettings = {
  issuer: "https://login.example.com",
  clientId: "dashboard",
  clientSecret: () => new Secret("CANARY-client"),
  url: "https://holdfast.example.com",
  ca: null,
  groupsClaim: "groups",
  readers: ["*@example.com", "group:readers"],
  actors: ["grace@example.com", "group:admins"],
  env: {},
};

const nobody = { email: null, groups: [] };

function signInWith({ changed = {}, now = NOW }: { changed?: Partial<SignInSettings>; now?: number } = {}) {
  return createSignIn({ settings: () => ({ ...settings, ...changed }), clock: { ...systemClock, now: () => now } });
}

function asked(cookie: string): FastifyRequest {
  return { headers: { cookie: `other=1; holdfast_session=${cookie}` } } as FastifyRequest;
}

test("who may do what is judged by verified addresses and by groups", () => {
  const signIn = signInWith();
  const rightsOf = (who: object): boolean | null => {
    const cookie = signIn.start({ id: "one", subject: "sub-1", ...nobody, ...who });
    return signIn.person(asked(cookie))?.mayAct ?? null;
  };
  for (const [who, mayAct] of [
    [{ email: "ada@example.com" }, false],
    [{ email: "grace@example.com" }, true],
    [{ groups: ["readers"] }, false],
    [{ groups: ["admins"] }, true],
    [{ email: "ada@example.com.attacker.test" }, null],
    [{ email: "ada@sub/example.com" }, null],
    // A name of a group is no address, and an address no group.
    [{ email: "group:admins" }, null],
    [{ groups: ["grace@example.com"] }, null],
    [{ subject: "grace@example.com" }, null],
    [{}, null],
  ] as const) {
    expect([who, rightsOf(who)]).toEqual([who, mayAct]);
  }
});

test("a session ends after eight hours, when it is signed out, with its client's secret, and with the person's rights", () => {
  const signIn = signInWith();
  const cookie = signIn.start({ id: "one", subject: "sub-1", email: "grace@example.com", groups: [] });
  const person = signIn.person(asked(cookie));
  expect(person).toMatchObject({ id: "one", name: "grace@example.com", mayAct: true });
  // Any process behind the address knows it.
  expect(signInWith({ now: NOW + 8 * HOUR - 1 }).person(asked(cookie))).toEqual(person);
  expect(signInWith({ now: NOW + 8 * HOUR }).person(asked(cookie))).toBeNull();
  const other = { clientSecret: () => new Secret("CANARY-another") };
  expect(signInWith({ changed: other }).person(asked(cookie))).toBeNull();
  expect(signInWith({ changed: { clientSecret: () => null } }).person(asked(cookie))).toBeNull();
  expect(signInWith({ changed: { actors: [] } }).person(asked(cookie))?.mayAct).toBe(false);
  expect(signInWith({ changed: { actors: [], readers: [] } }).person(asked(cookie))).toBeNull();
  if (person !== null) signIn.end(person);
  expect(signIn.person(asked(cookie))).toBeNull();
});

test("a session that was not made here is none", () => {
  const signIn = signInWith();
  const cookie = signIn.start({ id: "one", subject: "sub-1", email: "ada@example.com", groups: [] });
  const [text = "", signature = ""] = cookie.split(".");
  const raised = { ...JSON.parse(Buffer.from(text, "base64url").toString()), email: "grace@example.com" };
  const forged = Buffer.from(JSON.stringify(raised)).toString("base64url");
  for (const given of [`${forged}.${signature}`, `${text}.`, text, "", ".", `${text}.${signature}x`, "__proto__.x"]) {
    expect([given, signIn.person(asked(given))]).toEqual([given, null]);
  }
  expect(signIn.person({ headers: {} } as FastifyRequest)).toBeNull();
});
