import { setFlagsFromString } from "node:v8";

// V8 gives what dies young twice the room, up to many times what a run that keeps most of what it reads can use. It may
// be told by how much to grow, but not how far: it grows once, while the program loads, and then no more.
const SIX_MEGABYTES = 6;

/** Lets the room for what dies young grow once, from the megabyte that it has. */
export function growOnce(): void {
  setFlagsFromString(`--semi-space-growth-factor=${SIX_MEGABYTES}`);
}

/** Leaves the room for what dies young as it is. */
export function growNoMore(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
