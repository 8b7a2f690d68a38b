import { expect, test } from "vitest";
import { composeRequest, type WriteRevision } from "../../../src/client/compose-request.ts";
import { operation } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";

const line = {
  ...{ origin: "http://127.0.0.1", base: "", token: new Secret("token"), userAgent: "test" },
  actor: (): string | null => null,
  revision: (): WriteRevision | null => null,
};

test("a server reads the query that was meant, whatever its values contain", () => {
  const query = {
    fqn: "c1:ws 1/a+b&c=d#?%~'é",
    limit: 1000,
    archived: false,
    offset: undefined,
    kind: ["job", "helm"],
  };
  const { path, origin } = composeRequest(operation("listApps"), { query }, line);
  expect([...new URL(origin + path).searchParams]).toEqual([
    ["fqn", "c1:ws 1/a+b&c=d#?%~'é"],
    ["limit", "1000"],
    ["archived", "false"],
    ["kind", "job"],
    ["kind", "helm"],
  ]);
});

test("half a character in a query is replaced as in any URL", () => {
  const { path, origin } = composeRequest(operation("listApps"), { query: { fqn: "a\ud800" } }, line);
  expect(new URL(origin + path).searchParams.get("fqn")).toBe("a\ufffd");
});

test("an empty query leaves no question mark", () => {
  const { path } = composeRequest(operation("listApps"), { query: { fqn: undefined } }, line);
  expect(path).not.toContain("?");
});

test("a write names the person who asked for it, and a read does not", () => {
  const asked = { ...line, actor: () => "Zoë \u202e" };
  const write = composeRequest(operation("putApp"), { body: {} }, asked);
  expect(write.headers).toMatchObject({ "X-Holdfast-Actor": "Zo%C3%AB%20%E2%80%AE" });
  expect(composeRequest(operation("listApps"), {}, asked).headers).not.toHaveProperty("X-Holdfast-Actor");
  expect(composeRequest(operation("putApp"), { body: {} }, line).headers).not.toHaveProperty("X-Holdfast-Actor");
});

test("a write names the commit and the pass that it is of, and a read does not", () => {
  const asked = { ...line, revision: () => ({ commit: "abc", pass: "p-1" }) };
  const write = composeRequest(operation("putApp"), { body: {} }, asked);
  expect(write.headers).toMatchObject({ "X-Holdfast-Revision": "commit=abc; pass=p-1" });
  const uncommitted = { ...line, revision: () => ({ commit: null, pass: "p-1" }) };
  expect(composeRequest(operation("putApp"), { body: {} }, uncommitted).headers).toMatchObject({
    "X-Holdfast-Revision": "pass=p-1",
  });
  expect(composeRequest(operation("listApps"), {}, asked).headers).not.toHaveProperty("X-Holdfast-Revision");
});
