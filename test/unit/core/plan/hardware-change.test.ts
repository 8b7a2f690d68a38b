import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { Live } from "../../../../src/core/live.ts";
import { hardwareChange } from "../../../../src/core/plan/hardware-change.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { sampleStep } from "../../../support/sample-plan.ts";
import { present } from "../given.ts";

const gpu = (name: string, count: number) => ({ type: "nvidia_gpu", name, count });
const resources = (cpu_request: number, ...devices: readonly JsonObject[]) => ({
  ...{ cpu_request, cpu_limit: 8, memory_request: 500, memory_limit: 900, ephemeral_storage_request: 10 },
  devices,
});
const service = (replicas: unknown, reserved: JsonObject | null = null): JsonObject =>
  ({ type: "service", name: "api", replicas, resources: reserved }) as JsonObject;

/** The change by writes of these manifests, each with what is live of it. */
function changed(...pairs: readonly (readonly [identity: string, before: JsonObject | null, after: JsonObject])[]) {
  const kindOf = (identity: string) => identity.slice(0, identity.indexOf("/"));
  const steps = pairs.map(([identity, before]) =>
    sampleStep(identity, { action: before === null ? "create" : "update" }),
  );
  const live = new Map(
    pairs.flatMap(([one, before]): [string, Live][] => (before === null ? [] : [[one, present(before)]])),
  );
  const manifests = pairs.map(([identity, , value]) => ({
    ...{ identity, kind: kindOf(identity), value, file: "a.yaml", line: 1 },
  }));
  return hardwareChange({ steps }, { manifests: manifests as never, live, kinds: kindsByType });
}

const nothing = { replicas: 0, cpu: 0, memory: 0, storage: 0, devices: [] };

test("replicas times requests and devices are counted, at the largest number of replicas", () => {
  const change = changed(
    ["service/dev:ml/llm", null, service({ min_replicas: 1, max_replicas: 2 }, resources(0.1, gpu("A100_80GB", 2)))],
    ["service/dev:ml/old", service(3, resources(0.1, gpu("T4", 1))), service(1, resources(0.1, gpu("T4", 1)))],
    ["service/dev:web/api", service(2), service(5)],
  );
  expect(change?.workspaces).toEqual([
    {
      workspace: "dev:ml",
      difference: {
        ...nothing,
        devices: [
          { name: "A100_80GB", count: 4 },
          { name: "T4", count: -2 },
        ],
      },
    },
    { workspace: "dev:web", difference: { ...nothing, replicas: 3 } },
  ]);
  expect(change?.total).toEqual({ ...change?.workspaces[0]?.difference, replicas: 3 });
});

test("sums of fractions have no rounding errors, and what does not change is not there", () => {
  const three = [0, 1, 2].map((nth) => [`service/dev:web/a${nth}`, null, service(1, resources(0.1))] as const);
  expect(changed(...three)?.total).toEqual({ replicas: 3, cpu: 0.3, memory: 1500, storage: 30, devices: [] });
  expect(changed(["service/dev:web/api", service(2), { ...service(2), env: { A: "1" } }])).toBeNull();
});

test("volumes and home directories are storage, parts of a GPU are not the GPU, and runs of a job are nothing", () => {
  const volume = { type: "volume", name: "data", config: { type: "dynamic", size: 20 } };
  const part = { type: "nvidia_mig_gpu", name: "A100", profile: "1g.5gb" };
  const notebook = { type: "notebook", name: "nb", home_directory_size: 5, resources: { devices: [part] } };
  const image = { type: "image", image_uri: "train:1" };
  const job = { type: "job", name: "train", image, trigger: { type: "manual" }, resources: resources(4, gpu("T4", 1)) };
  const set = { type: "application-set", name: "all", components: [{ ...service(2, resources(1)), image }, job] };
  expect(changed(["volume/dev:web/data", null, volume])?.total).toEqual({ ...nothing, storage: 20_000 });
  expect(changed(["notebook/dev:web/nb", null, notebook])?.total).toEqual({
    ...{ ...nothing, replicas: 1, storage: 5000 },
    devices: [{ name: "A100 1g.5gb", count: 1 }],
  });
  expect(changed(["job/dev:web/train", null, job])).toBeNull();
  expect(changed(["application-set/dev:web/all", null, set])?.total).toMatchObject({ replicas: 2, cpu: 2 });
});

test("an update of what live is not known of is not counted", () => {
  const steps = [sampleStep("service/dev:web/api", { action: "ensure" })];
  const manifests = [{ identity: "service/dev:web/api", kind: "service", value: service(2), file: "a", line: 1 }];
  const live = new Map<string, Live>([["service/dev:web/api", { state: "unknown", reason: "no-read" }]]);
  expect(hardwareChange({ steps }, { manifests: manifests as never, live, kinds: kindsByType })).toBeNull();
});
