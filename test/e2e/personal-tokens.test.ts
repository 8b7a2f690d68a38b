import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TokensReport } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { dropAfter, faultProxy, passOn } from "../support/fault-proxy.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

/** The file of a token of the source's user. */
function fileOf({ folder }: Source, { url }: Pick<Server, "url">, name: string): string {
  return join(folder, ".holdfast/tokens", new URL(url).host.replace(":", "_"), "personal-access-token", name);
}

async function statusWith(token: string, { url }: Pick<Server, "url">): Promise<number> {
  const { status } = await fetch(`${url}/api/svc/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } });
  return status;
}

async function tokensOf(source: Source, args: readonly string[], env = {}): Promise<TokensReport["tokens"]> {
  const { code, stdout, stderr } = await source.runHere(["token", ...args, "-o", "json"], env);
  expect([code, stderr]).toEqual([0, ""]);
  expect(faultsOf("tokens", stdout)).toEqual([]);
  return JSON.parse(stdout).tokens;
}

describe.each(controlPlaneVariants)("a token that a person creates on a $name control plane", (plane) => {
  test("is in a file of its own, and is printed nowhere", async () => {
    const server = await plane.serve();
    const source = await sourceOf({}, server);
    const created = await source.runHere(["token", "create", "laptop", "--sink", "file", "--log-level", "trace"]);
    const path = fileOf(source, server, "laptop");
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining(`    stored in ${path}\n`) });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const token = (await readFile(path, "utf8")).trim();
    expect(await statusWith(token, server)).toBe(200);
    expect(created.stdout + created.stderr).not.toContain(token);

    const again = await source.runHere(["token", "create", "laptop"]);
    expect(again).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("already") });
    expect(await readFile(path, "utf8")).toBe(`${token}\n`);
    expect(server.effects().filter(({ operation }) => operation === "7")).toHaveLength(1);
  });

  test("is not asked for where nobody has said where it may go, or where it cannot go", async () => {
    const server = await plane.serve();
    const source = await sourceOf({}, server);
    expect(await source.runHere(["token", "create", "ci"], { CI: "1" })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("--sink file"),
    });
    expect(server.effects().filter(({ operation }) => operation === "7")).toEqual([]);
    await writeFile(join(source.folder, ".holdfast/tokens"), "");
    const { code, stderr } = await source.runHere(["token", "create", "laptop"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(".holdfast/tokens is no folder")]);
    expect(server.effects().filter(({ operation }) => operation === "7")).toEqual([]);
  });
});

test("tokens are listed with their last use and end, and are revoked with those that they created", async () => {
  const server = await serve();
  const source = await sourceOf({}, server);
  const [laptop] = await tokensOf(source, ["create", "laptop"]);
  expect(laptop).toMatchObject({ name: "laptop", subject: "user:admin", lastUsedAt: null });
  expect(laptop?.storedAt).toBe(fileOf(source, server, "laptop"));
  const asLaptop = { HOLDFAST_TOKEN: (await readFile(fileOf(source, server, "laptop"), "utf8")).trim() };
  const [made] = await tokensOf(source, ["create", "phone"], asLaptop);
  expect(made?.name).toBe("phone");
  expect(await tokensOf(source, ["list"])).toEqual([
    expect.objectContaining({ name: "phone", createdWith: `personal-access-token/${laptop?.id}`, lastUsedAt: null }),
    expect.objectContaining({ name: "laptop", id: laptop?.id, lastUsedAt: expect.stringMatching(/^20\d\d-/) }),
  ]);
  const listed = await source.runHere(["token", "list"], { COLUMNS: "80" });
  expect(listed.stdout).toContain(`  laptop of user:admin, id ${laptop?.id}\n`);
  expect(listed.stdout.split("\n").every((line) => line.length <= 80)).toBe(true);

  // A person takes the name for the id.
  const named = await source.runHere(["token", "revoke", "laptop"]);
  expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining(`${laptop?.id} of user:admin`) });
  expect((await tokensOf(source, ["revoke", laptop?.id ?? ""])).map(({ name }) => name)).toEqual(["laptop", "phone"]);
  expect(await source.runHere(["token", "list"], asLaptop)).toMatchObject({ code: 4 });
  expect(await tokensOf(source, ["list"])).toEqual([]);
  expect(await source.runHere(["token", "revoke", laptop?.id ?? ""])).toMatchObject({ code: 1 });
});

test("a caller that is no administrator has tokens of its own, and sees no others", async () => {
  const server = await serve();
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", {
    manifest: {
      type: "virtual-account",
      name: "ci",
      expiration_date: "2999-12-31",
      permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }],
    },
  });
  const source = await sourceOf({}, server);
  const asCi = { HOLDFAST_TOKEN: token };
  await tokensOf(source, ["create", "mine"]);
  const [own] = await tokensOf(source, ["create", "mine"], asCi);
  const listed = await tokensOf(source, ["list"], asCi);
  expect(listed).toMatchObject([
    { id: own?.id, subject: "virtualaccount:ci", expiresAt: expect.stringMatching(/^2999-12-31|^3000-01-01/) },
  ]);
  const others = (await tokensOf(source, ["list"])).find(({ subject }) => subject === "user:admin");
  expect(await source.runHere(["token", "revoke", others?.id ?? ""], asCi)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not yours"),
  });
});

test("a token that cannot be stored is revoked, and one whose reply is lost is told", async () => {
  const server = await serve();
  const proxy = await faultProxy(server);
  const source = await sourceOf({}, proxy.server);
  const folder = join(fileOf(source, proxy.server, "laptop"), "..");
  const broken = proxy.inject("getPersonalAccessToken", async (passing) => {
    await rm(folder, { recursive: true });
    await writeFile(folder, "");
    await passOn(passing);
  });
  const failed = await source.runHere(["token", "create", "laptop"]);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/could not be stored[^→]*→ it was revoked/) });
  broken.stop();
  const rows = await server.call("GET", "/api/svc/v1/personal-access-tokens");
  expect(rows.data).toEqual([]);

  await rm(folder);
  proxy.inject("getPersonalAccessToken", dropAfter);
  const lost = await source.runHere(["token", "create", "laptop", "--retry-wait", "0"]);
  expect(lost.code).toBe(1);
  expect(lost.stderr).toMatch(/unknown whether the token laptop was created/);
  expect(await readdir(folder)).toEqual([]);
});

test("a virtual account gets a new token, in a file beside that of the former one", async () => {
  const server = await serve();
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  const manifest = { type: "virtual-account", name: "ci", permissions };
  const { token: former } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  const source = await sourceOf({}, server);
  const [made] = await tokensOf(source, ["reissue", "virtual-account/ci"]);
  expect(made).toMatchObject({ name: "ci", subject: "virtualaccount:ci", storedAt: expect.stringContaining("ci") });
  const token = (await readFile(made?.storedAt ?? "", "utf8")).trim();
  expect([await statusWith(token, server), await statusWith(former, server)]).toEqual([200, 200]);
  const again = await source.runHere(["token", "reissue", "ci"], { COLUMNS: "80" });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("the former one ends with its") });
  expect(again.stdout).toContain(`${made?.storedAt}.2\n`);
  expect((await readFile(made?.storedAt ?? "", "utf8")).trim()).toBe(token);
  // Neither a caller that may not, nor an account that is not there, makes one.
  expect(await source.runHere(["token", "reissue", "ci"], { HOLDFAST_TOKEN: token })).toMatchObject({ code: 4 });
  const absent = await source.runHere(["token", "reissue", "none"]);
  expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining("the virtual account") });
  expect(server.effects().filter(({ operation }) => operation === "E20")).toHaveLength(2);
});

test("a control plane with the documented operations alone creates tokens, and the others are named", async () => {
  const server = await serve(["--documented-only"]);
  const source = await sourceOf({}, server);
  for (const [args, extension] of [
    [["list"], "E12"],
    [["revoke", "some-id"], "E12"],
    [["reissue", "ci"], "E20"],
  ] as const) {
    const ended = await source.runHere(["token", ...args]);
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`lacks the extension ${extension}`),
    });
  }
});

test("a wrong action is told with what there is", async () => {
  const source = await sourceOf({}, await serve());
  for (const args of [["creat", "x"], ["list", "x"], ["revoke"], ["create", "a", "b"], ["reissue"]]) {
    const ended = await source.runHere(["token", ...args]);
    expect(ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("create NAME, list, revoke ID or reissue ACCOUNT"),
    });
  }
});
