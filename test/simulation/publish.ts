import { writePart } from "../support/page-part.ts";

/** Replaces a part of the page about the simulation. */
export function publish(part: "results" | "safeguards", text: string): void {
  writePart("simulation.md", part, text);
}
