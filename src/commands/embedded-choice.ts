import { printable } from "../render/escape.ts";
import type { Invocation } from "./command.ts";
import { attach, noServer, type ServerChoice } from "./server-choice.ts";

/** The embedded control plane of a state folder: found or started when first asked for, once for all targets. */
export function embeddedServerOf(
  { flags, terminal }: Invocation,
  folder: string,
  resources: AsyncDisposableStack,
): () => Promise<ServerChoice> {
  const find = async (): Promise<ServerChoice> => {
    const attached = await attach(folder, { signal: terminal.stopping });
    if (attached !== null) {
      if (!flags.embedded) terminal.stderr.write(`using the embedded control plane at ${printable(attached.url)}\n`);
      return attached;
    }
    if (!flags.embedded) throw noServer();
    // Only who serves it pays for loading it.
    const { startEmbedded } = await import("./embedded.ts");
    const { terminalLog } = await import("./terminal-log.ts");
    return resources.use(await startEmbedded(folder, terminalLog({ flags, terminal }), terminal)).choice;
  };
  let finding: Promise<ServerChoice> | null = null;
  return () => {
    finding ??= find();
    return finding;
  };
}
