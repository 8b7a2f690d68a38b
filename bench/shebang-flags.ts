import { readFileSync } from "node:fs";

/** The flags that the first line of a script gives to Node where it is run by its name. */
export function shebangFlags(script: string): readonly string[] {
  const [first = ""] = readFileSync(script, "utf8").split("\n", 1);
  return first.startsWith("#!") ? first.split(" ").filter((word) => word.startsWith("--")) : [];
}
