/**
 * How manifests name resources of other kinds, whatever they are themselves: the one place that says which kind a
 * field, a subject or an owner means.
 */
export const referenceKinds = {
  /** Fields at the top of a manifest. */
  fields: { cluster_fqn: "cluster", workspace_fqn: "workspace", ml_repo: "ml-repo" },
  /** What stands before the colon of a subject that holds a role. */
  subjects: { team: "team", virtualaccount: "virtual-account" },
  /** `ownedBy.team`. */
  owner: "team",
} as const;

/** The kind that a subject such as `team:search` names; undefined for people. */
export function kindOfSubject(scheme: string): string | undefined {
  const { subjects } = referenceKinds;
  return isSubject(scheme) ? subjects[scheme] : undefined;
}

function isSubject(scheme: string): scheme is keyof typeof referenceKinds.subjects {
  return Object.hasOwn(referenceKinds.subjects, scheme);
}
