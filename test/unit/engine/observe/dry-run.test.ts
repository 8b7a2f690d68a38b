import { describe, expect, test } from "vitest";
import { ServerCapabilities } from "../../../../src/client/server-capabilities.ts";
import { systemClock } from "../../../../src/clock/system.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { noFacts, type ServerFactChanges } from "../../../../src/core/server-facts.ts";
import { createDryRun } from "../../../../src/engine/observe/dry-run.ts";
import { type LiveQuery, readLive } from "../../../../src/engine/observe/read-live.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { calm, dial, json, page, type Seen, serve } from "../../client/server.ts";
import { declare, service } from "../../core/given.ts";

const manifest = declare(service());
const signal = calm.signal;

function kind(type: string) {
  const found = kindOf(type);
  if (found === undefined) throw new TypeError(`no kind ${type}`);
  return found;
}

/** A dry run of a service by a control plane that answers as given, and then shows the newest deployment as given. */
async function tried(reply: JsonObject, newest: JsonObject | null, status = 200) {
  const { url, seen } = await serve((response, request) => {
    if (request.method === "PUT")
      return json(response, status === 200 ? { data: { manifest: service(), ...reply } } : reply, { status });
    return json(response, page(newest === null ? [] : [{ manifest: service(), ...newest }], request));
  });
  const remembered: unknown[] = [];
  const store = {
    storeFacts: async ({ dryRun }: ServerFactChanges) => void remembered.push(dryRun),
    storeFactsWithNext: () => undefined,
  };
  const capabilities = new ServerCapabilities(noFacts, { clock: systemClock, store });
  const { reader } = dial(url);
  const answer = await createDryRun({ reader, capabilities }, 4)(kind("service"), manifest, {
    signal,
  }).catch((error: Error) => error.message);
  return { proof: capabilities.dryRun, remembered, answer, seen };
}

describe("the proof that a dryRun changes nothing", () => {
  test.each<[string, JsonObject, JsonObject | null, string]>([
    ["is only indicated by a new application without an id", { applicationId: null, version: 1 }, null, "indicated"],
    [
      "is given where the newest version is still the one before",
      { id: null, applicationId: "a", version: 4 },
      { id: "d3", version: 3 },
      "proven",
    ],
    [
      "is given where the id it tells is no deployment's",
      { id: "made-up", applicationId: "a", version: 4 },
      { id: "d4", version: 4 },
      "proven",
    ],
    [
      "is refuted by a deployment with the id it told",
      { id: "d4", applicationId: "a", version: 4 },
      { id: "d4", version: 4 },
      "ignored",
    ],
    [
      "is refuted by the version it would become, made of what was sent",
      { id: null, applicationId: "a", version: 4 },
      { id: "d4", version: 4 },
      "ignored",
    ],
    [
      "stays open where somebody else made that version",
      { id: null, applicationId: "a", version: 4 },
      { id: "d4", version: 4, manifest: service({ image: { type: "image", image_uri: "theirs" } }) },
      "unproven",
    ],
  ])("%s", async (_, reply, newest, proof) => {
    expect((await tried(reply, newest)).proof).toBe(proof);
  });

  test.each([
    ["given", { id: null, applicationId: "a", version: 4 }, { id: "d3", version: 3 }, "proven"],
    ["refuted", { id: "d4", applicationId: "a", version: 4 }, { id: "d4", version: 4 }, "ignored"],
  ] as const)("F76 is remembered as soon as it is %s", async (_, reply, newest, proof) => {
    expect((await tried(reply, newest)).remembered).toEqual([proof]);
  });

  test("that fails ends the pass and says why", async () => {
    const { answer } = await tried({ id: "d4", applicationId: "a", version: 4 }, { id: "d4", version: 4 });
    expect(answer).toMatch(/ignores dryRun/);
  });

  test("is asked for one dry run at a time, and then for many", async () => {
    let most = 0;
    let running = 0;
    const waiting: (() => void)[] = [];
    const { url } = await serve((response, request) => {
      if (request.method !== "PUT")
        return json(response, page([{ id: "d0", version: 0, manifest: service() }], request));
      running += 1;
      most = Math.max(most, running);
      const answer = () => {
        running -= 1;
        json(response, {
          data: { id: null, applicationId: "a", version: 1, manifest: JSON.parse(request.body).manifest },
        });
      };
      // From the second on they are answered together, so that they meet where they may.
      if (most === 1 && waiting.length === 0 && running === 1) return setImmediate(answer);
      waiting.push(answer);
      if (running >= 3) for (const one of waiting.splice(0)) one();
    });
    const capabilities = new ServerCapabilities(noFacts, { clock: systemClock });
    const dryRun = createDryRun({ reader: dial(url).reader, capabilities }, 3);
    await dryRun(kind("service"), manifest, { signal });
    expect([most, capabilities.dryRun]).toEqual([1, "proven"]);
    running = 0;
    most = 1;
    waiting.push(() => undefined);
    await Promise.all(["a", "b", "c"].map((name) => dryRun(kind("service"), declare(service({ name })), { signal })));
    expect(most).toBe(3);
  });

  test.each([
    [403, "forbidden"],
    [422, "refused"],
    [409, "refused"],
  ])("is not touched by an answer %i, which is %s", async (status, state) => {
    const { answer, proof } = await tried({ statusCode: status, message: "no" }, null, status);
    expect([answer, proof]).toMatchObject([{ state }, "unproven"]);
  });
});

