/** Further flags of `serve`, as environment variables. */
export const settings = { HOLDFAST_ARTIFACT_ROOT: "s3://example-artifacts/holdfast" };
