import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { checkSemantics } from "../../../src/schema/check-semantics.ts";
import type { RuleContext } from "../../../src/schema/rule.ts";
import { manifest } from "./valid.ts";

const now = new Date("2026-11-21T12:00:00Z");
const meaning = (type: string, fields: JsonObject, context: RuleContext = {}) =>
  checkSemantics(type, manifest(type, fields), context).map(
    ({ severity, code, pointer }) => `${severity} ${code} ${pointer}`,
  );

describe("a service", () => {
  it("requests no more than its limits", () => {
    expect(meaning("service", { resources: { cpu_request: 1, cpu_limit: 1, memory_request: 50 } })).toEqual([]);
    const resources = {
      ...{ cpu_request: 2, cpu_limit: 1, memory_request: 200, memory_limit: 100 },
      ...{ ephemeral_storage_request: 2, ephemeral_storage_limit: 1 },
    };
    expect(meaning("service", { resources })).toEqual([
      "error inconsistent /resources/cpu_request",
      "error inconsistent /resources/memory_request",
      "error inconsistent /resources/ephemeral_storage_request",
    ]);
  });

  it("is warned of sizes that are in another unit", () => {
    const sizes = (resources: JsonObject) => meaning("service", { resources });
    expect(sizes({ cpu_request: 0.5, cpu_limit: 96, memory_request: 32, memory_limit: 2_000_000 })).toEqual([]);
    expect(sizes({ cpu_limit: 500, memory_limit: 2 })).toEqual([
      "warning inconsistent /resources/cpu_limit",
      "warning inconsistent /resources/memory_limit",
    ]);
    expect(sizes({ memory_limit: 2_147_483_648 })).toEqual(["warning inconsistent /resources/memory_limit"]);
    expect(sizes({ shared_memory_size: 2e9, ephemeral_storage_limit: 4e7 })).toHaveLength(2);
  });

  it("is judged by the resources of both parts of a Spark job", () => {
    const parts = {
      driver_config: { resources: { cpu_request: 500, cpu_limit: 500 } },
      executor_config: { resources: { memory_request: 2000, memory_limit: 1000 } },
    };
    expect(meaning("spark-job", parts)).toEqual([
      "error inconsistent /executor_config/resources/memory_request",
      "warning inconsistent /driver_config/resources/cpu_request",
      "warning inconsistent /driver_config/resources/cpu_limit",
    ]);
  });

  it("and a job run by schedules that a cron knows", () => {
    const trigger = (schedule: string) => meaning("job", { trigger: { type: "scheduled", schedule } });
    for (const schedule of [
      "0 3 * * *",
      "*/5 0-6,22 1 JAN MON-FRI",
      "@daily",
      "@every 1h30m",
      "0 0 29 2 *",
      "0 0 31 2 sun",
      "0/5 * * * *",
      "10-50/20 3/6 ? JUN/2 Sun-sat",
      "*/61 03 * * 0,6",
      "1,,+5 *-3/2 * * *",
    ]) {
      expect(trigger(schedule), schedule).toEqual([]);
    }
    for (const schedule of [
      "daily",
      "0 3 * *",
      "0 0 3 * * *",
      "61 * * * *",
      "0 24 * * *",
      "0 3 32 * *",
      "0 3 * 13 *",
      "0 3 * * 7",
      "0 0 31 2 *",
      "0 0 31 2 */1",
      "0 3 0 * *",
      "0 3 * SUN *",
      "60/5 * * * *",
      "1/2/3 * * * *",
      "1-2-3 * * * *",
      "-5 * * * *",
      "/5 * * * *",
      "1.5 * * * *",
      ", * * * *",
      "@every -1h",
      "0 3 * * FRI-MON",
      "0 3 * * 5#2",
      "",
      "5-1 * * * *",
      "*/0 * * * *",
      "0 3 L * *",
      "@every 5",
      "@every day",
      "@Daily",
      "TZ=UTC 0 3 * * *",
      "CRON_TZ=UTC 0 3 * * *",
      "a b c d e",
    ]) {
      expect(trigger(schedule), schedule).toEqual(["error invalid-form /trigger/schedule"]);
    }
    const metrics = { type: "cron", start: "0 8 * * 1-5", end: "0 25 * * *", desired_replicas: 2 };
    expect(meaning("service", { replicas: { min_replicas: 1, max_replicas: 2, metrics: [metrics] } })).toEqual([
      "error invalid-form /replicas/metrics/0/end",
    ]);
  });

  it("scales between bounds that are in order", () => {
    expect(meaning("service", { replicas: { min_replicas: 2, max_replicas: 2 } })).toEqual([]);
    expect(meaning("service", { replicas: { min_replicas: 3, max_replicas: 2 } })).toEqual([
      "error inconsistent /replicas/min_replicas",
    ]);
  });

  it("names each port and each mount path once", () => {
    expect(meaning("service", { ports: [{ port: 53, protocol: "UDP" }, { port: 53 }, { port: 80 }] })).toEqual([]);
    expect(meaning("service", { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] })).toEqual([
      "error duplicate-item /ports/1/port",
    ]);
    const mount = (mount_path: string) => ({ type: "string", mount_path, data: "x" });
    expect(meaning("service", { mounts: [mount("/a"), mount("/b"), mount("/a/")] })).toEqual([
      "error duplicate-item /mounts/2/mount_path",
    ]);
  });

  it("is warned of a name that the platform does not document", () => {
    expect(meaning("service", { name: "a".repeat(25) })).toEqual([]);
    expect(meaning("service", { name: "a".repeat(26) })).toEqual(["warning out-of-range /name"]);
  });

  it("leaves a rollout a way to go", () => {
    const strategy = { type: "rolling_update", max_unavailable_percentage: 0, max_surge_percentage: 0 };
    expect(meaning("service", { rollout_strategy: strategy })).toEqual([
      "error inconsistent /rollout_strategy/max_surge_percentage",
    ]);
    expect(meaning("service", { rollout_strategy: { ...strategy, max_surge_percentage: 1 } })).toEqual([]);
  });
});

