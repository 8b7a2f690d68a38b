import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** When a test looks at a request that passes: before it is sent on, once it has taken effect, or once it is answered. */
export type FrontMoment = "request" | "effect" | "reply";

/** A proxy whose address is known before that of the server behind it, so that the server can be told it. */
export type FrontProxy = {
  readonly url: string;
  readonly passTo: (url: string) => void;
  /** The requests so far, as `METHOD /path`. */
  readonly asked: readonly string[];
  /** Called at each moment of each request, counted from 1; true breaks the connection there. */
  readonly watch: (look: (moment: FrontMoment, nth: number, asked: string) => boolean | Promise<boolean>) => void;
};

/** Starts the proxy; it ends with the test. Bodies pass as streams. */
export async function startFrontProxy(): Promise<FrontProxy> {
  const asked: string[] = [];
  let target = "";
  let look: Parameters<FrontProxy["watch"]>[0] = () => false;
  const proxy = createServer((from, to) => void pass(from, to));
  const url = await listen(proxy);
  return {
    url,
    asked,
    passTo: (behind) => {
      target = behind;
    },
    watch: (next) => {
      look = next;
    },
  };

  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = from;
    const name = `${method} ${path}`;
    const nth = asked.push(name);
    const isBroken = async (moment: FrontMoment): Promise<boolean> => {
      if (!(await look(moment, nth, name))) return false;
      to.destroy();
      return true;
    };
    if (await isBroken("request")) return;
    const passed = request(target + path, { method, headers }, async (answer) => {
      if (await isBroken("effect")) return void answer.resume();
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
      to.once("finish", () => void look("reply", nth, name));
    });
    passed.once("error", () => to.destroy());
    from.once("error", () => passed.destroy());
    from.pipe(passed);
  }
}
