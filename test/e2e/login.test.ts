import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type CountingProxy, startCountingProxy } from "../support/counting-proxy.ts";
import { cliClient, goThrough, type OidcIssuer, startOidcIssuer } from "../support/oidc-issuer.ts";
import type { Ended } from "../support/process.ts";
import { type Server, type ServerProcess, serve, serveProcess } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

/** A control plane that takes the tokens of an issuer for an audience, and shows which tokens it was sent. */
type Front = CountingProxy & Pick<ServerProcess, "data" | "call">;

/** Starts `holdfast serve` with an issuer. */
async function front(issuer: OidcIssuer, audience = issuer.audience): Promise<Front> {
  const plane = await serveProcess(["--oidc-issuer", issuer.url, "--oidc-audience", audience]);
  return { ...(await startCountingProxy(plane)), data: plane.data, call: plane.call };
}

type Person = {
  readonly source: Source;
  readonly env: { readonly [name: string]: string };
  readonly folder: string;
  readonly run: (args: readonly string[], env?: { readonly [name: string]: string }) => Promise<Ended>;
  /** Signs in as somebody, in a browser beside. */
  readonly login: (args: readonly string[], name?: string) => Promise<Ended>;
  /** What is stored of the only login. */
  readonly stored: () => Promise<{ readonly token: string; readonly refreshToken: string; readonly issuer: string }>;
};

async function person(): Promise<Person> {
  const source = await sourceOf({});
  const state = await sourceOf({});
  const env = { XDG_STATE_HOME: state.folder };
  const folder = join(state.folder, "holdfast/logins");
  return {
    ...{ source, env, folder },
    run: (args, more = {}) => source.runHere(args, { ...env, ...more }),
    login: async (args, name = "ada") => {
      const process = source.start(["login", ...args], env);
      const [, page = ""] = await process.shows("stderr", /open (\S+) in a browser, and/);
      await goThrough(page, name);
      return process.ended;
    },
    stored: async () => {
      const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".json"));
      return JSON.parse(await readFile(join(folder, name), "utf8"));
    },
  };
}

function argsFor(server: Pick<Server, "url">, issuer: OidcIssuer): readonly string[] {
  const client = ["--client-id", cliClient, "--audience", issuer.audience];
  return ["--server", server.url, "--issuer", issuer.url, ...client];
}

test("a person signs in once, and commands use the login for that control plane alone", async () => {
  const issuer = await startOidcIssuer();
  const [server, other] = [await front(issuer), await front(issuer)];
  const ada = await person();
  const ended = await ada.login(argsFor(server, issuer));
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^signed in to http:\S+ as user:ada@example\.com; valid/),
  });
  const { token, refreshToken } = await ada.stored();
  for (const secret of [token, refreshToken]) expect(ended.stdout + ended.stderr).not.toContain(secret);
  expect((await stat(ada.folder)).mode & 0o777).toBe(0o700);
  for (const file of await readdir(ada.folder)) expect((await stat(join(ada.folder, file))).mode & 0o777).toBe(0o600);

  const whoami = await ada.run(["whoami", "--server", `${server.url}/`]);
  expect(whoami).toMatchObject({ code: 0, stdout: expect.stringContaining(`token of the login at ${issuer.url}\n`) });
  const told = JSON.parse((await ada.run(["whoami", "--server", server.url, "-o", "json"])).stdout);
  expect(told.credential).toEqual({ from: "login", place: issuer.url });
  // A request of hers, with the rights that she has there.
  const manifest = { type: "team", name: "ml", members: ["joe@example.com"], managers: ["ada@example.com"] };
  await server.call("PUT", "/api/svc/v1/teams", { manifest });
  await ada.source.write("ml.yaml", JSON.stringify({ ...manifest, members: ["joe@example.com", "zoe@example.com"] }));
  expect(await ada.run(["apply", "--yes", "--allow-adopt", "--server", server.url])).toMatchObject({ code: 0 });
  const { data: rows } = await server.call("GET", "/api/svc/v1/audit?resource=team%2Fml&limit=1");
  expect(rows).toMatchObject([{ subject: "user:ada@example.com", token: `sign-in/${issuer.url}`, outcome: "done" }]);
  expect(server.tokens()).toEqual(new Set([token]));

  // Any token that is given comes first.
  await writeFile(join(ada.source.folder, "token"), "token-of-a-file\n");
  for (const [args, env] of [
    [[], { HOLDFAST_TOKEN: "token-of-the-environment" }],
    [["--token-file", "token"], {}],
  ] as const) {
    const before = server.tokens();
    expect(await ada.run(["whoami", "--server", server.url, ...args], env)).toMatchObject({ code: 4 });
    const given = args.length > 0 ? "token-of-a-file" : "token-of-the-environment";
    expect(server.tokens().difference(before)).toEqual(new Set([given]));
  }

  const stranger = await ada.run(["whoami", "--server", other.url]);
  expect(stranger).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/no token is given\n {2}→ sign in with holdfast/),
  });
  expect(other.tokens()).toEqual(new Set());
});

