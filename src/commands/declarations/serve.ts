import { declareCommand } from "../command.ts";

/** The declaration of `serve`. */
export const serve = declareCommand({
  name: "serve",
  arguments: "",
  summary: "run a control plane",
  flags: [
    "host",
    "port",
    "data",
    "database",
    "seed",
    "snapshot",
    "tokenFile",
    "caFile",
    "names",
    "artifactRoot",
    "documentedOnly",
    "unknownFields",
    "rolloutSeconds",
    "tlsCert",
    "tlsKey",
    "rateLimit",
    "maxLeaseSeconds",
    "drainSeconds",
    "renewSigningKey",
    "revoke",
    "newAdminToken",
  ],
  examples: [
    "holdfast serve --port 0 --data /var/lib/holdfast",
    "holdfast serve --documented-only --seed manifests",
    "holdfast serve --snapshot https://platform.example.com --token-file token",
  ],
});
