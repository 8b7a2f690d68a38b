import { expect, test } from "vitest";
import { startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const APPS = "/api/svc/v1/apps";
const GROUPS = "/api/svc/v1/secret-groups";

/** An object of so many fields, each with the same value. */
const numbered = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`replica${n}`, value]));

test("S46 a refusal lists 100 details and counts the others, whatever is wrong", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  const wrongSecrets = Array.from({ length: 5000 }, () => ({ key: "a b", value: "v" }));
  const other = { ...service, type: "made-up", env: numbered(1000, {}), replicas: "many" };
  const replies = [
    [400, 4999, await admin.put(APPS, { manifest: service, ...numbered(5000, 1) })],
    [422, 4999, await admin.put(APPS, { manifest: { ...service, ...numbered(5000, 1) } })],
    [422, 1000, await admin.put(APPS, { manifest: other })],
    [422, 4999, await admin.post(GROUPS, { name: "g", integrationId: "builtin", secrets: wrongSecrets })],
    [
      422,
      4999,
      await admin.put(GROUPS, { manifest: { type: "secret-group", name: "g", secrets: Array(5000).fill(1) } }),
    ],
  ] as const;
  for (const [status, more, reply] of replies) {
    expect({ status: reply.status, details: reply.body.details.length }).toEqual({ status, details: 100 });
    expect(reply.body.message).toMatch(new RegExp(`\\(and ${more} more\\)$`));
    expect(reply.text.length).toBeLessThan(65_536);
  }
});

test("S46 what a caller names is repeated in part where it is long", async () => {
  const { admin } = await startControlPlane();
  const name = "x".repeat(4_000_000);
  const outside = await admin.put(APPS, { manifest: service, [name]: 1 });
  const inside = await admin.put(APPS, { manifest: { ...service, env: { [name]: 1 }, [`${name}y`]: 1 } });
  expect([outside.status, inside.status]).toEqual([400, 422]);
  for (const { text } of [outside, inside]) expect(text.length).toBeLessThan(20_000);
});

test("S46 many free fields do not hide a wrong one", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  const other = { ...service, type: "made-up", ...numbered(5000, 1), env: 7 };
  expect(await admin.put(APPS, { manifest: other })).toMatchObject({
    status: 422,
    body: { details: [{ pointer: "/env" }] },
  });
  const lenient = await startControlPlane({ unknownFields: "allow" });
  await plantWorkspace(lenient.admin);
  const wrong = { ...service, ...numbered(5000, 1), env: 7 };
  expect(await lenient.admin.put(APPS, { manifest: wrong })).toMatchObject({
    status: 422,
    body: { details: [{ pointer: "/env" }] },
  });
});

test("S46 a body of 800,000 unknown members is refused in few bytes", async () => {
  const { url, adminToken } = await startControlPlane();
  const members = Array.from({ length: 800_000 }, (_, n) => `"${n.toString(36)}":1`).join(",");
  const headers = { authorization: `Bearer ${adminToken.open()}`, "content-type": "application/json" };
  for (const body of [`{"manifest":{"type":"service"},${members}}`, `{"manifest":{"type":"service",${members}}}`]) {
    const reply = await fetch(url + APPS, { method: "PUT", headers, body });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { code: "bad-request", message: "the body has more than 50,000 values" },
    ]);
  }
});
