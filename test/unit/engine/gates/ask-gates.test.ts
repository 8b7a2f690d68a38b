import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { askUrl } from "../../../../src/engine/gates/ask-url.ts";
import { askGates } from "../../../soak/ask-gates.ts";
import { seedOf } from "../../../soak/sweep.ts";
import { startReceiver } from "../../../support/http-receiver.ts";

// Whoever sees it fail repeats it with SEED=…; `npm run soak` has twenty thousand rounds.
const seed = seedOf();

test(`no content passes a gate without its answer, in 300 rounds of seed ${seed}`, async () => {
  const seen = await askGates(seed, 300);
  expect(seen.size).toBeGreaterThan(5);
});

test("the request that the documentation shows is signed as it says", async () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../../docs/environments.md"), "utf8");
  const [, key = "", body = "", signature = ""] =
    /key: {7}(.*)\nbody: {6}(.*)\nsignature: (sha256=[0-9a-f]{64})\n/.exec(page) ?? [];
  const { identity, digest, at } = JSON.parse(body);
  const { url, received } = await startReceiver();
  const gate = { is: "url", url, secretFile: "/key", match: null, place: null } as const;
  await askUrl(
    gate,
    { identity, content: digest },
    {
      clock: { ...systemClock, now: () => Date.parse(at) },
      readSecret: () => new Secret(key),
      signal: new AbortController().signal,
    },
  );
  const [request] = received;
  expect(request?.body).toBe(body);
  expect(request?.headers["x-hub-signature-256"]).toBe(signature);
});
