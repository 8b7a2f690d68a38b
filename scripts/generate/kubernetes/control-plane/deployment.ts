import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import { spread } from "../pod.ts";
import { labels, NAME } from "./names.ts";
import { fromSecret, podWith } from "./pod.ts";

const { metadata, spec } = podWith({
  env: [fromSecret("HOLDFAST_DATABASE", "database")],
  // Nothing in it outlives the pod: all data is in the database.
  state: [{ name: "state", emptyDir: { sizeLimit: "256Mi" } }],
});

/** The control plane on PostgreSQL: two replicas, one of which is always there. */
export const deployment: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: NAME, labels },
  spec: {
    replicas: 2,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    revisionHistoryLimit: 3,
    selector: { matchLabels: labels },
    template: { metadata, spec: { ...spec, ...spread(labels) } },
  },
};
