/** The fields of a numbered version (a prompt, a model) that may change in place; all others are its content. */
export const inPlaceFields: readonly string[] = ["description", "metadata", "version_alias"];
