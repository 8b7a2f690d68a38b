import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { nothingShown } from "../../src/daemon/api/dashboard-source.ts";
import { startDaemonServer } from "../../src/daemon/http/daemon-server.ts";
import { createLog } from "../../src/log/log.ts";
import { addUser, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { metricFaults } from "../support/metric-faults.ts";
import { parsePrometheus } from "../support/prometheus.ts";
import { databaseOf, statement } from "../support/test-database.ts";
import { createAuthority } from "../unit/client/certificate.ts";
import { account, plantWorkspace, service } from "./platform.ts";

const build = { version: "1.2.3", commit: "4f5e6d" };
const STRANGER = { host: "holdfast.example.com" };

async function scrape(url: string, headers: { readonly [name: string]: string } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    // The test makes its own authority.
    const options = { headers, rejectUnauthorized: false, agent: false };
    const request = url.startsWith("https:") ? requestHttps : requestHttp;
    const asked = request(`${url}/metrics`, options, (reply) => text(reply).then(resolve, reject));
    asked.once("error", reject).end();
  });
}

/** A control plane with TLS, the certificate's end, and all that it shows. */
async function serving() {
  const folder = await temporaryFolder();
  const { cert, key } = createAuthority().issue("platform.example.com");
  const tls = { certificate: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  await writeFile(tls.certificate, cert);
  await writeFile(tls.key, key);
  return startControlPlane({ tls, build });
}

async function watching() {
  const server = await startDaemonServer({
    dashboard: nothingShown,
    host: "127.0.0.1",
    port: 0,
    log: createLog({ level: "silent" }),
    clock: systemClock,
    random: systemRandom,
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => new Secret("page-token"),
    build,
    targets: async () => [],
    gates: async () => ({}),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.observe("prod");
  server.watch({ targets: ["prod"], sources: ["platform"], receivers: ["oncall"] });
  return server;
}

test("promtool, or a parser with its rules, finds no fault with the metrics of either program", async () => {
  for (const { url } of [await serving(), await watching()]) expect(metricFaults(await scrape(url))).toEqual([]);
  const wrong = "# HELP a_gauge_ms A.\n# TYPE a_gauge_ms counter\na_gauge_ms 1\n# TYPE b_total gauge\nb_total 1\n";
  expect(metricFaults(wrong).length).toBeGreaterThan(4);
});

test("the page on operations names every metric that the programs show, and no other", async () => {
  const [plane, daemon] = await Promise.all([serving(), watching()]);
  const page = readFileSync("docs/operations.md", "utf8");
  const shown = await Promise.all([plane.url, daemon.url].map((url) => scrape(url)));
  const names = new Set(shown.flatMap((one) => [...parsePrometheus(one).keys()]));
  const first = page.matchAll(/^\| (`(?:holdfast|process|nodejs)_[^|]*)\|/gm);
  const documented = Array.from(first, ([, cell = ""]) =>
    Array.from(cell.matchAll(/`(\w+)/g), ([, name = ""]) => name),
  );
  expect([...new Set(documented.flat())].toSorted()).toEqual([...names].toSorted());
  const used = Array.from(
    page.matchAll(/`[^`]*`/g),
    ([code]) => code.match(/\b(?:holdfast|process|nodejs)_\w+/g) ?? [],
  );
  const known = new Set([...names].flatMap((name) => [name, `${name}_bucket`, `${name}_count`]));
  expect(used.flat().filter((name) => !known.has(name))).toEqual([]);
});

test("S36 versions, disk, connections, leases and ends are shown to trusted callers alone", async () => {
  const plane = await serving();
  const secret = ["build_info", "disk_", "leases", "token_expiry", "certificate_expiry", "database_connection"];
  const shows = async (headers: { readonly [name: string]: string }) => {
    const names = [...parsePrometheus(await scrape(plane.url, headers)).keys()];
    return secret.filter((part) => names.some((name) => name.startsWith(`holdfast_${part}`)));
  };
  await addUser(plane, "nobody");
  await addUser(plane, "reader");
  await statement(
    plane.data,
    "INSERT INTO grants (source, subject, resource_type, resource_fqn, role_id) VALUES (?, ?, ?, ?, ?)",
    ["test", "user:reader", "tenant", "holdfast", "tenant-viewer"],
  );
  const bearer = (token: string) => ({ ...STRANGER, authorization: `Bearer ${token}` });
  expect(await shows({})).toEqual(secret);
  expect(await shows(STRANGER)).toEqual([]);
  expect(await shows(bearer(plane.adminToken.open()))).toEqual(secret);
  expect(await shows(bearer("token-of-nobody"))).toEqual([]);
  expect(await shows(bearer("no-token-of-anybody"))).toEqual([]);
  expect(await shows(bearer("token-of-reader"))).toEqual(secret);
  expect(await scrape(plane.url, STRANGER)).not.toMatch(/version=|1\.2\.3/i);
});

test("S36 the daemon shows its version to this machine, and to who has the token of its page", async () => {
  const { url } = await watching();
  const basic = `Basic ${Buffer.from(":page-token").toString("base64")}`;
  const shownTo = async (headers: { readonly [name: string]: string }) =>
    /^holdfast_build_info\{version="1\.2\.3",commit="4f5e6d",/m.test(await scrape(url, headers));
  expect(await shownTo({})).toBe(true);
  expect(await shownTo(STRANGER)).toBe(false);
  for (const authorization of ["Bearer page-token", basic])
    expect(await shownTo({ ...STRANGER, authorization })).toBe(true);
  expect(await shownTo({ ...STRANGER, authorization: "Bearer another" })).toBe(false);
});

test("the control plane measures its storage, its rollouts, leases and what ends", async () => {
  const plane = await startControlPlane({ rolloutSeconds: 600 });
  const value = async (series: string) => {
    const line = (await scrape(plane.url)).split("\n").find((one) => one.startsWith(`${series} `));
    return line === undefined ? null : Number(line.slice(series.length + 1));
  };
  expect([
    await value('holdfast_storage_up{access="read"}'),
    await value('holdfast_storage_up{access="write"}'),
  ]).toEqual([1, 1]);
  const written = (await value("holdfast_database_write_duration_seconds_count")) ?? 0;
  await plane.admin.put("/api/svc/v1/leases/holdfast", { holder: "a", ttlSeconds: 60 });
  expect(await value("holdfast_leases")).toBe(1);
  await plantWorkspace(plane.admin);
  expect((await plane.admin.put("/api/svc/v1/apps", { manifest: service })).status).toBe(200);
  expect(await value("holdfast_rollouts_in_progress")).toBe(1);
  await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest: { ...account, expiration_date: "2100-01-31" } });
  expect(await value("holdfast_token_expiry_timestamp_seconds")).toBe(Date.UTC(2100, 1, 1) / 1000);
  expect(await value("holdfast_database_write_duration_seconds_count")).toBeGreaterThan(written + 3);
  expect(await value("holdfast_disk_available_bytes")).toBeLessThanOrEqual(
    (await value("holdfast_disk_size_bytes")) ?? 0,
  );
  const isPostgres = (await databaseOf(plane.data)) !== null;
  expect(await value('holdfast_database_connections{pool="write",state="idle"}')).toEqual(
    isPostgres ? expect.any(Number) : null,
  );
});
