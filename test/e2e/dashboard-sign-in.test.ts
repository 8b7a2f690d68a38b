import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { SessionReply } from "../../src/contract/generated/output.ts";
import { startBrowser } from "../support/browser.ts";
import { temporaryFolder } from "../support/folder.ts";
import { foundations } from "../support/manifests.ts";
import { dashboardClient, startOidcIssuer } from "../support/oidc-issuer.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** A port that nothing listens on now: the issuer and the configuration name it before the daemon does. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return address.port;
}

async function signedInDashboard() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const issuer = await startOidcIssuer({ redirectUris: [`${url}/auth/callback`] });
  issuer.persons.set("ada", { groups: ["everybody", "platform"] });
  issuer.persons.set("mallory", { email: "grace@example.com", email_verified: false });
  issuer.persons.set("eve", { email: "eve@elsewhere.test" });
  const secret = join(await temporaryFolder(), "secret");
  await writeFile(secret, `${dashboardClient.secret}\n`);
  const upstream = await upstreamOf(foundations);
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
      dashboard: {
        access: "oidc",
        oidc: {
          ...{ issuer: issuer.url, clientId: dashboardClient.id, clientSecretFile: secret, url },
          readers: ["*@example.com"],
          actors: ["group:platform"],
        },
      },
    },
    await serve(),
  );
  const watch = operator.start(["watch", "--listen", `127.0.0.1:${port}`, "-o", "text"], {
    HOLDFAST_UI_TOKEN: "CANARY-page",
  });
  await watch.shows("stderr", /^health and metrics on http/m);
  return { url, issuer, operator, watch };
}

/** Signs in on the pages of the issuer. */
async function signIn(page: Page, name: string): Promise<void> {
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

async function openPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  // The pages of the issuer ask for a font.
  await page.route(/googleapis/, (route) => route.abort());
  return page;
}

test("people sign in to the dashboard, act under the name that the issuer tells, and sign out", async () => {
  const { url, operator } = await signedInDashboard();
  const browser = await startBrowser();
  const context = await browser.newContext();
  const page = await openPage(context);
  await page.goto(`${url}/targets/prod?state=Synced`);
  await signIn(page, "ada");
  await page.locator("h1", { hasText: "prod" }).waitFor();
  expect(page.url()).toBe(`${url}/targets/prod?state=Synced`);
  await page.locator(".person", { hasText: "ada@example.com" }).waitFor();
  const cookies = await context.cookies(url);
  const session = cookies.find(({ name }) => name === "holdfast_session");
  expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect((session?.expires ?? 0) * 1000).toBeLessThan(Date.now() + 8.1 * 3_600_000);

  await page.getByRole("button", { name: "Reconcile…" }).click();
  expect(await page.getByLabel("Your name").count()).toBe(0);
  await page.getByRole("button", { name: "Reconcile now" }).click();
  await page.getByText("Done: ada@example.com: reconcile").waitFor();
  const cookie = `holdfast_session=${session?.value}`;
  const read = async (headers: { readonly [name: string]: string }): Promise<Response> =>
    fetch(`${url}/api/v1/session`, { headers });
  const mine = (await (await read({ cookie })).json()) as SessionReply;
  expect(mine).toMatchObject({ mayAct: true, name: "ada@example.com", signedIn: true });
  const hold = (more: { readonly [name: string]: string }): Promise<Response> =>
    fetch(`${url}/api/v1/targets/prod/hold`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json", "idempotency-key": "key-of-a-hold", ...more },
      body: JSON.stringify({ by: "Somebody Else", what: "workspace/dev:web", reason: "incident", until: "1h" }),
    });
  expect((await hold({})).status).toBe(403);
  expect((await hold({ "x-holdfast-page": mine.pageToken ?? "", origin: "https://evil.test" })).status).toBe(403);
  expect((await hold({ "x-holdfast-page": mine.pageToken ?? "" })).status).toBe(200);
  const { stdout } = await operator.runHere(["history"]);
  expect(stdout).toContain("ada@example.com: hold workspace/dev:web");
  expect(stdout).not.toContain("Somebody Else");

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  expect((await context.cookies(url)).map(({ name }) => name)).not.toContain("holdfast_session");
  // A copy of it is none any more.
  expect((await read({ cookie })).status).toBe(401);
});

