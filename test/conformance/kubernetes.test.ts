import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import type { Container, PodSpec, Service, Volume } from "kubernetes-types/core/v1.d.ts";
import type { Ingress, NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../src/source/read-config.ts";
import { kubernetesFaults } from "../support/kubernetes-faults.ts";
import { filesOf, kustomize, missingIn, needsKubectl, overlayOf, overlaysIn } from "../support/kustomization.ts";

const folder = join(import.meta.dirname, "../../deploy/kubernetes");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

/** What is built in the repository itself, by its folder. */
const builds = [".", "control-plane/sqlite", "control-plane/postgres"];

test.each(builds)("%s: pods meet the restricted standard, and every name leads to an object", (build) => {
  const objects = filesOf(join(folder, build));
  expect(objects.length).toBeGreaterThan(4);
  expect(kubernetesFaults(objects)).toEqual([]);
});

test("rights of a container, a missing volume and a selector of nothing are found", () => {
  const objects = filesOf(join(folder, "control-plane/sqlite"));
  const text = JSON.stringify(objects)
    .replace('"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false')
    .replace('"name":"tls","secret"', '"name":"other","secret"')
    .replace('"runAsNonRoot":true', '"runAsNonRoot":false')
    .replace('"claimName":"state-', '"claimName":"')
    .replace(
      '"podSelector":{"matchLabels":{"app.kubernetes.io/name":"holdfast"',
      '"podSelector":{"matchLabels":{"app":"x"',
    );
  const faults = kubernetesFaults(JSON.parse(text));
  expect(faults).toHaveLength(5);
});

test("a field that Kubernetes does not have does not compile", () => {
  // @ts-expect-error: it is called `replicas`
  const wrong: Deployment = { apiVersion: "apps/v1", kind: "Deployment", spec: { replica: 1 } };
  expect(wrong.kind).toBe("Deployment");
});

test("the configuration in the ConfigMap is valid, and its secrets are files of the pod", async () => {
  const bytes = readFileSync(join(folder, "holdfast.yaml"));
  const { diagnostics, operator } = await parseConfig(bytes, { file: "holdfast.yaml", isInSource: false });
  expect(diagnostics).toEqual([]);
  const { spec }: Deployment = parse(read("deployment.yaml"));
  const mounted = spec?.template.spec?.containers[0]?.volumeMounts?.find(({ name }) => name === "secrets");
  expect(operator.tokenFile).toMatch(`${mounted?.mountPath}/`);
});

test("the sidecar keeps to the restricted standard, and the daemon reads what it links to", () => {
  const { spec }: Deployment = parse(read("git-sync/deployment.yaml"));
  const [daemon, sidecar] = spec?.template.spec?.containers ?? [];
  const [base]: Container[] = parse(read("deployment.yaml")).spec.template.spec.containers;
  expect(sidecar?.securityContext).toEqual(base?.securityContext);
  const settingOf = (name: string) => sidecar?.env?.find((one) => one.name === name)?.value;
  const link = `${settingOf("GITSYNC_ROOT")}/${settingOf("GITSYNC_LINK")}`;
  // The rest of how the daemon is called stays as it is without the sidecar.
  expect(daemon?.args).toEqual(["watch", "--source", link, ...(base?.args?.slice(1) ?? [])]);
  const mounted = [...(base?.volumeMounts ?? []), ...(daemon?.volumeMounts ?? [])];
  const volumes: Volume[] = parse(read("deployment.yaml")).spec.template.spec.volumes;
  const names = [...volumes, ...(spec?.template.spec?.volumes ?? [])].map(({ name }) => name);
  for (const { name } of [...mounted, ...(sidecar?.volumeMounts ?? [])]) expect(names).toContain(name);
  expect(mounted.find(({ mountPath }) => mountPath === settingOf("GITSYNC_ROOT"))).toMatchObject({ readOnly: true });
  expect(sidecar?.envFrom).toEqual([{ configMapRef: { name: "git-sync" } }]);
});

test("kustomize builds every object", (context) => {
  needsKubectl(context);
  const objects = kustomize(folder);
  expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
    "ConfigMap",
    "Deployment",
    "NetworkPolicy",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "Service",
  ]);
  const [config] = objects.filter(({ kind }) => kind === "ConfigMap");
  const [deployment] = objects.filter(({ kind }) => kind === "Deployment");
  expect(JSON.stringify(deployment?.spec.template.spec.volumes)).toContain(`"${config?.metadata.name}"`);
});

const overlaysOfPages = async () => [
  ...(await overlaysIn("docs/kubernetes.md")),
  ...(await overlaysIn("docs/deploy.md")),
];

test("every file that an overlay of the documentation names is there, and every ConfigMap that it changes", async () => {
  const overlays = await overlaysOfPages();
  expect(overlays).toHaveLength(7);
  for (const overlay of overlays) expect(missingIn(overlay)).toEqual([]);
});