test("a login is renewed before its end and when it is refused, by one process at a time", async () => {
  // Shorter than what a command wants to have left.
  const issuer = await startOidcIssuer({ tokenSeconds: 20 });
  const server = await front(issuer);
  const ada = await person();
  expect(await ada.login(argsFor(server, issuer))).toMatchObject({ code: 0 });
  const first = await ada.stored();
  const before = issuer.tokenRequests();
  // A second use of one refresh token would end the login.
  const together = await Promise.all(Array.from({ length: 4 }, () => ada.run(["whoami", "--server", server.url])));
  expect(together.map(({ code, stderr }) => [code, stderr])).toEqual(Array.from({ length: 4 }, () => [0, ""]));
  const second = await ada.stored();
  expect(second.refreshToken).not.toBe(first.refreshToken);
  expect(issuer.tokenRequests()).toBeGreaterThan(before);

  const lasting = await startOidcIssuer();
  const strict = await front(lasting);
  const bob = await person();
  expect(await bob.login(argsFor(strict, lasting), "bob")).toMatchObject({ code: 0 });
  const { token } = await bob.stored();
  expect(await bob.run(["revoke", "user:bob@example.com", "--data", strict.data])).toMatchObject({ code: 0 });
  // Of the second of the revocation no token is valid.
  const revokedAt = Date.now();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(revokedAt + 1000), { timeout: 10_000 });
  const asked = lasting.tokenRequests();
  expect(await bob.run(["whoami", "--server", strict.url])).toMatchObject({ code: 0, stderr: "" });
  expect((await bob.stored()).token).not.toBe(token);
  expect(lasting.tokenRequests()).toBe(asked + 1);
});

test("logout has the issuer renew nothing more, and removes the login also when the issuer is away", async () => {
  const issuer = await startOidcIssuer();
  const server = await front(issuer);
  const ada = await person();
  expect(await ada.login(argsFor(server, issuer))).toMatchObject({ code: 0 });
  const { refreshToken } = await ada.stored();
  const out = await ada.run(["logout", "--server", server.url]);
  expect(out).toMatchObject({ code: 0, stdout: expect.stringContaining("the issuer renews it no more"), stderr: "" });
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken, client_id: cliClient });
  expect((await fetch(`${issuer.url}/token`, { method: "POST", body })).status).toBe(400);
  expect(await ada.run(["whoami", "--server", server.url])).toMatchObject({ code: 4 });
  expect((await ada.run(["logout", "--server", server.url])).stdout).toBe(`there is no login of ${server.url}\n`);

  expect(await ada.login(argsFor(server, issuer))).toMatchObject({ code: 0 });
  issuer.fail();
  const away = await ada.run(["logout", "--server", server.url]);
  expect(away).toMatchObject({ code: 0, stdout: expect.stringContaining("the issuer did not revoke it") });
  expect(away.stderr).toContain("has not revoked the login");
  expect((await readdir(ada.folder)).filter((file) => file.endsWith(".json"))).toEqual([]);
});

