import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import {
  type Hardware,
  hardwareGrowth,
  hardwareOfReplicas,
  hardwareOfVolume,
  hardwareOfWorkbench,
  hardwareSum,
  NO_HARDWARE,
} from "../../../src/core/hardware.ts";

const hardware = (fields: Partial<Hardware>): Hardware => ({ ...NO_HARDWARE, ...fields });
const requests = { cpu_request: 0.5, memory_request: 200, ephemeral_storage_request: 30 };
const limits = { cpu_limit: 9, memory_limit: 9000, ephemeral_storage_limit: 900 };

describe("a service reserves", () => {
  test.each<[string, JsonObject, Hardware]>([
    ["its requests, not its limits", { resources: { ...requests, ...limits } }, reserved(1)],
    ["them for each replica", { replicas: 3, resources: requests }, reserved(3)],
    ["nothing without replicas", { replicas: 0, resources: requests }, reserved(0)],
    ["its largest number", { replicas: { min_replicas: 1, max_replicas: 4 }, resources: requests }, reserved(4)],
    [
      "its smallest number where there is no other",
      { replicas: { min_replicas: 2 }, resources: requests },
      reserved(2),
    ],
    ["one replica where its number is no number", { replicas: "many", resources: requests }, reserved(1)],
    ["no resources where it names none", { replicas: 2 }, hardware({ replicas: 2 })],
    ["nothing for what is no number", { resources: { cpu_request: "1" } }, hardware({ replicas: 1 })],
  ])("%s", (_, manifest, expected) => {
    expect(hardwareOfReplicas(manifest)).toEqual(expected);
  });

  test.each<[string, Json, readonly (readonly [string, number])[]]>([
    ["by name", [{ type: "nvidia_gpu", name: "T4", count: 2 }], [["T4", 2]]],
    ["by type where they have no name", [{ type: "nvidia_gpu" }], [["nvidia_gpu", 1]]],
    ["together where they are the same", [{ name: "T4" }, { name: "T4", count: 3 }], [["T4", 4]]],
    [
      "by profile",
      [{ name: "A100", profile: "1g.5gb" }, { name: "A100" }],
      [
        ["A100 1g.5gb", 1],
        ["A100", 1],
      ],
    ],
    ["by memory", [{ name: "T4", gpu_memory: 4000 }], [["T4 4000 MB", 1]]],
    ["and nothing else", ["T4", null], []],
    ["and nothing that is no list", { name: "T4" }, []],
  ])("devices %s", (_, devices, expected) => {
    const found = hardwareOfReplicas({ replicas: 2, resources: { devices } });
    expect([...found.devices]).toEqual(expected.map(([name, count]) => [name, 2 * count]));
  });
});

test("a workbench reserves its home directory too, and a volume only where the platform makes it", () => {
  expect(hardwareOfWorkbench({ home_directory_size: 20, resources: requests })).toEqual({
    ...reserved(1),
    storage: 20_030,
  });
  expect(hardwareOfWorkbench({})).toEqual(hardware({ replicas: 1 }));
  expect(hardwareOfVolume({ config: { type: "dynamic", size: 5 } })).toEqual(hardware({ storage: 5000 }));
  for (const config of [{ type: "static", size: 5 }, { type: "dynamic" }, null])
    expect(hardwareOfVolume({ config })).toEqual(NO_HARDWARE);
});

test("several are summed, and compared with what was before", () => {
  const one = hardware({ replicas: 1, cpu: 2, memory: 30, storage: 400, devices: new Map([["T4", 1]]) });
  const other = hardware({
    replicas: 5,
    cpu: 1,
    memory: 10,
    storage: 900,
    devices: new Map([
      ["A100", 2],
      ["T4", 3],
    ]),
  });
  expect(hardwareSum([])).toEqual(NO_HARDWARE);
  expect(hardwareSum([one, other])).toEqual({
    ...{ replicas: 6, cpu: 3, memory: 40, storage: 1300 },
    devices: new Map([
      ["T4", 4],
      ["A100", 2],
    ]),
  });
  expect(hardwareGrowth(one, other)).toEqual({
    ...{ replicas: 4, cpu: -1, memory: -20, storage: 500 },
    devices: new Map([
      ["A100", 2],
      ["T4", 2],
    ]),
  });
});

/** What so many replicas reserve with the requests. */
function reserved(replicas: number): Hardware {
  return hardware({ replicas, cpu: 0.5 * replicas, memory: 200 * replicas, storage: 30 * replicas });
}
