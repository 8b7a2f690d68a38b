// Ends with 0 where the daemon on this state answers, with or without --listen.
import { get } from "node:http";
import { join } from "node:path";

const socketPath = join(process.env.HOLDFAST_STATE ?? "/state", "daemon.sock");
const asked = get({ socketPath, path: "/status", timeout: 4000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
});
asked.once("timeout", () => asked.destroy());
asked.once("error", () => process.exit(1));
