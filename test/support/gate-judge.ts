import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import { type Received, startReceiver } from "./http-receiver.ts";

/** The key that requests to the service are signed with. */
export const JUDGE_KEY = "a key of the gate";

/** A reply of the service. */
export type Judgement = { status: number; type: string; body: string };

/** A service that judges contents for a gate, and what it answers; a test may change that. */
export type Judge = {
  readonly gate: { readonly url: string; readonly secretFile: string };
  readonly received: readonly Received[];
  readonly judgement: Judgement;
  readonly says: (pass: boolean, summary: string, score?: number) => void;
};

/** Starts a service that judges. */
export async function startJudge(): Promise<Judge> {
  const judgement: Judgement = { status: 200, type: "application/json", body: "" };
  const file = join(await temporaryFolder(), "key");
  await writeFile(file, `${JUDGE_KEY}\n`);
  const { url, received } = await startReceiver((response) => {
    const { status, type, body } = judgement;
    response.writeHead(status, { "content-type": type, location: "http://127.0.0.1:9/" }).end(body);
  });
  const says = (pass: boolean, summary: string, score?: number) => {
    judgement.body = JSON.stringify({ pass, summary, ...(score === undefined ? {} : { score }) });
  };
  return { gate: { url: `${url}/judge`, secretFile: file }, received, judgement, says };
}
