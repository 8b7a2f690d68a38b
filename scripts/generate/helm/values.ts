/** What the chart says of a value. */
export type ChartValue = {
  readonly description: string;
  /** Its default where no object of the cluster has one at the value's place. */
  readonly initial?: boolean | readonly [] | Readonly<Record<string, never>>;
  /** What the schema demands beyond the type of the default. */
  readonly demands?: object;
};

/** What the pods of a program take: where they run, and what they may use. */
function podValues(program: string, pods: string): { readonly [path: string]: ChartValue } {
  return {
    [`${program}.resources`]: { description: `CPU and memory of ${pods}` },
    [`${program}.nodeSelector`]: { description: `Labels of the nodes for ${pods}`, initial: {} },
    [`${program}.tolerations`]: { description: `Taints of nodes that ${pods} tolerate`, initial: [] },
    [`${program}.affinity`]: { description: `Affinity of ${pods}`, initial: {} },
    [`${program}.podAnnotations`]: { description: `Annotations of ${pods}`, initial: {} },
  };
}

/** Every value of the chart by its path below `.Values`, in the order of values.yaml. */
export const chartValues: { readonly [path: string]: ChartValue } = {
  image: {
    description: "Image of daemon and control plane, with its registry and tag or digest",
    demands: { minLength: 1 },
  },
  imagePullSecrets: { description: "Secrets with credentials of the registry, each as { name }", initial: [] },
  serviceMonitors: {
    description: "Whether the Prometheus operator scrapes what is deployed, and gets the alerts",
    initial: false,
  },

  "daemon.enabled": { description: "Whether the daemon is deployed", initial: true },
  "daemon.highAvailability": {
    description: "Two pods with a volume each, of which one stands by, instead of one pod",
    initial: false,
  },
  "daemon.config": { description: "The operator's configuration: sources, targets, notifications" },
  "daemon.secretName": {
    description:
      "Secret with the files token, git-token, state-key, ui-token and, for plans of pull requests, plans-token",
  },
  "daemon.automountServiceAccountToken": {
    description: "Whether the daemon gets the token of its service account, which the sink kubernetes needs",
  },
  "daemon.args": { description: "Arguments of the daemon" },
  "daemon.storage": { description: "Size of the volume of each pod" },
  ...podValues("daemon", "the daemon's pods"),
  "daemon.ingressFrom": { description: "Who may reach the daemon's port, as peers of a NetworkPolicy" },
  "daemon.egressPorts": { description: "Ports that the daemon may reach: names, git, control planes" },
  "daemon.webhooks.enabled": {
    description: "Whether an Ingress publishes /hooks, and /api/v1/plans for pipelines",
    initial: false,
  },
  "daemon.webhooks.host": { description: "Host of the webhooks" },
  "daemon.webhooks.ingressClassName": { description: "Class of the Ingress" },
  "daemon.webhooks.tlsSecretName": { description: "Secret with the certificate of the host" },
  "daemon.webhooks.from": { description: "Pods of the ingress controller, as peers of a NetworkPolicy" },

  "controlPlane.enabled": { description: "Whether a control plane is deployed", initial: false },
  "controlPlane.postgres": {
    description: "Two pods on PostgreSQL, whose address is the key `database` of the Secret, instead of one on SQLite",
    initial: false,
  },
  "controlPlane.replicas": { description: "Number of pods on PostgreSQL", demands: { minimum: 1 } },
  "controlPlane.settings": {
    description: "Further flags of serve, as environment variables. Restart the pods after a change",
    demands: { additionalProperties: { type: "string" } },
  },
  "controlPlane.secretName": {
    description: "Secret with the keys server-key, admin-token and, for PostgreSQL, database",
  },
  "controlPlane.tlsSecretName": { description: "Secret with the certificate: tls.crt, tls.key and ca.crt" },
  "controlPlane.args": { description: "Arguments of the control plane" },
  "controlPlane.storage": { description: "Size of the volume of the data on SQLite" },
  "controlPlane.serviceType": {
    description: "Type of the Service",
    demands: { enum: ["ClusterIP", "LoadBalancer", "NodePort"] },
  },
  ...podValues("controlPlane", "the control plane's pods"),
  "controlPlane.ingressFrom": { description: "Who may reach the control plane's port, as peers of a NetworkPolicy" },
  "controlPlane.backup.enabled": { description: "Whether a CronJob backs the data up", initial: true },
  "controlPlane.backup.schedule": { description: "When, in UTC, as a cron expression" },
  "controlPlane.backup.storage": { description: "Size of the volume of the backups" },
  "controlPlane.backup.postgresImage": { description: "Image with pg_dump, of the version of your PostgreSQL" },
};
