import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { GateRegistry, TargetGates } from "../../engine/gates/gate-access.ts";
import { readGivenText } from "../../files/read-given-file.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { TargetState } from "../../state/state.ts";
import type { Invocation } from "../command.ts";
import type { ServerUse } from "../connection/open-connection.ts";
import type { TargetChoice } from "./choose-targets.ts";
import { invocationFor, limitOf, operatorKeysOf, type ServerLimits } from "./server-of-target.ts";

/** The limits of the connection to another target's control plane, of which little is read. */
const LIMITS = { concurrency: 4, requestTimeoutMs: 30_000 };

/** How another target's control plane is reached. */
type Reaching = {
  readonly invocation: Invocation;
  readonly operator: OperatorConfig;
  readonly choices: readonly TargetChoice[];
  readonly use: Pick<ServerUse, "meter">;
  readonly embedded: ServerUse["embedded"];
  readonly limits: ServerLimits;
  readonly resources: AsyncDisposableStack;
};

/** The gates of a target; a control plane of another target that one reads from is connected when it is first needed. */
export function targetGates({ gates }: TargetChoice, state: TargetState, shared: Reaching): TargetGates {
  const registries = new Map<string, Promise<GateRegistry>>();
  return {
    gates,
    registryOf: (name) => {
      const known = registries.get(name) ?? connectTo(name, shared);
      registries.set(name, known);
      // The next pass tries again.
      known.catch(() => registries.delete(name));
      return known;
    },
    readSecret: (file) => new Secret(readGivenText(file).trim()),
    keep: async (receipts) => (await state.target()).keepGateReceipts(receipts),
  };
}

async function connectTo(name: string, shared: Reaching): Promise<GateRegistry> {
  const { choices, resources, embedded } = shared;
  const choice = choices.find((one) => one.name === name);
  if (choice === undefined) throw new HoldfastError("invalid", `there is no target ${name}`);
  if (choice.fault !== null) throw choice.fault;
  const invocation = invocationFor(choice, shared.invocation);
  const operator = { ...shared.operator, ...operatorKeysOf(choice) };
  // Loaded here, so that a command that asks no gate does not load the client.
  const { chooseServer, connectOptions } = await import("../connection/open-connection.ts");
  const { connect } = await import("../../client/connect.ts");
  const { url: server, token, renew } = await chooseServer(invocation, { operator, embedded });
  const use = { reading: true, meter: shared.use.meter, limit: limitOf(choice, shared) };
  const connection = connect({ ...connectOptions(invocation, use, LIMITS), server, token, renewToken: renew });
  resources.use(connection);
  return { reader: connection.reader, recordedId: () => null };
}
