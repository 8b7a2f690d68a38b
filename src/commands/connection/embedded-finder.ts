import type { Invocation } from "../command.ts";
import { say } from "../terminal.ts";
import { attach, noServer, type ServerChoice } from "./server-choice.ts";

/** Returns a function that finds the embedded control plane of a state folder, or starts it once for all targets. */
export function embeddedFinder(
  { flags, terminal }: Invocation,
  folder: string,
  resources: AsyncDisposableStack,
): () => Promise<ServerChoice> {
  let finding: Promise<ServerChoice> | null = null;
  let isAnnounced = false;
  const find = async (): Promise<ServerChoice> => {
    const attached = await attach(folder, { clock: terminal.clock, signal: terminal.stopping });
    if (attached !== null) {
      if (!flags.embedded && !isAnnounced) say(terminal, `using the embedded control plane at ${attached.url}`);
      isAnnounced = true;
      // Looked up again on the next call, because the process that serves it may end.
      finding = null;
      return attached;
    }
    if (!flags.embedded) throw noServer(flags, terminal);
    // Loaded here, so that a command that attaches to it does not load the server.
    const { startEmbedded } = await import("./start-embedded.ts");
    const { terminalLog } = await import("../output/terminal-log.ts");
    return resources.use(await startEmbedded(folder, terminalLog({ flags, terminal }), terminal)).choice;
  };
  return () => {
    finding ??= find();
    return finding;
  };
}
