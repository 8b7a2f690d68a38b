import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { inject, onTestFinished } from "vitest";
import type { Source } from "./source.ts";

/** What a tool has answered. */
export type ToolReply = {
  readonly isError: boolean;
  readonly text: string;
  readonly exitCode: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly structured: any;
};

/** Starts `holdfast mcp` in a source, and connects the protocol's own client to it over its stdin and stdout. */
export async function connectOverStdio(
  source: Pick<Source, "folder">,
  {
    flags = [],
    server,
    env = {},
  }: {
    readonly flags?: readonly string[];
    readonly server?: { readonly url: string; readonly token: string };
    readonly env?: { readonly [name: string]: string };
  },
): Promise<Client> {
  const named = server === undefined ? {} : { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [inject("holdfast"), "mcp", ...flags],
    cwd: source.folder,
    env: { HOME: source.folder, PATH: process.env.PATH ?? "", ...named, ...env },
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** Calls a tool. */
export async function callTool(
  client: Client,
  name: string,
  given: { readonly [name: string]: unknown } = {},
): Promise<ToolReply> {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: { ...given } });
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const structured = structuredContent as { exit_code?: number; data?: unknown } | undefined;
  return { isError, text, exitCode: structured?.exit_code ?? null, data: structured?.data, structured };
}
