/** The top-level fields that make a manifest's identity, whatever its kind. */
export const namingFields: readonly string[] = ["type", "name", "cluster_fqn", "workspace_fqn", "ml_repo"];
