import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { type ContentGate, closedGates, type GateReceipt } from "../../src/core/gates/content-gate.ts";
import { requireKind } from "../../src/core/kind.ts";
import { gateAskerOf } from "../../src/engine/gates/ask-gates.ts";
import { kindsByType } from "../../src/kinds/index.ts";
import { startReceiver } from "../support/http-receiver.ts";
import { randomFrom } from "../support/random.ts";

const KEY = "the key of the service";
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };
const answer = (pass: boolean) => JSON.stringify({ pass, summary: pass ? "12 of 12" : "3 of 12" });
const send = (response: ServerResponse, body: string) => response.writeHead(200, JSON_TYPE).end(body);

/** What a service may do instead of letting a content pass. */
const refusals: { readonly [name: string]: (response: ServerResponse, expire: () => void) => void } = {
  fails: (response) => send(response, answer(false)),
  redirects: (response) => response.writeHead(307, { ...JSON_TYPE, location: "/pass" }).end(answer(true)),
  "has no content": (response) => response.writeHead(204).end(),
  "has failed": (response) => response.writeHead(500, JSON_TYPE).end(answer(true)),
  "sends a page": (response) => response.writeHead(200, { "content-type": "text/html" }).end(answer(true)),
  "has a pass that is a text": (response) => send(response, '{"pass":"true","summary":"12 of 12"}'),
  "has no summary": (response) => send(response, '{"pass":true}'),
  "has another field": (response) => send(response, '{"pass":true,"summary":"12 of 12","passes":false}'),
  "has a score that is a text": (response) => send(response, '{"pass":true,"summary":"12 of 12","score":"1"}'),
  "sends a list": (response) => send(response, `[${answer(true)}]`),
  "stops in the middle": (response) => send(response, answer(true).slice(0, -1)),
  "sends two answers": (response) => send(response, answer(true) + answer(false)),
  "sends nothing": (response) => send(response, ""),
  "sends too much": (response) => send(response, answer(true) + " ".repeat(70_000)),
  "closes the connection": (response) => response.destroy(),
  "closes the connection in its answer": (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": "1000" }).write(answer(true), () => response.destroy());
  },
  "never answers": (_, expire) => expire(),
  "never ends its answer": (response, expire) => {
    response.writeHead(200, JSON_TYPE).write(answer(true), expire);
  },
};

/**
 * Asks a gate again and again about contents that change, of a service that answers or does something else, with the key or
 * another one. Only a content that the service has let pass in that very round may be open. Returns how often each happened.
 */
export async function askGates(seed: number, rounds: number): Promise<ReadonlyMap<string, number>> {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  let current = "passes";
  let expire = (): void => undefined;
  let asked = 0;
  const { url, received } = await startReceiver((response) => {
    const { headers, body, path } = received.at(-1) ?? { headers: {}, body: "", path: "" };
    asked += path === "/judge" ? 1 : 1000;
    const signature = `sha256=${createHmac("sha256", KEY).update(body).digest("hex")}`;
    if (headers["x-hub-signature-256"] !== signature) return void response.writeHead(401, JSON_TYPE).end(answer(true));
    if (current === "passes") return void send(response, answer(true));
    refusals[current]?.(response, expire);
  });
  const kept: GateReceipt[] = [];
  const seen = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const key = random() < 0.1 ? pick(["another key", ""]) : KEY;
    current = random() < 0.4 ? "passes" : pick(Object.keys(refusals));
    const gate: ContentGate = {
      is: "url",
      url: `${url}/judge`,
      secretFile: pick(["/a", "/b"]),
      match: null,
      place: null,
    };
    const type = pick(["chat_prompt", "model-version"]);
    const timeout = new AbortController();
    expire = () => timeout.abort();
    const asker = await gateAskerOf(
      {
        gates: [gate],
        registryOf: () => Promise.reject(new TypeError("no registry is needed")),
        readSecret: () => new Secret(key),
        keep: async (receipts) => void kept.push(...receipts),
      },
      {
        session: { reader: {} as never, heads: async () => new Map() },
        clock: { ...systemClock, timeout: () => timeout.signal },
        keeps: true,
      },
    );
    const manifest = { type, name: "one", ml_repo: "registry", messages: [pick(["Be kind.", "Be brief."])] };
    const subject = { kind: requireKind(kindsByType, type), identity: `${type}/registry/one`, manifest };
    const before = asked;
    const signal = new AbortController().signal;
    const [first] = (await asker?.([subject], { signal })) ?? [];
    if (first === undefined) throw new TypeError("the gate was not asked");
    const isOpen = closedGates(first.gated, first.receipts).length === 0;
    const what = key === KEY ? current : "another key";
    const where = `round ${round} of seed ${seed}: the service ${what}`;
    expect(isOpen, where).toBe(what === "passes");
    // Without a key nothing is sent; what was answered is not asked again in the same pass, and a redirect is not followed.
    await asker?.([subject], { signal });
    expect(asked - before, where).toBe(key === "" ? 0 : 1);
    expect(kept.at(-1), where).toMatchObject({ verdict: isOpen ? "pass" : what === "fails" ? "fail" : "unanswered" });
    // The last receipt of the same content and gate decides, and those of others do not count.
    expect(closedGates(first.gated, kept).length === 0, where).toBe(isOpen);
    const other = { ...first.gated, content: `${first.gated.content}0` };
    expect(closedGates(other, kept), where).toHaveLength(1);
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
  return seen;
}
