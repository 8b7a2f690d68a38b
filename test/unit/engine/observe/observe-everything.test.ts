import { expect, test } from "vitest";
import { ServerCapabilities } from "../../../../src/client/server-capabilities.ts";
import { systemClock } from "../../../../src/clock/system.ts";
import type { PassEvent } from "../../../../src/core/report/events.ts";
import { noFacts } from "../../../../src/core/server-facts.ts";
import { observeEverything } from "../../../../src/engine/observe/observe-everything.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import { type Answerer, calm, dial, json, page, serve } from "../../client/server.ts";

const workspace = {
  id: "w1",
  fqn: "c1x:ws1",
  manifest: { type: "workspace", name: "ws1", cluster_fqn: "c1x" },
};
const cluster = { id: "c1x", name: "c1x", manifest: { type: "cluster", name: "c1x" } };
const deployment = {
  id: "d1",
  applicationId: "a1",
  version: 1,
  application: { workspaceFqn: "c1x:ws1" },
  manifest: { type: "service", name: "api", workspace_fqn: "c1x:ws1" },
};
const application = { id: "a1", type: "service", name: "api", workspaceFqn: "c1x:ws1", deployment };
const missing = { code: "route-not-found", message: "no route", statusCode: 404 };

async function everythingOn(answer: Answerer, options: { ids?: [string, string | null][]; only?: string[] } = {}) {
  const { ids = [], only } = options;
  const { url, seen } = await serve(answer);
  const events: PassEvent[] = [];
  const capabilities = new ServerCapabilities(noFacts, { clock: systemClock });
  const found = await observeEverything(only ? kinds.filter(({ type }) => only.includes(type)) : kinds, {
    server: { reader: dial(url, { capabilities }).reader, capabilities },
    mayExist: new Map(ids),
    concurrency: 4,
    run: { emit: (event) => events.push(event), stopping: calm.signal },
  });
  const keys = Object.fromEntries([...found.rows].map(([type, rows]) => [type, rows.map(({ key }) => key)]));
  return { ...found, keys, seen, events };
}

test("kinds that share a list are read with one", async () => {
  const { keys, seen, unread } = await everythingOn((response, request) =>
    json(response, page(request.path.endsWith("/apps") ? [application] : [], request)),
  );
  expect(keys).toMatchObject({ service: ["c1x:ws1/api"], job: [], team: [] });
  expect(unread).toEqual([]);
  expect(seen.filter(({ path }) => path === "/api/svc/v1/apps")).toHaveLength(1);
});

test("without lists, what others name and what is recorded is read, and the rest has a reason", async () => {
  const documented = ["/workspaces", "/ml-repos", "/model-versions", "/prompt-versions"];
  const { keys, unread } = await everythingOn(
    (response, request) => {
      const { path } = request;
      if (path.endsWith("/workspaces")) return json(response, page([workspace], request));
      if (documented.some((end) => path.endsWith(end))) return json(response, page([], request));
      if (path === "/api/svc/v1/clusters/c1x") return json(response, { data: cluster });
      if (path === "/api/svc/v1/apps/a1/deployments") return json(response, page([deployment], request));
      return json(response, missing, { status: 404 });
    },
    { ids: [["service/c1x:ws1/api", "a1"]], only: ["cluster", "service", "team"] },
  );
  expect(keys).toEqual({ cluster: ["c1x"], service: ["c1x:ws1/api"] });
  const reasons = Object.fromEntries(unread.map(({ kind, why }) => [kind, why]));
  expect(reasons.team).toBe("this control plane has no list of them (/api/svc/v1/teams)");
  expect(reasons.cluster).toContain("; those were read that other resources name");
  expect(unread.every(({ isFailure }) => !isFailure)).toBe(true);
});

test("a list that is refused or broken concerns its kinds alone", async () => {
  const { keys, unread } = await everythingOn(
    (response, request) => {
      const { path } = request;
      if (path.endsWith("/teams")) return json(response, { message: "no" }, { status: 403 });
      if (path.endsWith("/apps")) return json(response, page([{ id: "a1", type: "service" }], request));
      return json(response, page([], request));
    },
    { only: ["team", "service", "workspace"] },
  );
  expect(keys).toEqual({ workspace: [] });
  expect(unread).toEqual([
    { kind: "service", why: "the list does not carry the newest deployments", isFailure: true },
    { kind: "team", why: "the token may not list them (/api/svc/v1/teams)", isFailure: false },
  ]);
});

test("a long list tells how far it is", async () => {
  const rows = Array.from({ length: 2500 }, (_, index) => ({ ...workspace, id: `w${index}`, fqn: `c1x:ws${index}` }));
  const { events } = await everythingOn((response, request) => json(response, page(rows, request)), {
    only: ["workspace"],
  });
  expect(events).toEqual([
    { what: "listing", kind: "workspace", rows: 1000 },
    { what: "listing", kind: "workspace", rows: 2000 },
  ]);
});