describe("the host of an exposed port", () => {
  const host = (name: Json, base_domains: Json, expose = true) =>
    meaning("service", { ports: [{ port: 80, expose, host: name }] }, { cluster: { type: "cluster", base_domains } });

  it.each<[string, string, boolean]>([
    ["api.ml.example.com", "*.ml.example.com", true],
    ["a.b.ml.example.com", "*.ml.example.com", true],
    ["API.ML.example.COM", "*.ml.Example.com", true],
    ["ml.example.com", "*.ml.example.com", false],
    ["ml.example.com", "ml.example.com", true],
    ["api.ml.example.com", "ml.example.com", true],
    ["evilml.example.com", "ml.example.com", false],
    ["evilml.example.com", "*.ml.example.com", false],
    ["example.com", "ml.example.com", false],
  ])("%s under %s: %s", (name, domain, under) => {
    expect(host(name, [domain])).toEqual(under ? [] : ["error inconsistent /ports/0/host"]);
  });

  it("lies under any one of several base domains", () => {
    expect(host("a.y.example", ["x.example", "y.example"])).toEqual([]);
  });

  it("is there when the cluster has base domains", () => {
    expect(host(null, ["x.example"])).toEqual(["error missing-field /ports/0/host"]);
  });

  it("is not checked without base domains, without a cluster, or when the port is not exposed", () => {
    expect(host("a.example", [])).toEqual([]);
    expect(host("a.example", null)).toEqual([]);
    expect(host("a.example", ["x.example"], false)).toEqual([]);
    expect(meaning("service", { ports: [{ port: 80, expose: true, host: "a.example" }] })).toEqual([]);
  });
});

