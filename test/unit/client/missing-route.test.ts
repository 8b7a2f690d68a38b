import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { Connection } from "../../../src/client/connect.ts";
import { isDocumented, type Operation, operations } from "../../../src/contract/operations.ts";
import { calm, dial, json, page, type Seen, serve } from "./server.ts";

type Reply = { readonly status: number; readonly type?: string; readonly body: string };
type Answer = (request: Seen) => Reply | null;

const documented = Object.values<Operation>(operations).filter(isDocumented);

function pathMatches(row: Operation, path: string): boolean {
  return new RegExp(`^${row.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
}

/** A control plane with the documented operations alone, and its own way to answer everything else. */
async function foreign(absent: Answer, gateway: Answer = () => null) {
  return serve((response, request) => {
    const { method, path } = request;
    const stray = gateway(request);
    if (stray !== null) return send(response, stray);
    if (!documented.some((row) => row.method === method && pathMatches(row, path)))
      return send(response, absent(request) ?? { status: 404, body: "" });
    if (method === "GET") return json(response, page([], request));
    return json(response, { statusCode: 422, message: "manifest is missing" }, { status: 422 });
  });
}

function send(response: ServerResponse, { status, type = "text/html", body }: Reply): void {
  response.writeHead(status, { "content-type": type }).end(body);
}

/** Calls of extensions, by name: a list, a dry run, a write and a lease. */
const calls: { readonly [name: string]: (connection: Connection) => Promise<unknown> } = {
  listTeams: ({ reader }) => reader.list("listTeams", {}, calm),
  putWorkspace: ({ reader }) => reader.dryRun("putWorkspace", { manifest: { type: "workspace" } }, calm),
  putModelVersion: ({ writer }) => refused(writer.send("putModelVersion", { body: { manifest: {} } }, calm)),
  putLease: ({ writer }) =>
    refused(writer.send("putLease", { path: { scope: "dev:web" }, body: { holder: "one", ttlSeconds: 30 } }, calm)),
};

async function refused(sent: Promise<object>): Promise<never> {
  throw await sent;
}

const names = ["listTeams", "putWorkspace", "putModelVersion", "putLease"] as const;

const forms: { readonly [name: string]: (request: Seen, nth: number) => Reply } = {
  "plain text": () => ({ status: 404, type: "text/plain", body: "404 page not found\n" }),
  "a page that names method and path": ({ method, path }) => ({
    status: 404,
    body: `<pre>Cannot ${method} ${decodeURIComponent(path).replaceAll("/", "&#x2F;")}</pre>`,
  }),
  "JSON of its own": () => ({ status: 404, type: "application/json", body: '{"detail":"Not Found"}' }),
  "JSON with the time and the path": ({ path }, nth) => ({
    status: 404,
    type: "application/json; charset=utf-8",
    body: JSON.stringify({ timestamp: `2026-01-01T00:00:0${nth}.000Z`, error: "Not Found", path }),
  }),
  "an empty body": () => ({ status: 404, type: "", body: "" }),
  "a page that forbids": () => ({ status: 403, body: "<h1>Forbidden</h1>" }),
  "501 in words": () => ({ status: 501, type: "text/plain", body: "not implemented" }),
};

describe.each(names)("%s, on a control plane that lacks it", (name) => {
  test.each(Object.entries(forms))(
    "F73 is a missing route where unknown routes are answered with %s",
    async (_, form) => {
      let nth = 0;
      const server = await foreign((request) => {
        nth += 1;
        return form(request, nth);
      });
      const connection = dial(server.url);
      await expect(calls[name]?.(connection)).rejects.toMatchObject({ reason: "route-missing" });
      expect(connection.capabilities.support(name)).toBe("no");
    },
  );

  test("F73 is a missing route where the path is known and the method is not", async () => {
    const server = await foreign(({ path }) =>
      documented.some((row) => pathMatches(row, path)) || path.includes("/leases/")
        ? { status: 405, type: "application/json", body: '{"detail":"Method Not Allowed"}' }
        : { status: 404, type: "application/json", body: '{"detail":"Not Found"}' },
    );
    const connection = dial(server.url);
    await expect(calls[name]?.(connection)).rejects.toMatchObject({ reason: "route-missing" });
    expect(connection.capabilities.support(name)).toBe("no");
  });

  test("F73 is a missing route at once where the documented form of an error says so", async () => {
    const body = JSON.stringify({ statusCode: 404, message: "no such route", code: "route-not-found" });
    const server = await foreign(() => ({ status: 404, type: "application/json", body }));
    const connection = dial(server.url);
    await expect(calls[name]?.(connection)).rejects.toMatchObject({ reason: "route-missing" });
    // At the first contact, a read asks for a documented route too.
    expect(server.seen).toHaveLength(name === "listTeams" ? 2 : 1);
  });
});

const own: Answer = () => ({
  status: 404,
  type: "application/json",
  body: JSON.stringify({ statusCode: 404, message: "there is no such route", code: "route-not-found" }),
});

describe.each(names)("%s, behind a gateway", (name) => {
  const isIts = ({ method, path }: Seen): boolean => {
    const row: Operation = operations[name];
    return row.method === method && pathMatches(row, path);
  };

  const unclear = "the answer may come from the control plane or from a proxy in between";
  // At the first contact, a read asks for a documented route too.
  const stranger = /^the server at \S+ (?:is not|does not look like) a control plane: /;

  test.each([403, 404, 405, 501])("F73 that answers %d for it alone is not known to be missing", async (status) => {
    const server = await foreign(own, (request) => (isIts(request) ? { status, body: "<h1>gateway</h1>" } : null));
    const connection = dial(server.url);
    await expect(calls[name]?.(connection)).rejects.toMatchObject({ reason: "route-unclear" });
    expect(connection.capabilities.support(name)).toBe("unknown");
  });

  test.each([404, 405])("F73 that answers %d for everything is not known to be missing", async (status) => {
    const server = await foreign(own, () => ({ status, body: "<h1>gateway</h1>" }));
    const connection = dial(server.url);
    await expect(calls[name]?.(connection)).rejects.toThrow(name === "listTeams" ? stranger : unclear);
    expect(connection.capabilities.support(name)).toBe("unknown");
  });

  test.each([1, 2, 3, 4, 5])(
    "F73 that answers 404 for the first %d requests is not known to be missing",
    async (count) => {
      let nth = 0;
      const server = await foreign(own, () => {
        nth += 1;
        return nth <= count ? { status: 404, body: "<h1>gateway</h1>" } : null;
      });
      const connection = dial(server.url);
      await expect(calls[name]?.(connection)).rejects.toThrow(name === "listTeams" && count > 2 ? stranger : unclear);
      expect(connection.capabilities.support(name)).toBe("unknown");
    },
  );

  test("F73 that answers 404 for whatever writes is not known to be missing", async () => {
    const server = await foreign(own, ({ method }) =>
      method === "GET" && name !== "listTeams" ? null : { status: 404, body: "<h1>gateway</h1>" },
    );
    const connection = dial(server.url);
    await expect(calls[name]?.(connection)).rejects.toThrow(name === "listTeams" ? stranger : unclear);
    expect(connection.capabilities.support(name)).toBe("unknown");
  });
});

test.each([
  ["a page of a gateway", { status: 404, body: "<h1>gateway</h1>" }],
  ["the control plane's own words", own],
] as const)("F73 a route that was there once is not unlearned by %s, given once", async (_, stray) => {
  let strays = 0;
  const teams = "/api/svc/v1/teams";
  const server = await serve((response, request, nth) => {
    if (nth === 2) {
      strays += 1;
      return send(response, typeof stray === "function" ? (stray(request) ?? { status: 0, body: "" }) : stray);
    }
    if (request.method === "GET" && [teams, "/api/svc/v1/workspaces"].includes(request.path))
      return json(response, page([], request));
    return send(response, own(request) ?? { status: 0, body: "" });
  });
  const connection = dial(server.url);
  const list = () => connection.reader.list("listTeams", {}, calm);
  expect(await list()).toEqual([]);
  await expect(list()).rejects.toMatchObject({ reason: "route-unclear" });
  expect(strays).toBe(1);
  expect(connection.capabilities.support("listTeams")).toBe("yes");
  expect(await list()).toEqual([]);
});

test("F73 a route that is gone for good is unlearned after all, since everything says so", async () => {
  const isGone = { now: false };
  const server = await foreign(own, (request) =>
    request.path === "/api/svc/v1/teams" && request.method === "GET" && !isGone.now
      ? { status: 200, type: "application/json", body: JSON.stringify(page([], request)) }
      : null,
  );
  const connection = dial(server.url);
  const list = () => connection.reader.list("listTeams", {}, calm);
  expect(await list()).toEqual([]);
  isGone.now = true;
  await expect(list()).rejects.toMatchObject({ reason: "route-missing" });
  expect(connection.capabilities.support("listTeams")).toBe("no");
});

test("F73 an answer that is not in the documented form does not prove that a route is there", async () => {
  const server = await serve((response, request) =>
    json(response, request.path.endsWith("/teams") ? { hello: "world" } : page([], request)),
  );
  const connection = dial(server.url);
  await expect(calls.listTeams?.(connection)).rejects.toMatchObject({ reason: "protocol" });
  expect(connection.capabilities.support("listTeams")).toBe("unknown");
});

test("F73 calls that are answered so at the same time share one check", async () => {
  const server = await foreign(() => ({ status: 404, type: "text/plain", body: "404 page not found\n" }));
  const connection = dial(server.url);
  const all = Array.from({ length: 8 }, () => calls.putWorkspace?.(connection));
  for (const one of all) await expect(one).rejects.toMatchObject({ reason: "route-missing" });
  // The calls themselves, and one check: documented routes before and after, the route again, and two absent ones.
  expect(server.seen.length).toBeLessThanOrEqual(8 + 7);
});

test("F73 a check writes nothing: each of its writes is a dry run without a manifest", async () => {
  const server = await foreign(() => ({ status: 404, type: "text/plain", body: "404 page not found\n" }));
  const connection = dial(server.url);
  await expect(calls.putModelVersion?.(connection)).rejects.toMatchObject({ reason: "route-missing" });
  const [, ...checks] = server.seen.filter(({ method }) => method !== "GET");
  expect(checks.length).toBeGreaterThan(0);
  for (const { method, body } of checks) expect([method, body]).toEqual(["PUT", '{"dryRun":true}']);
});
