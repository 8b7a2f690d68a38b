import type { JsonObject } from "../../../contract/json.ts";

/** One release of an addon's chart, with the values that this catalogue proposes for it. */
export type AddonRelease = { readonly version: string; readonly values: JsonObject };

/** An addon that a cluster can have: what is declared of it, whatever the cluster. */
export type AddonEntry = {
  readonly name: string;
  /** Name of the application that it is installed as. */
  readonly appName: string;
  readonly namespace: string;
  readonly description: string;
  readonly repoUrl: string;
  readonly chart: string;
  /** Whether clusters need it, where it is supported. */
  readonly required: boolean;
  readonly unsupportedClusterTypes: readonly string[];
  readonly knownCRDs: readonly string[];
  readonly labels: readonly string[];
  /** The newest first. */
  readonly releases: readonly [AddonRelease, ...AddonRelease[]];
};

/** Every addon that is known, by name. */
export const catalogue: readonly AddonEntry[] = [
  {
    name: "ARGO_CD",
    appName: "argo-cd",
    namespace: "argocd",
    description: "Delivers applications to the cluster from declared manifests.",
    repoUrl: "https://argoproj.github.io/argo-helm",
    chart: "argo-cd",
    required: true,
    unsupportedClusterTypes: [],
    knownCRDs: ["applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io"],
    labels: ["delivery"],
    releases: [
      {
        version: "7.7.16",
        values: {
          crds: { install: true, keep: true },
          dex: { enabled: false },
          notifications: { enabled: false },
          server: { replicas: 2, extraArgs: ["--insecure"] },
          applicationSet: { enabled: true, replicas: 1 },
        },
      },
      {
        version: "7.4.4",
        values: {
          crds: { install: true, keep: true },
          dex: { enabled: false },
          notifications: { enabled: false },
          server: { replicas: 1, extraArgs: ["--insecure"] },
          applicationSet: { enabled: false },
        },
      },
    ],
  },
  {
    name: "ARGO_ROLLOUTS",
    appName: "argo-rollouts",
    namespace: "argo-rollouts",
    description: "Rolls services out step by step: canary and blue-green.",
    repoUrl: "https://argoproj.github.io/argo-helm",
    chart: "argo-rollouts",
    required: true,
    unsupportedClusterTypes: [],
    knownCRDs: ["rollouts.argoproj.io", "analysisruns.argoproj.io", "analysistemplates.argoproj.io"],
    labels: ["delivery"],
    releases: [
      { version: "2.38.2", values: { installCRDs: true, controller: { replicas: 2, metrics: { enabled: true } } } },
      { version: "2.35.3", values: { installCRDs: true, controller: { replicas: 1 } } },
    ],
  },
  {
    name: "ARGO_WORKFLOWS",
    appName: "argo-workflows",
    namespace: "argo-workflows",
    description: "Runs jobs and workflows.",
    repoUrl: "https://argoproj.github.io/argo-helm",
    chart: "argo-workflows",
    required: true,
    unsupportedClusterTypes: [],
    knownCRDs: ["workflows.argoproj.io", "workflowtemplates.argoproj.io", "cronworkflows.argoproj.io"],
    labels: ["jobs"],
    releases: [
      {
        version: "0.45.2",
        values: { crds: { install: true, keep: true }, controller: { replicas: 1, workflowWorkers: 64 } },
      },
      {
        version: "0.41.14",
        values: { crds: { install: true, keep: true }, controller: { replicas: 1, workflowWorkers: 32 } },
      },
    ],
  },
  {
    name: "AWS_EBS_CSI_DRIVER",
    appName: "aws-ebs-csi-driver",
    namespace: "kube-system",
    description: "Makes volumes of the cloud's block storage.",
    repoUrl: "https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
    chart: "aws-ebs-csi-driver",
    required: true,
    unsupportedClusterTypes: ["gcp-gke-standard", "azure-aks", "generic", "civo-talos"],
    knownCRDs: [],
    labels: ["storage"],
    releases: [
      { version: "2.37.0", values: { controller: { replicaCount: 2 }, storageClasses: [{ name: "gp3" }] } },
      { version: "2.31.0", values: { controller: { replicaCount: 2 } } },
    ],
  },
  {
    name: "CERT_MANAGER",
    appName: "cert-manager",
    namespace: "cert-manager",
    description: "Issues and renews certificates.",
    repoUrl: "https://charts.jetstack.io",
    chart: "cert-manager",
    required: false,
    unsupportedClusterTypes: [],
    knownCRDs: ["certificates.cert-manager.io", "issuers.cert-manager.io", "clusterissuers.cert-manager.io"],
    labels: ["networking", "security"],
    releases: [
      { version: "v1.16.2", values: { crds: { enabled: true, keep: true }, enableCertificateOwnerRef: true } },
      { version: "v1.13.6", values: { installCRDs: true, enableCertificateOwnerRef: true } },
    ],
  },
  {
    name: "GPU_OPERATOR",
    appName: "gpu-operator",
    namespace: "gpu-operator",
    description: "Puts drivers and device plugins on nodes with GPUs.",
    repoUrl: "https://helm.ngc.nvidia.com/nvidia",
    chart: "gpu-operator",
    required: false,
    unsupportedClusterTypes: ["civo-talos"],
    knownCRDs: ["clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"],
    labels: ["compute"],
    releases: [
      {
        version: "v24.9.1",
        values: { driver: { enabled: true }, mig: { strategy: "mixed" }, dcgmExporter: { enabled: true } },
      },
      { version: "v24.3.0", values: { driver: { enabled: true }, mig: { strategy: "single" } } },
    ],
  },
  {
    name: "INGRESS_NGINX",
    appName: "ingress-nginx",
    namespace: "ingress-nginx",
    description: "Takes requests from outside to the services of the cluster.",
    repoUrl: "https://kubernetes.github.io/ingress-nginx",
    chart: "ingress-nginx",
    required: false,
    unsupportedClusterTypes: [],
    knownCRDs: [],
    labels: ["networking"],
    releases: [
      { version: "4.12.1", values: { controller: { replicaCount: 2, allowSnippetAnnotations: false } } },
      { version: "4.10.1", values: { controller: { replicaCount: 2, allowSnippetAnnotations: true } } },
    ],
  },
  {
    name: "KEDA",
    appName: "keda",
    namespace: "keda",
    description: "Scales services by events and schedules, down to nothing.",
    repoUrl: "https://kedacore.github.io/charts",
    chart: "keda",
    required: true,
    unsupportedClusterTypes: [],
    knownCRDs: ["scaledobjects.keda.sh", "scaledjobs.keda.sh", "triggerauthentications.keda.sh"],
    labels: ["scaling"],
    releases: [
      {
        version: "2.16.1",
        values: { operator: { replicaCount: 2 }, resources: { operator: { limits: { memory: "1000Mi" } } } },
      },
      {
        version: "2.13.2",
        values: { operator: { replicaCount: 1 }, resources: { operator: { limits: { memory: "500Mi" } } } },
      },
    ],
  },
  {
    name: "LOKI",
    appName: "loki",
    namespace: "loki",
    description: "Keeps the logs of services and jobs.",
    repoUrl: "https://grafana.github.io/helm-charts",
    chart: "loki",
    required: false,
    unsupportedClusterTypes: [],
    knownCRDs: [],
    labels: ["observability"],
    releases: [
      {
        version: "6.24.0",
        values: {
          deploymentMode: "SingleBinary",
          loki: { auth_enabled: false, limits_config: { retention_period: "168h" } },
        },
      },
      {
        version: "6.6.4",
        values: { deploymentMode: "SingleBinary", loki: { auth_enabled: false } },
      },
    ],
  },
  {
    name: "METRICS_SERVER",
    appName: "metrics-server",
    namespace: "kube-system",
    description: "Measures what pods and nodes use, for scaling.",
    repoUrl: "https://kubernetes-sigs.github.io/metrics-server",
    chart: "metrics-server",
    required: true,
    // These bring their own.
    unsupportedClusterTypes: ["gcp-gke-standard", "azure-aks"],
    knownCRDs: [],
    labels: ["observability", "scaling"],
    releases: [
      { version: "3.12.2", values: { replicas: 2 } },
      { version: "3.11.0", values: { replicas: 1 } },
    ],
  },
  {
    name: "PROMETHEUS",
    appName: "prometheus",
    namespace: "prometheus",
    description: "Keeps the metrics of services, jobs and the cluster itself.",
    repoUrl: "https://prometheus-community.github.io/helm-charts",
    chart: "kube-prometheus-stack",
    required: true,
    unsupportedClusterTypes: [],
    knownCRDs: ["prometheuses.monitoring.coreos.com", "servicemonitors.monitoring.coreos.com"],
    labels: ["observability"],
    releases: [
      {
        version: "66.7.1",
        values: {
          grafana: { enabled: false },
          prometheus: { prometheusSpec: { retention: "15d", walCompression: true } },
        },
      },
      {
        version: "58.7.2",
        values: { grafana: { enabled: false }, prometheus: { prometheusSpec: { retention: "10d" } } },
      },
    ],
  },
];
