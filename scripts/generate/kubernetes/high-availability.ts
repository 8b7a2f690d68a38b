import type { StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import { deployment, pod } from "./deployment.ts";
import { labels, NAME } from "./names.ts";
import { spread } from "./pod.ts";
import { claim } from "./surroundings.ts";

/** Two daemons with a volume each: one holds the lease of the control plane, the other stands by. */
export const statefulSet: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: NAME, labels },
  spec: {
    replicas: 2,
    serviceName: NAME,
    podManagementPolicy: "Parallel",
    revisionHistoryLimit: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { ...pod, ...spread(labels) } },
    volumeClaimTemplates: [{ metadata: { name: "state" }, ...(claim.spec === undefined ? {} : { spec: claim.spec }) }],
  },
};

/** Takes the single daemon and its volume out of what is deployed. */
export const withoutSingle = [deployment, claim].map(({ apiVersion, kind, metadata }) => ({
  $patch: "delete",
  apiVersion,
  kind,
  metadata: { name: metadata?.name },
}));
