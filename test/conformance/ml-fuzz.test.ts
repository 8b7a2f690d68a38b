import fc from "fast-check";
import { expect, test } from "vitest";
import { startControlPlane } from "../control-plane.ts";

const repo = { type: "ml-repo", name: "own" };
const messages = [{ role: "user", content: "hi" }];
const source = { type: "platform", uri: "file:///nowhere" };
const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-member" }];
const secrets = [{ key: "k", value: "v" }];

const writes: readonly { readonly method: "put" | "post"; readonly path: string; readonly body: object }[] = [
  { method: "put", path: "/api/svc/v1/ml-repos", body: { manifest: repo } },
  {
    method: "put",
    path: "/api/ml/v1/prompt-versions",
    body: { manifest: { type: "chat_prompt", name: "p", ml_repo: "own", messages, version: 1, variables: { a: 1 } } },
  },
  {
    method: "post",
    path: "/api/ml/v1/model-versions",
    body: { manifest: { type: "model-version", name: "m", ml_repo: "own", source, step: 1, framework: { type: "x" } } },
  },
  {
    method: "post",
    path: "/api/ml/v1/artifact-versions/stage",
    body: { manifest: { type: "artifact-version", name: "m", ml_repo: "own" } },
  },
  { method: "post", path: "/api/ml/v1/artifact-versions/mark-stage-failure", body: { id: "x" } },
  {
    method: "put",
    path: "/api/svc/v1/teams",
    body: { manifest: { type: "team", name: "t", managers: [], members: ["a@example.com"] }, dryRun: false },
  },
  {
    method: "put",
    path: "/api/svc/v1/virtual-accounts",
    body: {
      manifest: {
        type: "virtual-account",
        name: "v",
        permissions,
        expiration_date: "2030-01-01",
        auto_rotate: { auto_rotate_interval: 30, grace_period: 1 },
        secret_store_config: { integration_fqn: "builtin", secret_path: "g/k" },
      },
    },
  },
  { method: "post", path: "/api/svc/v1/secret-groups", body: { name: "g", integrationId: "builtin", secrets } },
];

const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e308, "", "\u0000", "a/b", "%00", "../..", "1", [], {}, [null], { type: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Every place of a value, as the keys that lead there. */
function places(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, item]) => places(item, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? replaced(item, rest, by) : item));
  const member = Object.entries(value ?? {}).find(([name]) => name === key)?.[1];
  return { ...(value ?? {}), [key]: replaced(member, rest, by) };
}

test("whatever a request holds, it is answered and never with a failure of the server's", async () => {
  const { admin } = await startControlPlane();
  await admin.put("/api/svc/v1/ml-repos", { manifest: repo });
  const cases = writes.flatMap((write) => places(write.body).map((place) => ({ ...write, place })));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...cases), odd, async ({ method, path, body, place }, value) => {
      const sent = replaced(body, place, value);
      const reply = await admin[method](path, sent);
      expect([200, 400, 404, 409, 422, 424], JSON.stringify({ path, sent })).toContain(reply.status);
    }),
    { numRuns: 600, endOnFailure: true },
  );
});