test("who is not named may not read, who is not named for it may not act, and programs use the token", async () => {
  const { url, issuer } = await signedInDashboard();
  const browser = await startBrowser();
  const reader = await openPage(await browser.newContext());
  await reader.goto(url);
  await signIn(reader, "bob");
  await reader.locator(".person", { hasText: "bob@example.com" }).waitFor();
  await reader.goto(`${url}/targets/prod`);
  await reader.locator("h1", { hasText: "prod" }).waitFor();
  expect(await reader.getByRole("button", { name: "Reconcile…" }).count()).toBe(0);
  const said = await reader.evaluate(async () => (await fetch("/api/v1/session")).json());
  expect(said).toMatchObject({ mayAct: false, pageToken: null, signedIn: true });

  // One has an address of others, and one an address that the issuer has not verified.
  for (const name of ["eve", "mallory"]) {
    const page = await openPage(await browser.newContext());
    await page.goto(url);
    await signIn(page, name);
    await page.getByRole("heading", { name: "You may not read this dashboard" }).waitFor();
    expect((await page.context().cookies(url)).map(({ name: cookie }) => cookie)).not.toContain("holdfast_session");
  }

  const api = (headers: { readonly [name: string]: string }): Promise<Response> =>
    fetch(`${url}/api/v1/targets`, { headers });
  const refused = await api({});
  expect([refused.status, refused.headers.get("x-holdfast-sign-in")]).toEqual([401, "/auth/login"]);
  expect(refused.headers.get("www-authenticate")).toBeNull();
  expect((await api({ authorization: "Bearer wrong" })).status).toBe(401);
  expect((await api({ authorization: "Bearer CANARY-page" })).status).toBe(200);

  // A sign-in that somebody else has begun, and one that leads to another site.
  for (const to of [
    "//evil.test/",
    "/x/..//evil.test/",
    "/\\\\evil.test",
    "https://evil.test/",
    "javascript:alert(1)",
  ]) {
    const led = await fetch(`${url}/auth/login?to=${encodeURIComponent(to)}`, { redirect: "manual" });
    const [text = ""] = led.headers.getSetCookie()[0]?.split("=")[1]?.split(".") ?? [];
    expect([to, JSON.parse(Buffer.from(text, "base64url").toString()).to]).toEqual([to, "/"]);
  }
  const begun = await fetch(`${url}/auth/login?to=/reviews?page=2`, { redirect: "manual" });
  const [attempt = ""] = begun.headers.getSetCookie();
  expect(attempt).toMatch(/^holdfast_sign_in=\S+; Path=\/auth; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const [value = ""] = attempt.split(";");
  const content = Buffer.from(value.split("=")[1]?.split(".")[0] ?? "", "base64url").toString();
  expect(JSON.parse(content)).toMatchObject({ to: "/reviews?page=2" });
  const authorize = new URL(begun.headers.get("location") ?? "").searchParams;
  expect(Object.fromEntries(authorize)).toMatchObject({ code_challenge_method: "S256", response_type: "code" });
  const callback = (query: string, cookie: string): Promise<Response> =>
    fetch(`${url}/auth/callback?${query}`, { headers: { cookie }, redirect: "manual" });
  expect((await callback(`code=x&state=${authorize.get("state")}`, "")).status).toBe(400);
  for (const query of ["code=x&state=other", `code=x&state=${authorize.get("state")}&iss=${issuer.url}`]) {
    const reply = await callback(query, value);
    expect([query, reply.status, await reply.text()]).toEqual([
      query,
      502,
      expect.stringContaining("The sign-in failed"),
    ]);
  }
  issuer.fail();
  expect((await fetch(`${url}/auth/logout`, { method: "POST", headers: { origin: "https://evil.test" } })).status).toBe(
    403,
  );
});

test("a configuration by which people sign in, and that does not say where, is refused", async () => {
  const operator = await operatorOf({ dashboard: { access: "oidc" } }, await serve());
  const ended = await operator.runHere(["watch", "--listen", "127.0.0.1:0"]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("dashboard.oidc is missing") });
});
