/** The fields at the top of a manifest that say what it is called, whatever its kind. */
export const namingFields: readonly string[] = ["type", "name", "cluster_fqn", "workspace_fqn", "ml_repo"];
