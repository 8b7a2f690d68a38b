import { controlPlaneRule } from "../../monitoring/prometheus-rule.ts";
import { component, kustomization } from "../kustomization.ts";
import { backupClaim, databaseBackup, fileBackup } from "./backup.ts";
import { deployment } from "./deployment.ts";
import { NAME } from "./names.ts";
import { settings } from "./settings.ts";
import { statefulSet } from "./stateful-set.ts";
import {
  databaseBackupPolicy,
  databasePolicy,
  disruptionBudget,
  fileBackupPolicy,
  networkPolicy,
  service,
  serviceMonitor,
} from "./surroundings.ts";

const base = {
  "disruption-budget.yaml": disruptionBudget,
  "network-policy.yaml": networkPolicy,
  "service.yaml": service,
};

const variants = {
  sqlite: {
    "backup.yaml": fileBackup,
    "backup-policy.yaml": fileBackupPolicy,
    "backup-state.yaml": backupClaim,
    "stateful-set.yaml": statefulSet,
  },
  postgres: {
    "backup.yaml": databaseBackup,
    "backup-policy.yaml": databaseBackupPolicy,
    "backup-state.yaml": backupClaim,
    "database-policy.yaml": databasePolicy,
    "deployment.yaml": deployment,
  },
};

// A change of it starts the pods anew.
const literals = Object.entries(settings).map((pair) => pair.join("="));
const configMapGenerator = [{ name: NAME, literals }];

/** Everything that deploys the control plane, by the file that it is kept in. */
export const controlPlaneFiles: { readonly [file: string]: object } = {
  ...inFolder("base", {
    ...base,
    "kustomization.yaml": kustomization({ resources: Object.keys(base), configMapGenerator }),
  }),
  ...Object.assign({}, ...Object.entries(variants).map(([name, files]) => inFolder(name, variant(files)))),
  ...inFolder("monitoring", {
    "kustomization.yaml": component({ resources: ["prometheus-rule.yaml", "service-monitor.yaml"] }),
    "prometheus-rule.yaml": controlPlaneRule,
    "service-monitor.yaml": serviceMonitor,
  }),
};

function variant(files: { readonly [file: string]: object }) {
  return { ...files, "kustomization.yaml": kustomization({ resources: ["../base", ...Object.keys(files)] }) };
}

function inFolder(folder: string, files: { readonly [file: string]: object }) {
  return Object.fromEntries(
    Object.entries(files).map(([file, content]) => [`control-plane/${folder}/${file}`, content]),
  );
}