describe("a virtual account", () => {
  const expires = (expiration_date: string) => meaning("virtual-account", { expiration_date }, { now });

  it("B25 expires on a day that exists, with a warning when it is over", () => {
    expect(expires("2026-11-21")).toEqual([]);
    expect(expires("2028-02-29")).toEqual([]);
    expect(expires("2026-11-20")).toEqual(["warning past-date /expiration_date"]);
    for (const day of ["2026-02-30", "2027-02-29", "2026-13-01", "2026-00-10", "2026-01-00"]) {
      expect(expires(day)).toEqual(["error impossible-date /expiration_date"]);
    }
    expect(meaning("virtual-account", { expiration_date: "1999-01-01" })).toEqual([]);
  });

  it("rotates before its former tokens are due to rotate again", () => {
    const rotate = (grace_period: number) =>
      meaning("virtual-account", { auto_rotate: { auto_rotate_interval: 30, grace_period } });
    expect(rotate(29)).toEqual([]);
    expect(rotate(30)).toEqual(["warning inconsistent /auto_rotate/grace_period"]);
  });

  it("keeps its token in the built-in store under group/key", () => {
    const store = (config: JsonObject) => meaning("virtual-account", { secret_store_config: config });
    expect(store({ integration_fqn: "builtin", secret_path: "platform/ci-token" })).toEqual([]);
    expect(store({ integration_fqn: "vault", secret_path: "a/b/c" })).toEqual([]);
    const pointer = "/secret_store_config/secret_path";
    expect(store({ integration_fqn: "builtin" })).toEqual([`error missing-field ${pointer}`]);
    for (const secret_path of ["token", "a/b/c", "/a", "a/", "a/b c"]) {
      expect(store({ integration_fqn: "builtin", secret_path })).toEqual([`error invalid-form ${pointer}`]);
    }
  });
});

describe("a chat prompt", () => {
  const routing = (weights: readonly number[], type = "weight-based-routing") =>
    meaning("chat_prompt", {
      routing_config: { type, load_balance_targets: weights.map((weight) => ({ target: "x", weight })) },
    });

  it("has weights that sum to 1 or to 100, or a warning", () => {
    for (const weights of [[1], [100], [0.1, 0.2, 0.7], [33, 33, 34], []]) expect(routing(weights)).toEqual([]);
    const warned = ["warning inconsistent /routing_config/load_balance_targets"];
    for (const weights of [[2], [0], [50, 49], [0.5, 0.4]]) expect(routing(weights)).toEqual(warned);
    expect(routing([5], "latency-based-routing")).toEqual([]);
  });

  it("names each tool once", () => {
    const tool = (name: string) => ({ type: "function", function: { name } });
    expect(meaning("chat_prompt", { tools: [tool("a"), tool("b"), { type: "other" }] })).toEqual([]);
    expect(meaning("chat_prompt", { tools: [tool("a"), tool("a")] })).toEqual([
      "error duplicate-item /tools/1/function/name",
    ]);
    const server = { type: "mcp-server-fqn", integration_fqn: "x", tools: [{ name: "a" }, { name: "a" }] };
    expect(meaning("chat_prompt", { mcp_servers: [server] })).toEqual([
      "error duplicate-item /mcp_servers/0/tools/1/name",
    ]);
  });
});

describe("meaning", () => {
  it("of a cluster includes that node pools have names of their own", () => {
    expect(meaning("cluster", { supported_nodepools: [{ name: "a" }, { name: "a" }] })).toEqual([
      "error duplicate-item /supported_nodepools/1/name",
    ]);
  });

  it("has nothing to say about what has no rules, and survives what has no form", () => {
    for (const type of ["workspace", "team", "unknown", "__proto__"])
      expect(checkSemantics(type, { a: 1 })).toEqual([]);
    for (const value of [null, [], 5, { ports: 5, mounts: [null], resources: [], tools: { a: 1 } }]) {
      for (const type of ["service", "cluster", "virtual-account", "chat_prompt"]) {
        expect(checkSemantics(type, value, { now, cluster: { base_domains: 5 } })).toEqual([]);
      }
    }
  });
});

describe("an application set", () => {
  it("holds its components to the rules of applications, and their names apart", () => {
    const one = {
      type: "service",
      name: "api",
      ports: [{ port: 80, expose: true, host: "api.elsewhere.example.com" }],
    };
    const two = { type: "job", name: "api", resources: { cpu_request: 2, cpu_limit: 1 } };
    const cluster = { base_domains: ["ml.example.com"] };
    expect(meaning("application-set", { components: [one, two] }, { cluster })).toEqual([
      "error duplicate-item /components/1/name",
      "error inconsistent /components/0/ports/0/host",
      "error inconsistent /components/1/resources/cpu_request",
    ]);
    expect(meaning("application-set", { components: [{ ...two, name: "b", resources: {} }] }, { cluster })).toEqual([]);
  });
});
