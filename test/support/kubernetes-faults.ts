import { isDeepStrictEqual } from "node:util";
import type { Container, PodSpec, PodTemplateSpec, Volume } from "kubernetes-types/core/v1.d.ts";
import type { KubernetesObject } from "./kustomization.ts";

/** What the restricted pod security standard asks of a container. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
const VOLUMES = ["configMap", "secret", "persistentVolumeClaim", "emptyDir"];

/** What is wrong with objects that are deployed together: rights that a pod has, and names that lead to nothing. */
export function kubernetesFaults(objects: readonly KubernetesObject[]): readonly string[] {
  const pods = objects.flatMap((object) => podsOf(object).map((pod) => ({ pod, object })));
  return [
    ...pods.flatMap(({ pod, object }) => podFaults(pod, object, objects).map((fault) => `${nameOf(object)}: ${fault}`)),
    ...objects.flatMap((object) => selectorFaults(object, objects)),
  ];
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}

function podsOf({ kind, spec }: KubernetesObject): readonly PodTemplateSpec[] {
  if (kind === "Deployment" || kind === "StatefulSet") return [spec.template];
  return kind === "CronJob" ? [spec.jobTemplate.spec.template] : [];
}

function podFaults({ spec }: PodTemplateSpec, owner: KubernetesObject, objects: readonly KubernetesObject[]) {
  const pod: PodSpec = spec ?? { containers: [] };
  const { containers, volumes = [], securityContext } = pod;
  const isNamed = (kind: string, name: string | undefined) =>
    objects.some((object) => object.kind === kind && object.metadata.name === name);
  const templates: readonly string[] = (owner.spec.volumeClaimTemplates ?? []).map(
    ({ metadata }: KubernetesObject) => metadata.name,
  );
  const known = [...volumes.map(({ name }) => name), ...templates];
  const claims = objects.flatMap((object) => claimsOf(object));
  return [
    ...(securityContext?.runAsNonRoot === true ? [] : ["it may run as root"]),
    ...(securityContext?.seccompProfile?.type === "RuntimeDefault" ? [] : ["no seccomp profile"]),
    ...(pod.automountServiceAccountToken === false ? [] : ["a token of the cluster"]),
    ...(pod.enableServiceLinks === false ? [] : ["service links"]),
    ...volumes.filter((volume) => !VOLUMES.includes(typeOf(volume))).map(({ name }) => `volume ${name}`),
    ...volumes.flatMap(({ configMap }) => configMap?.name ?? []).filter((name) => !isNamed("ConfigMap", name)),
    ...volumes
      .flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? [])
      .filter((name) => !claims.includes(name)),
    ...containers.flatMap((container) => containerFaults(container, known, isNamed)),
  ];
}

function typeOf({ name: _, ...volume }: Volume): string {
  return Object.keys(volume).join();
}

function claimsOf({ kind, metadata, spec }: KubernetesObject): readonly string[] {
  if (kind === "PersistentVolumeClaim") return [metadata.name ?? ""];
  const templates: readonly KubernetesObject[] = kind === "StatefulSet" ? spec.volumeClaimTemplates : [];
  return templates.map((template) => `${template.metadata.name}-${metadata.name}-0`);
}

function containerFaults(
  container: Container,
  volumes: readonly string[],
  isNamed: (kind: string, name: string | undefined) => boolean,
): readonly string[] {
  const { name, securityContext, resources, volumeMounts = [], ports = [], envFrom = [] } = container;
  const probed = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  const probePorts = probed.flatMap((probe) => probe?.httpGet?.port ?? []);
  return [
    ...(isDeepStrictEqual(securityContext, RESTRICTED) ? [] : [`rights of ${name}`]),
    ...(resources?.requests?.memory && resources.limits?.memory ? [] : [`no memory for ${name}`]),
    ...(ports.length > 0 && probePorts.length < probed.length ? [`no probe of ${name}`] : []),
    ...volumeMounts.filter((mount) => !volumes.includes(mount.name)).map((mount) => `no volume ${mount.name}`),
    ...probePorts.filter((port) => !ports.some((one) => one.name === port)).map((port) => `no port ${port}`),
    ...envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []).filter((ref) => !isNamed("ConfigMap", ref)),
  ];
}

function selectorFaults(object: KubernetesObject, objects: readonly KubernetesObject[]): readonly string[] {
  const selected =
    object.kind === "ServiceMonitor"
      ? objects.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.labels)
      : objects.flatMap((one) => podsOf(one).map(({ metadata }) => metadata?.labels));
  const selector = selectorOf(object);
  const isFound = selected.some((labels) =>
    Object.entries(selector).every(([name, value]) => labels?.[name] === value),
  );
  return isFound ? [] : [`${nameOf(object)} selects nothing`];
}

function selectorOf({ kind, spec }: KubernetesObject): { readonly [label: string]: string } {
  if (kind === "Service") return spec.selector;
  return spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels ?? {};
}
