// Serves the control plane of a data folder until it is killed, saying on stdout where.
import { createControlPlane } from "../../src/control-plane/app.ts";
import { createLog } from "../../src/log/log.ts";

const [, , data = "", rolloutSeconds = "0"] = process.argv;
const { url } = await createControlPlane({
  data,
  rolloutSeconds: Number(rolloutSeconds),
  log: createLog({ level: "fatal" }),
});
process.stdout.write(`${url}\n`);
