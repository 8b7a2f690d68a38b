import { connect, createServer, type Socket } from "node:net";

/** Stands before a server and makes it seem far away: what is sent to it arrives that much later, however much there is. */
const [, , server = "", milliseconds = "20"] = process.argv;
const { hostname, port } = new URL(server);

const far = createServer({ noDelay: true }, (near) => {
  const there = connect({ host: hostname, port: Number(port), noDelay: true });
  near.on("data", (bytes) => later(() => there.write(bytes)));
  near.on("end", () => later(() => there.end()));
  there.pipe(near);
  breakTogether(near, there);
});
far.listen(0, "127.0.0.1", () => {
  const address = far.address();
  if (address === null || typeof address === "string") throw new TypeError("it listens on no port");
  process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`);
});
process.on("SIGTERM", () => process.exit());

function later(work: () => void): void {
  setTimeout(work, Number(milliseconds));
}

function breakTogether(one: Socket, other: Socket): void {
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
}
