import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { run, start } from "../support/process.ts";

// Where Debian's package libfaketime has it.
const library = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

const HOUR = 3_600_000;

test("a server whose clock is set back by an hour cuts leases, and refuses a revoked token at once", async ({
  skip,
}) => {
  if (library === undefined) return skip("libfaketime is not installed here");
  const cwd = await temporaryFolder();
  const clock = join(cwd, "clock");
  await writeFile(clock, "+0");
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  const server = start(["serve", "--port", "0", "--data", "data", "--log-format", "json"], { cwd, env });
  const [, url = ""] = await server.shows("stdout", /^listening on (\S+)\n/);
  const admin = (await readFile(join(cwd, "data/admin-token"), "utf8")).trim();
  const send = (path: string, body: object | null, token = admin) =>
    fetch(`${url}/api/svc/v1/${path}`, {
      method: body === null ? "GET" : "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
  const take = (holder: string) => send("leases/main", { holder, ttlSeconds: 900 });
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-viewer" }];
  const manifest = { type: "virtual-account", name: "ci", permissions };
  const { token } = JSON.parse(await (await send("virtual-accounts", { manifest })).text());
  expect((await take("gone")).status).toBe(200);
  const statusOfToken = async () => (await send("me", null, token)).status;
  expect(await statusOfToken()).toBe(200);

  await writeFile(clock, "-1h");
  const revoked = await run(["revoke", "virtualaccount:ci", "--data", "data"], { cwd });
  expect(revoked).toMatchObject({ code: 0, stderr: "" });
  await eventually("it is void", async () => (await statusOfToken()) === 401);
  const refused = await take("next");
  expect(refused.status).toBe(409);
  const [, end = ""] = /gone has this lease until ([^"]+)"/.exec(await refused.text()) ?? [];
  expect(Date.parse(end)).toBeLessThan(Date.now() - HOUR + 960_000);
  await server.shows("stderr", /"event":"lease-cut","scope":"main","holder":"gone"/);
});
