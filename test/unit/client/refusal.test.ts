import { expect, test } from "vitest";
import { excerpt, readRefusal } from "../../../src/client/refusal.ts";
import type { Json } from "../../../src/contract/json.ts";
import { type OperationName, operation } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";

const token = new Secret("the-bearer");

function refusal(name: OperationName, status: number, body: Json | undefined, raw = JSON.stringify(body) ?? "") {
  return readRefusal(operation(name), status, { body, raw, token });
}

test("our own error body is read whole", () => {
  const details = [{ pointer: "/ports/0/host", message: "is not under a base domain", code: "host" }];
  expect(refusal("putApp", 422, { statusCode: 422, message: "refused", code: "invalid", details })).toEqual({
    reason: "refused",
    status: 422,
    code: "invalid",
    message: "refused",
    details,
  });
});

test("other servers' error bodies are understood", () => {
  const loc = ["body", "manifest", "ports", 0, "a/b"];
  expect(refusal("putApp", 422, { detail: [{ loc, msg: "field required", type: "missing" }] }).details).toEqual([
    { pointer: "/ports/0/a~1b", message: "field required", code: "missing" },
  ]);
  expect(refusal("putApp", 422, { detail: [{ loc, msg: "field required" }, { msg: "bad" }] }).message).toBe(
    "/ports/0/a~1b field required; bad",
  );
  expect(refusal("putApp", 422, { detail: Array(5).fill({ msg: "bad" }) }).message).toBe("bad; bad; bad, and 2 more");
  expect(refusal("putApp", 400, { error: "broken" }).message).toBe("broken");
  expect(refusal("putApp", 400, { error: { message: "nested" } }).message).toBe("nested");
  expect(refusal("putApp", 400, { message: "told" }).message).toBe("told");
  expect(refusal("putApp", 400, { detail: "told" }).message).toBe("told");
  expect(refusal("putApp", 400, undefined, "plain text\n").message).toBe("plain text");
  expect(refusal("putApp", 400, undefined, "<html>page</html>").message).toBe("");
  expect(refusal("putApp", 400, undefined, "").message).toBe("");
});

test("odd bodies are harmless", () => {
  for (const body of [null, [], 1, "x", { message: 5 }, { details: "x" }, { details: [null, 1, {}] }, { detail: {} }]) {
    expect(refusal("putApp", 422, body)).toMatchObject({ reason: "refused" });
  }
});

test("S15 what is shown is short, has nothing invisible in it, and never the bearer token", () => {
  const hostile = `\u001b]0;title\u0007 the-bearer \u202e \r\n ${"é".repeat(5000)}`;
  const { message } = refusal("putApp", 422, { message: hostile });
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2048);
  expect(message).toMatch(/^\\u001b\]0;title\\u0007 \[secret\] \\u202e \\u000d\\u000a é/);
  expect(message).not.toContain("\ufffd");
  expect(refusal("putApp", 422, { details: Array(5000).fill({ message: "x" }) }).details).toHaveLength(100);
  expect(excerpt("short")).toBe("short");
});

test("F83 a gateway's page that forbids is no word of the control plane on what this caller may", () => {
  const page = "<html><body>Forbidden</body></html>";
  expect(refusal("putApp", 403, undefined, page).reason).toBe("protocol");
  expect(refusal("putApp", 403, undefined, "you may not").reason).toBe("forbidden");
  expect(refusal("listTeams", 403, undefined, page).reason).toBe("route-missing");
  expect(refusal("listTeams", 403, { message: "you may not" }).reason).toBe("forbidden");
});

test.each<[OperationName, number, Json | undefined, string]>([
  ["getCluster", 401, {}, "unauthorized"],
  ["getCluster", 403, {}, "forbidden"],
  ["getCluster", 404, { code: "not-found" }, "not-found"],
  ["getCluster", 404, { code: "route-not-found" }, "route-missing"],
  ["getCluster", 404, { message: "Cluster c1 not found" }, "not-found"],
  ["getCluster", 404, { detail: "Not Found" }, "not-found"],
  ["getCluster", 404, { message: "Cannot GET /api/svc/v1/clusters/c1" }, "route-missing"],
  ["getCluster", 404, { message: "Route GET:/api/svc/v1/clusters/c1 not found" }, "route-missing"],
  ["getCluster", 404, undefined, "route-missing"],
  ["listClusters", 404, { message: "whatever" }, "route-missing"],
  ["listClusters", 404, undefined, "route-missing"],
  ["putModelVersion", 404, { detail: "Not Found" }, "route-missing"],
  ["putModelVersion", 404, { message: "ml repo r not found" }, "not-found"],
  ["putModelVersion", 404, { code: "ML_REPO_MISSING", message: "Not Found" }, "not-found"],
  ["putModelVersion", 404, undefined, "route-missing"],
  ["putModelVersion", 405, undefined, "route-missing"],
  ["putTeam", 501, {}, "route-missing"],
  ["putTeam", 409, {}, "conflict"],
  ["putTeam", 412, {}, "fenced"],
  ["putTeam", 429, {}, "throttled"],
  ["putTeam", 413, {}, "refused"],
])("%s answering %d %j is %s", (name, status, body, reason) => {
  expect(refusal(name, status, body).reason).toBe(reason);
});
