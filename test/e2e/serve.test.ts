import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { cluster, service, workspace } from "../conformance/platform.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind, team } from "../support/manifests.ts";
import { start } from "../support/process.ts";
import { serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { createAuthority } from "../unit/client/certificate.ts";

/** What a folder of manifests has beside them. */
const foreign = {
  "chart/templates/x.yaml": "kind: {{ .Values.kind }}\n{{- if .Values.on }}\na: 1\n",
  "large.json": `{"kind": "${"x".repeat(2 ** 20)}"}`,
  "latin.yaml": "kind: \u0007\n",
};

/** A service, and what it is on. */
const platform = [
  ["/api/svc/v1/clusters", cluster],
  ["/api/svc/v1/workspaces", workspace],
  ["/api/svc/v1/apps", service],
] as const;

describe("serve", () => {
  test("says where it listens in one line, keeps its admin token private, and ends well on SIGTERM", async () => {
    const server = await serveProcess();
    expect((await stat(join(server.data, "admin-token"))).mode & 0o777).toBe(0o600);
    expect((await stat(server.data)).mode & 0o777).toBe(0o700);
    server.process.kill("SIGTERM");
    expect(await server.process.ended).toMatchObject({
      code: 0,
      stdout: `listening on ${server.url}\n`,
      stderr: expect.not.stringContaining(server.token),
    });
    // The last line says why it ended.
    expect(server.process.stderr()).toMatch(/ INFO {2}stopped: the process was asked to end event=stopped\n$/);
    const restarted = await serveProcess([], { data: server.data });
    expect(restarted.token).toBe(server.token);
    restarted.process.kill("SIGINT");
    expect(await restarted.process.ended).toMatchObject({ code: 130 });
  });

  test("logs its life in lines of JSON, from its start to the signal and the end", async () => {
    const server = await serveProcess(["--log-format", "json"]);
    server.process.kill("SIGTERM");
    const { code, stderr } = await server.process.ended;
    expect(code).toBe(0);
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ event }) => event)).toEqual(["started", "ready", "stopping", "drained", "stopped"]);
    expect(lines[0]).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: expect.stringMatching(/^[0-9a-f]{40}/),
      data: server.data,
      flags: { data: server.data, logFormat: "json" },
    });
  });

  test("says on stderr where its reference, its data and its token are, and that rollouts are simulated", async () => {
    const server = await serveProcess(["--rollout-failure", "service/**=deploy"]);
    await server.process.shows("stderr", /^job runs {4}simulated: no cluster runs them$/m);
    const lines = server.process.stderr().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        `docs        ${server.url}/docs`,
        `data        ${server.data}`,
        `admin token ${join(server.data, "admin-token")}`,
        "rollouts    simulated: no cluster runs them",
      ]),
    );
    const page = await (await fetch(`${server.url}/docs`)).text();
    expect(page).toContain("This server simulates rollouts and runs of jobs");
  });

  test("logs each reply in one line, and tells callers with a token its version", async () => {
    const server = await serveProcess(["--log-format", "json"]);
    const ask = (path: string, token: string | null, id: string) =>
      fetch(server.url + path, {
        headers: { "x-request-id": id, ...(token !== null && { authorization: `Bearer ${token}` }) },
      });
    const version = await ask("/version", server.token, "r1");
    expect([version.status, await version.json()]).toEqual([
      200,
      {
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        commit: expect.stringMatching(/^[0-9a-f]{40}/),
        node: process.version.slice(1),
        database: "sqlite",
        schema: expect.stringMatching(/^\d{4}-/),
        extensions: true,
        rollouts: "simulated",
      },
    ]);
    expect((await ask("/version", null, "r2")).status).toBe(401);
    expect((await ask("/api/svc/v1/clusters/secret-name", server.token, "r3")).status).toBe(404);
    expect((await ask("/healthz", null, "r4")).status).toBe(200);
    await server.process.shows("stderr", /"reqId":"r3"/);
    server.process.kill("SIGTERM");
    const { stderr } = await server.process.ended;
    const answered = stderr.split("\n").filter((line) => line.includes('"answered"'));
    const common = { level: "info", event: "answered", time: expect.any(String), msg: "answered", method: "GET" };
    const ms = expect.any(Number);
    expect(answered.map((line) => JSON.parse(line))).toEqual([
      { ...common, reqId: "r1", operation: "other", route: "/version", status: 200, ms, caller: "user:admin" },
      {
        ...common,
        reqId: "r2",
        operation: "other",
        route: "/version",
        status: 401,
        ms,
        caller: null,
        code: "unauthorized",
      },
      {
        ...common,
        reqId: "r3",
        operation: "getCluster",
        route: "/api/svc/v1/clusters/:id",
        status: 404,
        ms,
        caller: "user:admin",
        code: "not-found",
      },
    ]);
    expect(stderr).not.toContain("secret-name");
  });

  test("takes the program of rollouts again after kill -9, and says in its reference that they are not simulated", async () => {
    const folder = await temporaryFolder();
    const program = join(folder, "driver");
    const script = `#!/bin/sh
      read input; echo "$input" >> ${folder}/inputs
      [ -e ${folder}/again ] && { echo '{"status":"DEPLOY_SUCCESS"}'; exit; }
      echo '{"status":"ROLLOUT_STARTED"}'
      env > ${folder}/env
      while [ ! -e ${folder}/again ]; do sleep 0.1; done`;
    await writeFile(program, script, { mode: 0o700 });
    const flags = ["--rollout-driver", program];
    const first = await serveProcess(flags);
    for (const [path, manifest] of platform) await first.call("PUT", path, { manifest });
    const status = async (server: typeof first) =>
      (await server.call("GET", "/api/svc/v1/apps")).data[0].deployment.currentStatus.status;
    await eventually("its first status", async () => (await status(first)) === "ROLLOUT_STARTED");
    await eventually("its environment", async () => (await readFile(join(folder, "env"), "utf8")).length > 0);
    expect(await readFile(join(folder, "env"), "utf8")).not.toContain("HOLDFAST_");
    first.process.kill("SIGKILL");
    await first.process.ended;
    await writeFile(join(folder, "again"), "");
    const second = await serveProcess(flags, { data: first.data });
    await eventually("its end", async () => (await status(second)) === "DEPLOY_SUCCESS");
    const inputs = (await readFile(join(folder, "inputs"), "utf8")).trim().split("\n");
    expect(inputs.map((line) => JSON.parse(line).status)).toEqual(["INITIALIZED", "ROLLOUT_STARTED"]);
    const page = await (await fetch(`${second.url}/docs`)).text();
    expect(page).toContain("This server hands rollouts to a program of its operator.");
    expect(page).not.toContain("This server simulates rollouts");
  });

  test("refuses a failure of rollouts that is none, and one beside a program", async () => {
    const cwd = await temporaryFolder();
    for (const rule of ["api=explode", "=deploy", "api", "api=deploy:soon"]) {
      const { code, stderr } = await start(["serve", "--port", "0", "--rollout-failure", rule], { cwd }).ended;
      expect([code, stderr]).toEqual([3, expect.stringContaining(`--rollout-failure ${rule} is not GLOB=build`)]);
    }
    for (const program of ["./absent", "no-program-of-this-name", "."]) {
      const { code, stderr } = await start(["serve", "--port", "0", "--rollout-driver", program], { cwd }).ended;
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(/--rollout-driver \S+ is no program that can be\s+started/),
      ]);
    }
    const both = ["--rollout-failure", "**=deploy", "--rollout-driver", "true"];
    const { code, stderr } = await start(["serve", "--port", "0", ...both], { cwd }).ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining("give one of the two")]);
  });

  test("S36 does not start under a debugger in production", async () => {
    const env = { NODE_ENV: "production", NODE_OPTIONS: "--inspect=0" };
    const refused = await start(["serve", "--port", "0"], { cwd: await temporaryFolder(), env }).ended;
    expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("leave out --inspect") });
  });

  test("F31 waits for a slow client and for its balancer, and for neither after the second signal", async () => {
    const server = await serveProcess(["--drain-seconds", "600"]);
    const { hostname, port } = new URL(server.url);
    const client = connect(Number(port), hostname);
    onTestFinished(() => void client.destroy());
    const cut = once(client, "close");
    client.write(`PUT /api/svc/v1/teams HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.token}\r\n`);
    client.write("Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    await eventually("the request has begun", async () =>
      /in_flight\{operation="putTeam"\} 1/.test(await (await fetch(`${server.url}/metrics`)).text()),
    );
    server.process.kill("SIGTERM");
    await eventually("it drains", async () => (await fetch(`${server.url}/readyz`)).status === 503);
    expect(client.destroyed).toBe(false);
    server.process.kill("SIGTERM");
    expect(await server.process.ended).toMatchObject({ code: 0 });
    await cut;
  });

  test("takes the admin token that the environment sets, and writes it nowhere", async () => {
    const token = "an-administrators-own-token-of-some-length";
    const cwd = await temporaryFolder();
    const serving = start(["serve", "--port", "0", "--data", "data"], { cwd, env: { HOLDFAST_ADMIN_TOKEN: token } });
    const [, url = ""] = await serving.shows("stdout", /^listening on (\S+)\n/);
    const answer = await fetch(`${url}/api/svc/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(await stat(join(cwd, "data/admin-token")).catch(() => null)).toBeNull();
  });

  test.each([
    [
      "an admin token that no client could send",
      { HOLDFAST_ADMIN_TOKEN: "not {sendable} at all" },
      [],
      /admin.*letters/,
    ],
    ["a key that is none", { HOLDFAST_SERVER_KEY: "CANARY-key" }, [], /a key is 32 bytes/],
    ["a key file that is not there", { HOLDFAST_SERVER_KEY_FILE: "absent" }, [], /absent: there is no key/],
    ["a certificate without its key", {}, ["--tls-cert", "a.pem"], /--tls-key/],
    ["a certificate that is not there", {}, ["--tls-cert", "a.pem", "--tls-key", "b.pem"], /a\.pem cannot be read/],
    ["tokens to revoke of nobody", {}, ["--revoke", "virtualaccount:nobody"], /nobody/],
  ] as const)("does not start with %s, and says why", async (_, env, flags, why) => {
    const cwd = await temporaryFolder();
    const ended = await start(["serve", "--port", "0", "--data", "data", ...flags], { cwd, env }).ended;
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(why);
    expect(ended.stderr).not.toMatch(/^\s+at |CANARY/m);
  });

  test("speaks TLS with the files it is given, and a plan goes through it with the authority's file", async () => {
    const authority = createAuthority();
    const { cert, key } = authority.issue("localhost");
    const source = await sourceOf({ ...everyKind, "ca.pem": authority.cert, "tls.crt": cert, "tls.key": key });
    const flags = ["--tls-cert", "tls.crt", "--tls-key", "tls.key", "--port", "0", "--data", "data"];
    const serving = source.start(["serve", ...flags]);
    const [, url = ""] = await serving.shows("stdout", /^listening on (https:\S+)\n/);
    const token = ["--token-file", "data/admin-token"];
    const ended = await source.runHere(["apply", "--yes", "--server", url, "--ca-file", "ca.pem", ...token]);
    expect(ended).toMatchObject({ code: 0 });
    expect((await source.runHere(["plan", "--server", url, ...token, "--connect-timeout", "1"])).code).not.toBe(0);
  });

  test("logs each reply where it is asked to, in one line without anything secret", async () => {
    const server = await serveProcess(["--log-level", "debug", "--log-format", "json", "--rate-limit", "1000"]);
    await server.call("GET", "/api/svc/v1/workspaces?name=CANARY");
    const [line = ""] = await server.process.shows("stderr", /^.*"answered".*$/m);
    expect(JSON.parse(line)).toMatchObject({ operation: "listWorkspaces", status: 200, caller: "user:admin" });
    expect(server.process.stderr()).not.toMatch(new RegExp(`CANARY|${server.token}`));
  });

  test("seeds what is absent, says so in the audit log, and keeps its tokens", async () => {
    const { folder } = await sourceOf({ ...everyKind, ...foreign });
    const server = await serveProcess(["--seed", folder]);
    expect(server.effects().map(({ principal }) => principal)).toEqual(Array.from({ length: 8 }, () => "seed"));
    const token = (await readFile(join(server.data, "tokens/ci"), "utf8")).trim();
    expect((await stat(join(server.data, "tokens/ci"))).mode & 0o777).toBe(0o600);
    expect(server.process.stdout() + server.process.stderr()).not.toContain(token);
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["grace@example.com"] },
    });
    server.process.kill("SIGTERM");
    await server.process.ended;

    const again = await serveProcess(["--seed", folder], { data: server.data });
    expect(again.effects()).toHaveLength(9);
    const { data } = await again.call("GET", "/api/svc/v1/teams");
    expect(data[0].members).toEqual(["grace@example.com"]);
  });

  test("does not start with a seed that is wrong, and says where", async () => {
    const source = await sourceOf({ "seed/team.yaml": `${team("ml")}colour: red\n` });
    const ended = await source.runHere(["serve", "--port", "0", "--data", "data", "--seed", "seed"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/^error: the seed is refused: team\.yaml: .*colour.*\n {2}→ /);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    const missing = await source.runHere(["serve", "--port", "0", "--data", "data", "--seed", "nowhere"]);
    expect(missing).toMatchObject({ code: 3, stdout: "" });
    expect(missing.stderr).toMatch(/^error: the seed is refused: the folder .*nowhere cannot be read\n {2}→ /);
  });

  test("refuses a seed that validate refuses, and passes over what validate passes over", async () => {
    const faulty = {
      "template.yaml": "type: team\nname: {{ .Values.name }}\n",
      "large.yaml": `type: team\nname: ml\n${"#".repeat(2 ** 20)}`,
      "slip.yaml": "tpye: team\nname: ml\nmembers: [ada@example.com]\n",
      "bytes.yaml": Buffer.from("type: team\nname: \xff\n", "latin1"),
    };
    for (const [name, text] of Object.entries(faulty)) {
      const source = await sourceOf({});
      await writeFile(join(source.folder, name), text);
      expect([name, await source.runHere(["validate"])]).toMatchObject([name, { code: 3 }]);
      const ended = await source.runHere(["serve", "--port", "0", "--data", "data", "--seed", "."]);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(new RegExp(`^error: the seed is refused: ${name}`));
    }
    const passed = await sourceOf(foreign);
    expect(await passed.runHere(["validate"])).toMatchObject({ code: 0 });
    await writeFile(join(passed.folder, "secrets.yaml"), "type: secret-group\nname: db\nsecrets: [\n");
    const secret = await passed.runHere(["serve", "--port", "0", "--data", "data", "--seed", "."]);
    expect(secret.stderr).toMatch(/^error: the seed is refused: secrets\.yaml:\d+:\d+: /);
  });

  test("ends its rollouts although it was killed in between", async () => {
    const server = await serveProcess([], { rolloutSeconds: 1 });
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    server.process.kill("SIGKILL");
    await server.process.ended;
    const restarted = await serveProcess([], { data: server.data, rolloutSeconds: 1 });
    await eventually("the rollout ends", async () => {
      const { data } = await restarted.call("GET", "/api/svc/v1/apps");
      return data[0].deployment.currentStatus.status === "DEPLOY_SUCCESS";
    });
  });
});
