/** The top-level fields that form a manifest's identity, whatever its kind. */
export const namingFields: readonly string[] = ["type", "name", "cluster_fqn", "workspace_fqn", "ml_repo"];

/** The fields of a numbered version (a prompt, a model) that may change in place; all others are its content. */
export const inPlaceFields: readonly string[] = ["description", "metadata", "version_alias"];
