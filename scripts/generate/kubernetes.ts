import { stringify } from "yaml";
import { config } from "./kubernetes/config.ts";
import { controlPlaneFiles } from "./kubernetes/control-plane/files.ts";
import { deployment } from "./kubernetes/deployment.ts";
import { databasePolicy, fleetPatch, withoutClaim } from "./kubernetes/fleet.ts";
import { gitSyncPatch } from "./kubernetes/git-sync.ts";
import { statefulSet, withoutSingle } from "./kubernetes/high-availability.ts";
import { component, kustomization } from "./kubernetes/kustomization.ts";
import { labels, NAME } from "./kubernetes/names.ts";
import { claim, disruptionBudget, networkPolicy, service, serviceMonitor } from "./kubernetes/surroundings.ts";
import { ingress, ingressPolicy } from "./kubernetes/webhooks.ts";
import { dashboard } from "./monitoring/dashboard.ts";
import { daemonRule } from "./monitoring/prometheus-rule.ts";

const FOLDER = "deploy/kubernetes";
const DASHBOARD = "dashboard.json";

const base = {
  "deployment.yaml": deployment,
  "disruption-budget.yaml": disruptionBudget,
  "network-policy.yaml": networkPolicy,
  "service.yaml": service,
  "state.yaml": claim,
};

/** Everything that deploys daemon and control plane to Kubernetes, by the file that it is kept in. */
export function kubernetesTexts(): readonly (readonly [path: string, text: string])[] {
  const files = {
    ...base,
    "holdfast.yaml": config,
    "kustomization.yaml": kustomization({
      resources: Object.keys(base),
      // Its name ends with a digest of its content: a change of it starts the pod anew.
      configMapGenerator: [{ name: NAME, files: ["holdfast.yaml"] }],
    }),
    "fleet/deployment.yaml": fleetPatch,
    "fleet/kustomization.yaml": component({
      resources: ["network-policy.yaml"],
      patches: [{ path: "deployment.yaml" }, { patch: stringify(withoutClaim) }],
    }),
    "fleet/network-policy.yaml": databasePolicy,
    "git-sync/deployment.yaml": gitSyncPatch,
    // Its settings are the overlay's own: a component's generator runs after those of the overlay, which cannot merge with it.
    "git-sync/kustomization.yaml": component({
      patches: [{ path: "deployment.yaml", target: { kind: "Deployment|StatefulSet", name: NAME } }],
    }),
    "high-availability/kustomization.yaml": component({
      resources: ["stateful-set.yaml"],
      patches: withoutSingle.map((patch) => ({ patch: stringify(patch) })),
    }),
    "high-availability/stateful-set.yaml": statefulSet,
    "webhooks/kustomization.yaml": component({ resources: ["ingress.yaml", "network-policy.yaml"] }),
    "webhooks/ingress.yaml": ingress,
    "webhooks/network-policy.yaml": ingressPolicy,
    "monitoring/kustomization.yaml": component({
      resources: ["prometheus-rule.yaml", "service-monitor.yaml"],
      configMapGenerator: [
        {
          name: `${NAME}-dashboard`,
          files: [DASHBOARD],
          // Grafana's sidecar looks for the label, and the name is no reason to start a pod anew.
          options: { disableNameSuffixHash: true, labels: { ...labels, grafana_dashboard: "1" } },
        },
      ],
    }),
    "monitoring/prometheus-rule.yaml": daemonRule,
    "monitoring/service-monitor.yaml": serviceMonitor,
    ...controlPlaneFiles,
  };
  return [
    ...Object.entries(files).map(([name, content]) => [`${FOLDER}/${name}`, yamlText(content)] as const),
    [`${FOLDER}/monitoring/${DASHBOARD}`, `${JSON.stringify(dashboard, null, 2)}\n`],
  ];
}

function yamlText(content: unknown): string {
  const text = stringify(content, { aliasDuplicateObjects: false, lineWidth: 0 });
  return `# Generated from scripts/generate/kubernetes by \`npm run generate\`.\n${text}`;
}
