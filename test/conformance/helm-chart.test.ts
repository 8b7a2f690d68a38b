import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { kubernetesFaults } from "../support/kubernetes-faults.ts";
import { filesOf, type KubernetesObject } from "../support/kustomization.ts";
import { objectsIn, renderChart, type Values } from "../support/render-chart.ts";

const chart = "deploy/helm/holdfast";
const kubernetes = "deploy/kubernetes";
const monitors = ["", "control-plane/"].map((part) => `${kubernetes}/${part}monitoring`);

/** Which folders of deploy/kubernetes are the same as the chart with these values. */
const equal: readonly (readonly [values: Values, folders: readonly string[]])[] = [
  [{}, [kubernetes]],
  [{ daemon: { enabled: false }, controlPlane: { enabled: true } }, [`${kubernetes}/control-plane/sqlite`]],
  [
    { controlPlane: { enabled: true, postgres: true }, serviceMonitors: true },
    [kubernetes, `${kubernetes}/control-plane/postgres`],
  ],
];

/** Values that use everything that is off by default. */
const everything: Values = {
  image: "registry.example.com/holdfast:0.1.0",
  imagePullSecrets: [{ name: "registry" }],
  serviceMonitors: true,
  daemon: {
    highAvailability: true,
    config: { server: "https://changed.example.com" },
    podAnnotations: { "example.com/team": "ml" },
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "ml", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    egressPorts: [],
    webhooks: { enabled: true, host: "hooks.other.example.com" },
  },
  controlPlane: {
    enabled: true,
    settings: { HOLDFAST_RATE_LIMIT: "100" },
    secretName: "other",
    serviceType: "LoadBalancer",
  },
};

const schema: object = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"));
const validate = new Ajv({ strict: true, allErrors: true }).compile(schema);

test.each(equal)("with %j the chart has the objects of the files for kustomize", (values, folders) => {
  const monitored = values.serviceMonitors === true ? monitors.flatMap(filesOf) : [];
  const expected = [
    ...folders.flatMap(filesOf),
    ...monitored.filter(({ kind }) => ["ServiceMonitor", "PrometheusRule"].includes(kind)),
  ];
  expect(sorted(renderChart(chart, values))).toEqual(sorted(expected));
});

test("the daemon that the chart makes takes plans with a token of its Secret", () => {
  const objects = renderChart(chart, { daemon: { secretName: "other" } });
  const config = objects.find(({ kind }) => kind === "ConfigMap")?.data["holdfast.yaml"];
  const { volumes, containers } = objects.find(({ kind }) => kind === "Deployment")?.spec.template.spec ?? {};
  const [mount] = containers[0].volumeMounts.filter(({ name }: { readonly name: string }) => name === "secrets");
  expect(parse(config).dashboard).toEqual({ plansTokenFile: `${mount.mountPath}/plans-token` });
  expect(volumes).toContainEqual({ name: "secrets", secret: { secretName: "other", defaultMode: 0o440 } });
});

test("values reach the objects, and every name leads to one", () => {
  const objects = renderChart(chart, everything);
  expect(kubernetesFaults(objects)).toEqual([]);
  const named = (kind: string, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name);
  const { template, replicas } = named("StatefulSet", "holdfast")?.spec ?? {};
  expect(replicas).toBe(2);
  expect(template.metadata.annotations).toEqual({ "example.com/team": "ml" });
  expect(template.spec).toMatchObject({
    imagePullSecrets: [{ name: "registry" }],
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "ml", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    containers: [{ image: "registry.example.com/holdfast:0.1.0" }],
  });
  const config: string = named("ConfigMap", "holdfast")?.data["holdfast.yaml"];
  expect(parse(config).server).toBe("https://changed.example.com");
  expect(named("ConfigMap", "holdfast-control-plane")?.data).toMatchObject({ HOLDFAST_RATE_LIMIT: "100" });
  expect(named("NetworkPolicy", "holdfast")?.spec.egress).toEqual([{ ports: [] }]);
  const [rule] = named("Ingress", "holdfast-webhooks")?.spec.rules ?? [];
  expect(rule).toMatchObject({ host: "hooks.other.example.com", http: { paths: [{}, { path: "/api/v1/plans" }] } });
  expect(JSON.stringify(named("StatefulSet", "holdfast-control-plane"))).toContain('"secretKeyRef":{"name":"other"');
  expect(objects.map(({ kind }) => kind)).not.toContain("Deployment");
});

test("the schema takes the chart's own values, and refuses what no template reads", () => {
  const defaults: Values = parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  expect([validate(defaults), validate.errors]).toEqual([true, null]);
  expect([validate(everything), validate.errors]).toEqual([true, null]);
  expect(validate({ daemon: { replicas: 2 } })).toBe(false);
  expect(validate({ controlPlane: { settings: { HOLDFAST_RATE_LIMIT: 100 } } })).toBe(false);
});

test("helm renders the same objects", async ({ skip }) => {
  skip(spawnSync("helm", ["version"]).status !== 0, "helm is not installed here");
  for (const values of [...equal.map(([values]) => values), everything]) {
    const file = join(await temporaryFolder(), "values.yaml");
    await writeFile(file, stringify(values));
    const { stdout, stderr } = spawnSync("helm", ["template", "holdfast", chart, "--values", file], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(sorted(objectsIn(stdout))).toEqual(sorted(renderChart(chart, values)));
  }
});

/** The objects in the order of their names, each ConfigMap with what its files say. */
function sorted(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const keyOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
  return objects
    .map((object) => (object.kind === "ConfigMap" ? withParsedFiles(object) : object))
    .toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
}

function withParsedFiles(map: KubernetesObject): KubernetesObject {
  const data = Object.entries<string>(map.data).map(([name, text]) => [name, parse(text)]);
  return { ...map, data: Object.fromEntries(data) };
}
