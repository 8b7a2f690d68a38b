// Serves the control plane of a data folder until it is killed, saying on stdout where.
import { Secret } from "../../src/contract/secret.ts";
import { createControlPlane } from "../../src/control-plane/app.ts";
import { createLog } from "../../src/log/log.ts";

const [, , data = "", rolloutSeconds = "0", database] = process.argv;
const { url } = await createControlPlane({
  data,
  ...(database === undefined ? {} : { database: new Secret(database) }),
  rolloutSeconds: Number(rolloutSeconds),
  log: createLog({ level: "fatal" }),
});
process.stdout.write(`${url}\n`);