test("a login that has ended says how to sign in again", async () => {
  const issuer = await startOidcIssuer({ tokenSeconds: 20 });
  const server = await front(issuer);
  const ada = await person();
  expect(await ada.login(argsFor(server, issuer))).toMatchObject({ code: 0 });
  const { refreshToken: token } = await ada.stored();
  const body = new URLSearchParams({ token, client_id: cliClient });
  expect((await fetch(`${issuer.url}/token/revocation`, { method: "POST", body })).status).toBe(200);
  const ended = await ada.run(["plan", "--server", server.url]);
  expect(ended.code).toBe(4);
  expect(ended.stderr).toMatch(/^error: the login at http:\S+ has ended: invalid_grant/m);
  expect(ended.stderr).toContain(`→ sign in again: holdfast login ${argsFor(server, issuer).join(" ")}\n`);

  issuer.fail();
  const away = await ada.run(["whoami", "--server", server.url]);
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining("that it can be reached from here") });
});

test("the operator's configuration names the issuer, and chooses between logins", async () => {
  const issuer = await startOidcIssuer();
  const server = await front(issuer);
  const ada = await person();
  const audience = issuer.audience;
  const operator = await sourceOf({
    "one.yaml": `server: ${server.url}\nlogin: { issuer: "${issuer.url}", clientId: ${cliClient}, audience: "${audience}" }\n`,
  });
  const config = ["--config", join(operator.folder, "one.yaml")];
  expect(await ada.login(config)).toMatchObject({ code: 0 });
  expect(await ada.run(["whoami", ...config])).toMatchObject({ code: 0 });

  // The ID token is for the client itself, which this control plane does not take.
  const own = await ada.login([
    ...config.slice(0, 0),
    "--server",
    server.url,
    "--issuer",
    issuer.url,
    "--client-id",
    cliClient,
  ]);
  expect(own).toMatchObject({ code: 4, stderr: expect.stringContaining("nothing was stored") });
  const second = await front(issuer, cliClient);
  expect(await ada.login(["--server", second.url, "--issuer", issuer.url, "--client-id", cliClient])).toMatchObject({
    code: 0,
  });
  expect(await ada.run(["whoami", "--server", second.url])).toMatchObject({ code: 0 });

  const [name = ""] = (await readdir(ada.folder)).filter((file) => file.endsWith(".json"));
  const login = JSON.parse(await readFile(join(ada.folder, name), "utf8"));
  const twin = { ...login, server: server.url, audience: "other", token: "CANARY-other" };
  await writeFile(join(ada.folder, `${"0".repeat(64)}.json`), JSON.stringify(twin), { mode: 0o600 });
  const both = await ada.run(["whoami", "--server", server.url]);
  expect(both).toMatchObject({ code: 4, stderr: expect.stringContaining(`there are 2 logins of ${server.url}`) });
  expect(await ada.run(["whoami", ...config])).toMatchObject({ code: 0 });
  expect([...server.tokens()]).not.toContain("CANARY-other");

  // A pull request could change it.
  await ada.source.write("holdfast.yaml", `login: { issuer: "${issuer.url}", clientId: ${cliClient} }\n`);
  expect(await ada.run(["login", "--server", server.url])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("holdfast.yaml sets login"),
  });
});

test("a wrong issuer, control plane or folder is told, and nothing is stored", async () => {
  const issuer = await startOidcIssuer();
  const plane = await serve();
  const ada = await person();
  const [server, client] = [
    ["--server", plane.url],
    ["--client-id", cliClient],
  ];
  for (const [args, code, message] of [
    [["--server", plane.url], 3, /--issuer and --client-id are missing/],
    [["--issuer", issuer.url, ...client], 3, /no control plane is named/],
    [[...server, ...client, "--issuer", "http://login.example.com"], 1, /must begin with https:/],
    [[...server, ...client, "--issuer", plane.url], 1, /^error: the issuer http:/],
    [[...server, "--client-id", "nobody", "--issuer", issuer.url], 1, /invalid_client/],
  ] as const) {
    const ended = await ada.run(["login", ...args]);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
  }
  // It knows no issuer.
  const refused = await ada.login(argsFor(plane, issuer));
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("must accept") });
  await expect(readdir(ada.folder)).rejects.toThrow("ENOENT");

  const nowhere = await ada.source.runHere(["logout", "--server", plane.url], { HOME: "", XDG_STATE_HOME: "" });
  expect(nowhere).toMatchObject({ code: 0 });
});
