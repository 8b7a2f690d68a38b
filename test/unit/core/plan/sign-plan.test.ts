import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { Live } from "../../../../src/core/live.ts";
import { bucketOf, keptDigests, planDigest, type Signable, signPlan } from "../../../../src/core/plan/sign-plan.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { samplePlan, sampleStep } from "../../../support/sample-plan.ts";
import { declare, present, service } from "../given.ts";

const signer = { key: "key-1", keyed: (text: string) => `keyed ${text}`, configuration: "config-1" };
const manifests = [
  declare(service({ env: { DB_PASSWORD: "canary" } })),
  declare(service({ name: "web" })),
  declare(service({ name: "new" })),
];
const [api, web, added] = ["service/c1:ws1/api", "service/c1:ws1/web", "service/c1:ws1/new"] as const;

/** What a signature covers of a plan with these steps. */
function signable(
  steps: Signable["steps"],
  documents: readonly (readonly [string, string | undefined])[] = [],
): Signable {
  const live = new Map<string, Live>([
    [api, present(service())],
    [added, { state: "absent" }],
  ]);
  return {
    ...{ steps, kinds: kindsByType, documents: () => documents, liveOf: (identity) => live.get(identity) },
    manifestOf: (identity) => manifests.find((one) => one.identity === identity),
  };
}

describe("a signature", () => {
  const steps = [
    sampleStep(api),
    sampleStep(web, { action: "keep" }),
    sampleStep(added, { action: "create" }),
    sampleStep("team/gone", { action: "orphan" }),
  ];
  const shown = JSON.parse(JSON.stringify(samplePlan(steps))) as JsonObject;

  test("has the digests of what the steps that act are made from, with secrets keyed alone", () => {
    const { source, secrets, live, kept, ...rest } = signPlan(shown, signable(steps, [[web, "web"]]), signer);
    expect(Object.keys(source)).toEqual([api, added]);
    expect(new Set(Object.values(source)).size).toBe(2);
    expect(secrets).toEqual({ [api]: expect.stringMatching(/^keyed service\/c1:ws1\/api .*canary/) });
    expect(live).toEqual({ [api]: "stamp-1", [added]: "absent", "team/gone": null });
    expect(kept?.filter((digest) => digest !== "")).toEqual([`keyed ${web} web`]);
    const inputs = { key: "key-1", configuration: "config-1", source, secrets, live, kept };
    const content = planDigest({ ...shown, seal: inputs as unknown as JsonObject });
    expect(rest).toEqual({ key: "key-1", configuration: "config-1", content, signature: `keyed ${content}` });
  });

  test("has the same digest of a manifest whatever its secrets, and another one for what they are in", () => {
    const digest = (value: JsonObject) => {
      const of: Signable = { ...signable(steps), manifestOf: (one) => (one === api ? declare(value) : undefined) };
      return signPlan(shown, of, signer).source[api];
    };
    const withSecret = (value: string) => digest(service({ env: { DB_PASSWORD: value } }));
    expect(withSecret("canary")).toBe(withSecret("other"));
    expect(withSecret("canary")).not.toBe(digest(service({ env: { API_PASSWORD: "canary" } })));
  });
});

describe("the digests of documents without a step", () => {
  const digestsOf = (...documents: readonly (readonly [string, string | undefined])[]) =>
    keptDigests(signable([], documents), (identity) => identity === api, signer);

  test("are 64, whatever the order of the documents", () => {
    const documents = [
      ["team/a", "1"],
      ["team/b", "2"],
      [web, undefined],
    ] as const;
    const digests = digestsOf(...documents);
    expect(digests).toHaveLength(64);
    expect(digestsOf(...documents.toReversed())).toEqual(digests);
    expect(digests.filter((digest) => digest !== "").toSorted()).toEqual([
      `keyed ${web} `,
      "keyed team/a 1",
      "keyed team/b 2",
    ]);
  });

  test("join the documents of one bucket, and leave out those with a step", () => {
    const alike = ["Aa", "BB"].map((end) => `team/${end}`);
    expect(new Set(alike.map(bucketOf)).size).toBe(1);
    const documents = alike.map((identity) => [identity, "1"] as const);
    const joined = ["keyed team/Aa 1\nteam/BB 1"];
    expect(digestsOf(...documents, [api, "1"]).filter((digest) => digest !== "")).toEqual(joined);
    expect(digestsOf(...documents.toReversed()).filter((digest) => digest !== "")).toEqual(joined);
  });

  test("are in the same buckets as in plans that were signed before", () => {
    expect(["", "a", "ab", "team/ml", "service/c1:ws1/api"].map(bucketOf)).toEqual([0, 33, 33, 17, 46]);
  });
});

describe("the digest of a plan", () => {
  const seal = { key: "k", content: "c", signature: "s" };
  const file = JSON.parse(JSON.stringify({ ...samplePlan([sampleStep("team/ml")]), seal })) as JsonObject;
  const digest = planDigest(file);

  test.each([
    ...["format_version", "revision", "server", "complete", "summary", "diagnostics"],
    ...["policies", "allows", "approvals", "checksum", "steps"],
  ])("covers %s", (name) => {
    expect(planDigest({ ...file, [name]: ["edited"] })).not.toBe(digest);
  });

  test("covers what it was made from, and not the digest and the signature themselves", () => {
    expect(planDigest({ ...file, seal: { ...seal, key: "other" } })).not.toBe(digest);
    expect(planDigest({ ...file, seal: { key: "k", content: "x", signature: "y" } })).toBe(digest);
    expect(planDigest({ ...file, seal: null })).toBe(planDigest({ ...file, seal: {} }));
  });

  test("covers every step but those that keep", () => {
    const [step] = file.steps as readonly JsonObject[];
    const digestWith = (...more: readonly (JsonObject | null)[]) =>
      planDigest({ ...file, steps: [step ?? null, ...more] });
    expect(digestWith({ action: "keep" })).toBe(digest);
    expect(digestWith({ action: "orphan" })).not.toBe(digest);
    expect(digestWith(null)).not.toBe(digest);
    expect(planDigest({ ...file, steps: {} })).toBe(planDigest({ ...file, steps: null }));
    expect(planDigest({ ...file, steps: [] })).not.toBe(planDigest({ ...file, steps: null }));
  });

  test("covers no other member", () => {
    expect(planDigest({ ...file, approvedBy: "ann" })).toBe(digest);
  });
});
