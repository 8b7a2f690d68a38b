import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { ConformCheck, ConformReport } from "../../src/contract/generated/output.ts";
import { type Defect, defectiveServer } from "../support/defective-server.ts";
import { listen } from "../support/listen.ts";
import { everyKind } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers as it is told, and the requests that it was sent, as `METHOD /path?query`. */
async function answering(answer: Answer): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  return { url: await listen(server), asked };
}

const withJson =
  (status: number, body: unknown, headers: { readonly [name: string]: string } = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

const conform = async (url: string, ...flags: readonly string[]): Promise<Ended> =>
  (await sourceOf({}, { url, token: "some-token" })).runHere(["conform", "-o", "json", ...flags]);

const reportIn = ({ stdout }: Ended): ConformReport => JSON.parse(stdout);
const checkIn = ({ checks }: ConformReport, name: string): ConformCheck => {
  const found = checks.find(({ check }) => check === name);
  if (found === undefined) throw new TypeError(name);
  return found;
};

const pagination = { total: 1, offset: 0, limit: 100 };
const OTHER_FORMS: { readonly [form: string]: readonly [Answer, string] } = {
  "a failure": [withJson(500, { message: "out of order" }), "answered 500: out of order"],
  "a page": [
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Hi</title>"),
    "the reply is not JSON (text/html)",
  ],
  "a missing route": [withJson(404, { statusCode: 404, message: "Not Found" }), "answered 404: Not Found"],
  "no fields": [withJson(200, {}), "data is no list"],
  "no object": [withJson(200, []), "it is no object"],
  nothing: [withJson(200, null), "documented form"],
  "no pagination": [withJson(200, { data: [] }), "it has no pagination"],
  "no row": [withJson(200, { data: [null], pagination }), "a row in data is no object"],
};

test("a server that answers everything in another form is reported, with what depends on it", async () => {
  for (const [form, [answer, reason]] of Object.entries(OTHER_FORMS)) {
    const { url, asked } = await answering(answer);
    const ended = await conform(url);
    expect(ended, form).toMatchObject({ code: 1, stderr: "" });
    const report = reportIn(ended);
    expect(report, form).toMatchObject({ conforms: false, ended: null, left: [], levels: ["read"] });
    const failed = report.checks.filter(({ result }) => result === "fails").map(({ check }) => check);
    expect(failed, form).toEqual(["workspaces", "prompt-versions", "model-versions", "ml-repos"]);
    for (const check of [...failed, "cluster", "list-limit", "fqns", "bad-token"]) {
      expect(checkIn(report, check).reason, `${form}: ${check}`).toContain(reason);
    }
    for (const check of ["cluster", "list-limit", "fqns", "bad-token", "absent", "error-body", "extension-E3"]) {
      expect(checkIn(report, check).result, `${form}: ${check}`).toBe("not-checked");
    }
    expect(asked.filter((one) => !one.startsWith("GET "))).toEqual([]);
    // None is asked for again: the second request of operation 1 has the token that was never issued.
    const repeated = Object.entries(Object.groupBy(asked, (one) => one)).filter(([, all = []]) => all.length > 2);
    expect(form === "a missing route" ? [] : repeated, form).toEqual([]);
  }
});

test("waits that the control plane asks for are bounded by --retry-wait", async () => {
  const { url, asked } = await answering(withJson(503, { message: "later" }, { "retry-after": "1" }));
  const ended = await conform(url, "--retry-wait", "0");
  expect(ended.code).toBe(1);
  expect(reportIn(ended).ended).toContain("it asks to wait 1 s");
  expect(asked).toHaveLength(2);
  const unnamed = await answering(withJson(429, { message: "slower" }));
  expect(await conform(unnamed.url, "--retry-wait", "0")).toMatchObject({ code: 1 });
  expect(unnamed.asked.length).toBeLessThan(3);
});

test("rows without any fields, and empty lists, are no reason for other findings than their own", async () => {
  const rows = reportIn(await conform((await answering(withJson(200, { data: [{}, {}], pagination }))).url));
  const unmade = ["list-offset", "list-order", "list-repeatable", "list-filters", "fqns", "cluster-names"];
  expect(unmade.map((check) => checkIn(rows, check).result)).toEqual(unmade.map(() => "not-checked"));
  expect(JSON.stringify(rows)).not.toContain("undefined");
  const empty = { data: [], pagination: { ...pagination, total: 0 } };
  const none = reportIn(await conform((await answering(withJson(200, empty))).url));
  expect(checkIn(none, "list-repeatable").reason).toBe("no list that this token reads has a row that can be compared");
  expect(checkIn(none, "fqns").result).toBe("not-checked");
  expect(checkIn(none, "bad-token")).toMatchObject({ result: "fails", reason: "it is answered with success" });
});

/** A control plane with one resource of every kind. */
async function furnished(): Promise<Server> {
  const server = await serve();
  const applied = await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  expect(applied.code).toBe(0);
  return server;
}

test("where one operation is not answered, the others are checked", async () => {
  const { url: behind, token } = await furnished();
  const { url } = await answering(async (request, response) => {
    if (request.url?.startsWith("/api/ml/v1/prompt-versions")) return void request.socket.destroy();
    const { authorization = "" } = request.headers;
    const reply = await fetch(behind + request.url, { headers: { authorization } });
    response.writeHead(reply.status, { "content-type": "application/json" }).end(await reply.text());
  });
  const ended = await (await sourceOf({}, { url, token })).runHere(["conform", "-o", "json"]);
  expect([ended.code, ended.stderr]).toEqual([1, ""]);
  const report = reportIn(ended);
  const failed = report.checks.filter(({ result }) => result === "fails").map(({ check }) => check);
  expect(failed).toEqual(["prompt-versions"]);
  expect(checkIn(report, "prompt-versions").reason).toContain("the connection broke");
  expect(report.summary.holds).toBeGreaterThan(30);
  const closed = await conform((await answering(({ socket }) => socket.destroy())).url);
  expect(closed.code).toBe(1);
  expect(reportIn(closed)).toMatchObject({ conforms: false, ended: expect.stringContaining("the connection broke") });
});

test("once the time limit is over, the report has what was checked until then", async () => {
  const { url: behind, token } = await furnished();
  const { url } = await answering(async (request, response) => {
    if (request.url?.startsWith("/api/ml/v1/prompt-versions")) return;
    const { authorization = "" } = request.headers;
    const reply = await fetch(behind + request.url, { headers: { authorization } });
    response.writeHead(reply.status, { "content-type": "application/json" }).end(await reply.text());
  });
  const source = await sourceOf({}, { url, token });
  const flags = ["conform", "--write", "--workspace", "dev:web", "--yes", "--timeout", "3"];
  const ended = await source.runHere([...flags, "-o", "json"]);
  expect(ended).toMatchObject({ code: 9, stderr: expect.stringContaining("the time limit of 3 s is over") });
  const report = reportIn(ended);
  expect(report).toMatchObject({ conforms: false, ended: "the time limit of 3 s is over", levels: ["read"], left: [] });
  expect(checkIn(report, "workspaces").result).toBe("holds");
  for (const check of ["ml-repos", "bad-token", "application"]) {
    expect(checkIn(report, check)).toMatchObject({ result: "not-checked", reason: "the time limit of 3 s is over" });
  }
  expect((await source.runHere(flags)).stdout).toContain("\n  the time limit of 3 s is over\n      ");
});

test("nothing is written where it is not known whether the workspace exists", async () => {
  const server = await furnished();
  const before = server.effects();
  const defect: Defect = {
    reply: (reply, { path }) => {
      if (path === "/api/svc/v1/workspaces") delete reply.body.pagination;
    },
  };
  const { url, asked } = await defectiveServer(server, defect);
  const source = await sourceOf({}, { url, token: server.token });
  const flags = ["--write", "--workspace", "dev:web", "--ml-repo", "registry", "--write-tenant", "--yes"];
  const ended = await source.runHere(["conform", ...flags, "-o", "json"]);
  expect(ended.code).toBe(1);
  const report = reportIn(ended);
  expect(report).toMatchObject({ levels: ["read"], left: [] });
  const application = checkIn(report, "application");
  expect(application.result).toBe("not-checked");
  expect(application.reason).toContain("nothing is written, since it is not known what exists: GET ");
  expect(asked.filter((one) => !one.startsWith("GET "))).toEqual([]);
  expect(server.effects()).toEqual(before);
});

test("what replies lack that a check compares is no other finding of that check", async () => {
  const server = await furnished();
  const strip = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const field of ["version", "updatedAt", "updated_at"]) Reflect.deleteProperty(value, field);
    Object.values(value).forEach(strip);
  };
  const { url } = await defectiveServer(server, { reply: ({ body }) => strip(body) });
  const source = await sourceOf({}, { url, token: server.token });
  const writes = ["--write", "--workspace", "dev:web", "--ml-repo", "registry", "--write-tenant", "--yes"];
  const ended = await source.runHere(["conform", "--dry-run", ...writes, "-o", "json"]);
  expect(ended).toMatchObject({ code: 1, stdout: expect.not.stringMatching(/undefined|NaN/) });
  const report = reportIn(ended);
  const unmade = ["deployment-filters", "dry-run-reply", "identical-team", "identical-deployment"];
  for (const check of [...unmade, "identical-prompt"]) {
    expect(checkIn(report, check), check).toMatchObject({
      result: "not-checked",
      reason: expect.stringContaining(" no "),
    });
  }
});

test("a token that may deploy to one workspace alone makes no check fail", async () => {
  const server = await furnished();
  const permission = { resource_fqn: "dev:web", resource_type: "workspace", role_id: "workspace-editor" };
  const manifest = { type: "virtual-account", name: "deployer", permissions: [permission] };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  // One that does not tell who may see a workspace whether there is one.
  const { url } = await defectiveServer(server, {
    reply: (reply, { body }) => {
      if (body?.manifest?.workspace_fqn?.endsWith(":absent") && reply.status === 422) reply.status = 403;
    },
  });
  const source = await sourceOf({}, { url, token });
  const flags = ["--dry-run", "--write", "--workspace", "dev:web", "--write-tenant", "--yes"];
  const ended = await source.runHere(["conform", ...flags, "-o", "json"]);
  expect(checkIn(reportIn(ended), "dry-run-refuses").result).toBe("not-checked");
  expect(reportIn(ended).checks.filter(({ result }) => result === "fails")).toEqual([]);
  expect(ended.code).toBe(0);
});
