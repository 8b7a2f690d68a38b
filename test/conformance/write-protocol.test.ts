import { expect, test } from "vitest";
import { startControlPlane } from "../control-plane.ts";
import { seedOf } from "../soak/sweep.ts";
import { randomTrace } from "../support/model-checker.ts";
import { randomFrom } from "../support/random.ts";
import { type World, withLeases, writeProtocol } from "../support/write-protocol.ts";
import { plantWorkspace, service } from "./platform.ts";

const TRACES = 40;
const faults = { crashes: 2, losses: 2, expiries: 2 };
const scope = "c1x:ws1";

test("the control plane answers every lease and write of random traces of the model as the model does", async () => {
  const seed = seedOf();
  const random = randomFrom(seed);
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  const model = writeProtocol(withLeases, faults);
  for (let nth = 0; nth < TRACES; nth += 1) {
    const replayed = replay(plane, `app${nth}`);
    let before = model.initial;
    for (const step of randomTrace(model, random)) {
      const where = `seed ${seed}, trace ${nth}: ${step.name}`;
      await replayed.step(step.name, before, step.next, where);
      before = step.next;
    }
  }
});

/** Does to a control plane what the steps of a trace do to that of the model, and compares what becomes of it. */
function replay(
  { admin, url, adminToken }: Pick<Awaited<ReturnType<typeof startControlPlane>>, "admin" | "url" | "adminToken">,
  name: string,
) {
  // Fencing numbers go on from one trace to the next.
  const tokens = new Map<number, number>([[0, 0]]);
  const holders = { A: 0, B: 0 };

  const takeLease = async (writer: "A" | "B", { issued }: World, where: string): Promise<void> => {
    holders[writer] += 1;
    const holder = `${name}-${writer}-${holders[writer]}`;
    const path = `/api/svc/v1/leases/${encodeURIComponent(scope)}`;
    // One that has expired is not waited for here: its holder loses it as it would then.
    const { status, body } = await admin.put(path, { holder, ttlSeconds: 60, break: true });
    expect(status, where).toBe(200);
    expect(body.data.fencingToken, where).toBeGreaterThan(tokens.get(issued - 1) ?? 0);
    tokens.set(issued, body.data.fencingToken);
  };

  const write = async (before: World, after: World, where: string): Promise<void> => {
    const [packet] = before.packets.filter((one) => one.is === "write" && !after.packets.includes(one));
    if (packet?.is !== "write") throw new TypeError(`${where}: no write arrives`);
    const response = await fetch(`${url}/api/svc/v1/apps`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${adminToken.open()}`,
        "content-type": "application/json",
        "idempotency-key": `${name}-${packet.key}-key-of-the-model`,
        "x-fencing-token": String(tokens.get(packet.number)),
        "x-fencing-scope": scope,
      },
      // What another writer has written is other content here, so that each write that is made is a version.
      body: JSON.stringify({ manifest: { ...service, name, env: { KEY: packet.key } }, forceDeploy: true }),
    });
    const isMade = after.made.includes(packet.key);
    expect([response.status, await response.json()], where).toEqual([isMade ? 200 : 412, expect.anything()]);
  };

  return {
    step: async (step: string, before: World, after: World, where: string): Promise<void> => {
      const writer = step.startsWith("A ") ? "A" : "B";
      if (step.endsWith("takes the lease")) await takeLease(writer, after, where);
      if (step.startsWith("the write of") && step.endsWith("arrives")) await write(before, after, where);
      if (after.versions === before.versions && !step.endsWith("reads live")) return;
      const { body } = await admin.get(`/api/svc/v1/apps?fqn=${encodeURIComponent(`${scope}:${name}`)}`);
      expect(body.data[0]?.lastVersion ?? 0, where).toBe(after.versions);
    },
  };
}
