import { describe, expect, it } from "vitest";
import { shapes } from "../../../src/contract/generated/shapes.ts";
import { equal, isObject, type Json, type JsonObject } from "../../../src/contract/json.ts";
import { fillDefaults, type Shape } from "../../../src/contract/manifest-shape.ts";
import { normalise } from "../../../src/model/normal-form.ts";
import { manifestTypes } from "../../../src/schema/schemas.ts";
import { validateManifest } from "../../../src/schema/validate.ts";
import { least, manifest } from "./valid.ts";

function shapeOf(type: string): Shape {
  const shape = shapes[type];
  if (shape === undefined) throw new Error(`no shape for ${type}`);
  return shape;
}

const same = (type: string, a: JsonObject, b: JsonObject) =>
  equal(normalise(shapeOf(type), manifest(type, a)), normalise(shapeOf(type), manifest(type, b)));

function marks(shape: Shape, path: string): readonly string[] {
  if (shape.is === "object")
    return Object.entries(shape.fields).flatMap(([name, field]) => marks(field, `${path}/${name}`));
  if (shape.is === "list") return marks(shape.items, `${path}/*`);
  return shape.sensitive === undefined ? [] : [`${shape.sensitive} ${path}`];
}

describe("the shape of a manifest", () => {
  it.each(manifestTypes)("of type %s exists, and its defaults keep it valid", (type) => {
    const filled = fillDefaults(shapeOf(type), manifest(type));
    expect(validateManifest(type, filled)).toEqual([]);
    expect(fillDefaults(shapeOf(type), filled)).toEqual(filled);
  });

  it("fills in what the platform obviously would, and nothing in versions", () => {
    const fields = { ports: [{ port: 80 }], liveness_probe: {}, readiness_probe: null };
    expect(fillDefaults(shapeOf("service"), manifest("service", fields))).toEqual({
      ...manifest("service"),
      ports: [{ port: 80, protocol: "TCP" }],
      liveness_probe: {
        initial_delay_seconds: 0,
        period_seconds: 10,
        timeout_seconds: 1,
        success_threshold: 1,
        failure_threshold: 3,
      },
      readiness_probe: null,
      replicas: 1,
      allow_interception: false,
      rollout_strategy: { type: "rolling_update", max_unavailable_percentage: 25, max_surge_percentage: 25 },
    });
    for (const type of manifestTypes.filter((name) => !/service$/.test(name))) {
      expect(fillDefaults(shapeOf(type), manifest(type))).toEqual(manifest(type));
    }
  });

  it("leaves what somebody chose as it is", () => {
    const chosen = { replicas: { min_replicas: 1, max_replicas: 2 }, rollout_strategy: { type: "blue_green" } };
    expect(fillDefaults(shapeOf("service"), manifest("service", chosen))).toMatchObject(chosen);
    const filled = fillDefaults(shapeOf("service"), manifest("service", chosen));
    expect(isObject(filled) ? filled.rollout_strategy : null).toEqual({ type: "blue_green" });
  });

  it("marks what outputs must mask", () => {
    expect(
      Object.keys(least)
        .flatMap((type) => marks(shapeOf(type), type))
        .toSorted(),
    ).toEqual([
      "keys chat_prompt/metadata",
      "keys chat_prompt/variables",
      "keys model-version/metadata",
      "keys service/env",
      "keys service/image/build_spec/build_args",
      "keys service/kustomize/additions/*",
      "keys service/kustomize/patch",
      "keys service/replicas/metrics",
      "true chat_prompt/mcp_servers/*/headers",
      "true chat_prompt/model_configuration/extra_parameters",
      "true chat_prompt/routing_config/load_balance_targets/*/headers_override",
      "true chat_prompt/routing_config/load_balance_targets/*/override_params",
      "true service/image/build_spec/build_secrets",
      "true service/mounts/*/data",
      "true service/ports/*/auth/password",
    ]);
  });

  it("knows the lists whose order means nothing", () => {
    const reversed: readonly [string, string, readonly Json[]][] = [
      [
        "workspace",
        "collaborators",
        [
          { subject: "team:a", role_id: "x" },
          { subject: "team:b", role_id: "x" },
        ],
      ],
      ["team", "members", ["a@x.example", "b@x.example"]],
      ["team", "managers", ["a@x.example", "b@x.example"]],
      ["cluster", "base_domains", ["a.example", "b.example"]],
      ["cluster", "environment_names", ["a", "b"]],
      ["cluster", "supported_nodepools", [{ name: "a" }, { name: "b" }]],
      ["service", "ports", [{ port: 80 }, { port: 443 }]],
      [
        "service",
        "mounts",
        [
          { type: "string", mount_path: "/a" },
          { type: "string", mount_path: "/b" },
        ],
      ],
    ];
    for (const [type, field, items] of reversed) {
      expect(same(type, { [field]: items }, { [field]: items.toReversed() }), `${type} ${field}`).toBe(true);
    }
  });

  it("knows the lists whose order means something", () => {
    const messages = [
      { role: "system", content: "a" },
      { role: "user", content: "b" },
    ];
    expect(same("chat_prompt", { messages }, { messages: messages.toReversed() })).toBe(false);
    const tools = [
      { type: "function", function: { name: "a" } },
      { type: "function", function: { name: "b" } },
    ];
    expect(same("chat_prompt", { tools }, { tools: tools.toReversed() })).toBe(false);
    const artifacts = [{ a: 1 }, { b: 1 }];
    const download = (items: readonly Json[]) => ({ artifacts_download: { artifacts: items } });
    expect(same("service", download(artifacts), download(artifacts.toReversed()))).toBe(false);
  });

  it("compares environment variables as texts", () => {
    expect(same("service", { env: { A: 1, B: true } }, { env: { A: "1", B: "true" } })).toBe(true);
    expect(same("service", { env: { A: 1 } }, { env: { A: 2 } })).toBe(false);
  });
});
