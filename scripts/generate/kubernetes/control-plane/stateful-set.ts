import type { StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import { labels, NAME } from "./names.ts";
import { podWith } from "./pod.ts";

/** The control plane on SQLite: one replica with a volume. */
export const statefulSet: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: NAME, labels },
  spec: {
    replicas: 1,
    serviceName: NAME,
    revisionHistoryLimit: 3,
    selector: { matchLabels: labels },
    template: podWith({}),
    volumeClaimTemplates: [
      {
        metadata: { name: "state" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
      },
    ],
  },
};

/** The claim that the StatefulSet makes for its pod. */
export const claimName = `state-${NAME}-0`;
