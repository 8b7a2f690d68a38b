/** How manifests of any kind refer to resources: the only map from fields, subjects and owners to kinds. */
export const referenceKinds = {
  /** Top-level fields. */
  fields: { cluster_fqn: "cluster", workspace_fqn: "workspace", ml_repo: "ml-repo" },
  /** Fields of mounts and downloads within an application. */
  used: { volume_fqn: "volume", artifact_version_fqn: "model-version" },
  /** The part of a subject before the colon. */
  subjects: { team: "team", virtualaccount: "virtual-account" },
  /** `ownedBy.team`. */
  owner: "team",
} as const;

/** The kind that a subject such as `team:search` refers to; undefined for people. */
export function kindOfSubject(scheme: string): string | undefined {
  const { subjects } = referenceKinds;
  return isSubject(scheme) ? subjects[scheme] : undefined;
}

function isSubject(scheme: string): scheme is keyof typeof referenceKinds.subjects {
  return Object.hasOwn(referenceKinds.subjects, scheme);
}