test("kustomize builds every overlay of the documentation, with the operator's configuration in each", async (context) => {
  needsKubectl(context);
  for (const overlay of await overlaysOfPages()) {
    const objects = kustomize(overlay);
    expect(objects.map(({ metadata }) => metadata.namespace)).not.toContain(undefined);
    const configs = objects.filter(({ kind }) => kind === "ConfigMap").map(({ data }) => Object.values(data).join());
    expect(configs).toContainEqual(expect.stringMatching(/changed\.example\.com|ml-artifacts/));
    expect(kubernetesFaults(objects)).toEqual([]);
  }
});

test("two replicas have a volume each, and neither the single pod nor its claim stays", async (context) => {
  needsKubectl(context);
  const overlays = await overlaysOfPages();
  const objects = overlays.map(kustomize).find((built) => built.some(({ kind }) => kind === "StatefulSet")) ?? [];
  const kinds = objects.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.not.arrayContaining(["Deployment", "PersistentVolumeClaim"]));
  const spec: StatefulSet["spec"] = objects.find(({ kind }) => kind === "StatefulSet")?.spec;
  expect(spec).toMatchObject({ replicas: 2, volumeClaimTemplates: [{ metadata: { name: "state" } }] });
  // The rest of the pod is that of the single one.
  const single: Deployment = parse(read("deployment.yaml"));
  expect(spec?.template.spec?.containers[0]?.args).toEqual(single.spec?.template.spec?.containers[0]?.args);
});

test("a fleet has pods without a volume claim, which find their state by an address in the Secret", async (context) => {
  needsKubectl(context);
  const overlays = (await overlaysIn("docs/kubernetes.md")).filter((one) =>
    readFileSync(join(one, "kustomization.yaml"), "utf8").includes("kubernetes/fleet"),
  );
  const [objects = []] = overlays.map(kustomize);
  expect(objects.map(({ kind }) => kind)).not.toContain("PersistentVolumeClaim");
  const spec: Deployment["spec"] = objects.find(({ kind }) => kind === "Deployment")?.spec;
  expect(spec).toMatchObject({ replicas: 3, strategy: { type: "RollingUpdate" } });
  const pod = spec?.template.spec;
  expect(pod?.volumes).toContainEqual({ name: "state", emptyDir: {} });
  const env = pod?.containers[0]?.env ?? [];
  const secrets = pod?.containers[0]?.volumeMounts?.find(({ name }) => name === "secrets")?.mountPath;
  expect(env).toContainEqual({ name: "HOLDFAST_STATE_FILE", value: `${secrets}/state-address` });
  expect(env).toContainEqual({ name: "HOLDFAST_STATE_KEY_FILE", value: `${secrets}/state-key` });
  expect(kubernetesFaults(objects)).toEqual([]);
});

test("two replicas read what git-sync checks out", async (context) => {
  needsKubectl(context);
  const overlays = (await overlaysIn("docs/kubernetes.md")).map((one) =>
    readFileSync(join(one, "kustomization.yaml"), "utf8"),
  );
  const withGitSync = overlays.find((text) => text.includes("/git-sync")) ?? "";
  const both = withGitSync.replace(/^( *- .*)git-sync$/m, "$1high-availability\n$1git-sync");
  const objects = kustomize(await overlayOf(both));
  const pod: PodSpec = objects.find(({ kind }) => kind === "StatefulSet")?.spec.template.spec;
  expect(pod.containers.map(({ name }) => name)).toEqual(["holdfast", "git-sync"]);
  expect(pod.containers[0]?.args).toContain("--source");
  expect(kubernetesFaults(objects)).toEqual([]);
});

test("the daemon's policy lets in whom the Ingress for webhooks needs, and out to the control plane's port", () => {
  const policy: NetworkPolicy = parse(read("network-policy.yaml"));
  expect(policy.spec?.egress?.[0]?.ports).toContainEqual({ port: 7071, protocol: "TCP" });
  const webhooks: NetworkPolicy = parse(read("webhooks/network-policy.yaml"));
  expect(webhooks.spec?.podSelector).toEqual(policy.spec?.podSelector);
  const { spec }: Ingress = parse(read("webhooks/ingress.yaml"));
  const paths = spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? [];
  expect(paths.map(({ path }) => path)).toEqual(["/hooks", "/api/v1/plans"]);
  const { metadata, spec: service }: Service = parse(read("service.yaml"));
  const expected = { name: metadata?.name, port: { name: service?.ports?.[0]?.name } };
  expect(paths.map(({ backend }) => backend.service)).toEqual([expected, expected]);
  // What is read of plans, below that path, needs the page.
  expect(paths.map(({ pathType }) => pathType)).toEqual(["Prefix", "Exact"]);
  expect(webhooks.spec?.ingress?.[0]?.ports?.[0]?.port).toBe(service?.ports?.[0]?.targetPort);
});

test("the pod requests the memory that the bench allows a daemon", () => {
  const row = /^\| memory of a daemon \|.*$/m.exec(readFileSync("docs/performance.md", "utf8"))?.[0] ?? "";
  const limits = Array.from(row.matchAll(/≤ (\d+) MB/g), ([, megabytes]) => Number(megabytes));
  const { spec }: Deployment = parse(read("deployment.yaml"));
  expect(spec?.template.spec?.containers[0]?.resources?.requests?.memory).toBe(`${Math.max(...limits)}M`);
});
