import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container, PodSpec, Volume } from "kubernetes-types/core/v1.d.ts";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseConfig } from "../../src/source/read-config.ts";

const folder = join(import.meta.dirname, "../../deploy/kubernetes");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

test("the pod meets the restricted pod security standard", () => {
  const { spec }: Deployment = parse(read("deployment.yaml"));
  const pod: PodSpec | undefined = spec?.template.spec;
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  expect(pod).toMatchObject({
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  });
  const allowed = ["configMap", "secret", "persistentVolumeClaim"];
  for (const { name, ...volume } of pod?.volumes ?? []) expect(allowed).toContain(Object.keys(volume).join());
  for (const { securityContext } of pod?.containers ?? []) {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  }
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
  const { patches, configMapGenerator } = parse(read("git-sync/kustomization.yaml"));
  expect(patches).toEqual([{ path: "deployment.yaml" }]);
  expect(sidecar?.envFrom).toEqual([{ configMapRef: { name: configMapGenerator[0].name } }]);
});

test("kustomize builds every object", ({ skip }) => {
  skip(spawnSync("kubectl", ["version", "--client"]).status !== 0, "kubectl is not installed here");
  const built = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
  expect(built.stderr).toBe("");
  const objects = parseAllDocuments(built.stdout).map((document) => document.toJS());
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
  expect(JSON.stringify(deployment.spec.template.spec.volumes)).toContain(`"${config.metadata.name}"`);
});
