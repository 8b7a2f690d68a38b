/** What kustomize builds by itself, and what an overlay takes as a resource. */
export function kustomization(content: object): object {
  return { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", ...content };
}

/** What an overlay adds to the objects that it already has. */
export function component(content: object): object {
  return { apiVersion: "kustomize.config.k8s.io/v1alpha1", kind: "Component", ...content };
}
