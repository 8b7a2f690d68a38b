/** The name of everything that belongs to a daemon in a cluster. */
export const NAME = "holdfast";

/** What selects the daemon's pod. */
export const labels = { "app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "watch" };

/** The port of health, metrics and webhooks, by name and number. */
export const port = { name: "http", number: 7072 };

/** The port of a control plane that Holdfast serves, by name and number. */
export const controlPlanePort = { name: "https", number: 7071 };

/** Where the pod finds what the cluster keeps for it. */
export const mounts = { state: "/state", config: "/etc/holdfast", secrets: "/run/secrets/holdfast", checkout: "/git" };