describe("observing", () => {
  async function observed(answer: (request: Seen) => unknown, asked: Partial<LiveQuery> = {}) {
    const { url, seen } = await serve((response, request) => {
      const found = answer(request);
      return found === undefined
        ? json(response, { statusCode: 404, message: "gone", code: "not-found" }, { status: 404 })
        : json(response, found);
    });
    const capabilities = new ServerCapabilities(noFacts, { clock: systemClock });
    const { reader } = dial(url, { capabilities });
    const dryRun = createDryRun({ reader, capabilities }, 2);
    const declared = [{ manifest, wave: 0 }];
    const whole: LiveQuery = {
      kind: kind("service"),
      declared,
      others: [],
      isRecorded: () => false,
      isKnown: () => true,
      idOf: () => null,
      readsEach: false,
      ...asked,
    };
    return {
      seen,
      ...(await readLive([whole], { reader, capabilities, known: null, dryRun, concurrency: 2, signal })),
    };
  }
  /** Only recorded, under an id or none. */
  const recorded = (id: string | null) => ({ declared: [], others: [manifest.identity], idOf: () => id });
  const app = { id: "a", type: "service", name: "api", workspaceFqn: "c1:ws1" };

  test("takes the newest deployment of a list, and absence from it for absence", async () => {
    const deployment = { id: "d", applicationId: "a", version: 3, manifest: service(), currentStatus: null };
    const other = "service/c1:ws1/other";
    const shown = (request: Seen) => page([{ ...app, deployment }], request);
    const { live, complete } = await observed(shown, { others: [other] });
    expect(live.get(manifest.identity)).toMatchObject({ state: "present", row: { id: "a", version: 3, stamp: "d" } });
    expect(live.get(other)).toEqual({ state: "absent" });
    expect(complete).toBe(true);
  });

  test("reads one by one where the list does not carry what a row needs, and takes nothing for absent", async () => {
    const { live } = await observed(
      (request) =>
        request.path.endsWith("/deployments")
          ? page([{ id: "d", applicationId: "a", version: 3, manifest: service() }], request)
          : page([app], request),
      { idOf: () => "a" },
    );
    expect(live.get(manifest.identity)).toMatchObject({ state: "present", row: { id: "a", version: 3 } });
  });

  test("takes an application that left live for absent where it is only recorded, and for unknown where it never was", async () => {
    const missing = (request: Seen) => (request.path.endsWith("/apps") ? page([app], request) : undefined);
    const identity = "service/c1:ws1/api";
    expect((await observed(missing, recorded("gone"))).live.get(identity)).toEqual({
      state: "absent",
    });
    expect((await observed(missing, recorded(null))).live.get(identity)).toMatchObject({
      state: "unknown",
      reason: "no-read",
    });
  });

  test("narrows nothing to a deployment that is another application's", async () => {
    const { live } = await observed(
      (request) =>
        request.path.endsWith("/deployments")
          ? page([{ id: "d", applicationId: "a", version: 3, manifest: service({ name: "other" }) }], request)
          : page([app], request),
      recorded("a"),
    );
    expect(live.get(manifest.identity)).toEqual({ state: "absent" });
  });
});
