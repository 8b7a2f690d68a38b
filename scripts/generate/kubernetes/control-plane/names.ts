import { NAME as PROJECT } from "../names.ts";

/** The name of everything that belongs to a control plane in a cluster, its Secret and ConfigMap included. */
export const NAME = `${PROJECT}-control-plane`;

/** What selects the control plane's pods. */
export const labels = { "app.kubernetes.io/name": PROJECT, "app.kubernetes.io/component": "serve" };

/** What selects the pods of its backups. */
export const backupLabels = { ...labels, "app.kubernetes.io/component": "backup" };

/** The Secret with the certificate, as cert-manager makes it. */
export const TLS_SECRET = `${NAME}-tls`;

/** Where the pods find what the cluster keeps for them. */
export const mounts = {
  state: "/state",
  secrets: "/run/secrets/holdfast",
  tls: "/run/secrets/holdfast-tls",
  backup: "/backup",
};
