import { mounts } from "./names.ts";

/** The operator's configuration to start from. */
export const config = {
  server: "https://platform.example.com",
  tokenFile: `${mounts.secrets}/token`,
  sinks: ["file"],
  // Without that key of the Secret, no plans are taken.
  dashboard: { plansTokenFile: `${mounts.secrets}/plans-token` },
  sources: [
    {
      name: "platform",
      url: "https://git.example.com/ml/platform.git",
      ref: "main",
      credentials: { tokenFile: `${mounts.secrets}/git-token` },
    },
  ],
};
