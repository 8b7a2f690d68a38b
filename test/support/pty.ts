/**
 * What starts a command on a terminal of its own with that many columns; its stdout is all that the terminal is sent.
 * `answer` is what a person types there at once, `pressed` a key that is pressed every two seconds from then on until the
 * command ends: what is pressed before it asks may be lost.
 */
export function onTerminal(
  columns: number,
  answer = "",
  { pressed = "" }: { readonly pressed?: string } = {},
): readonly string[] {
  const presses = pressed === "" ? "" : `; while sleep 2; do printf "${pressed}"; done`;
  const terminal = `script --quiet --flush --return --command "stty cols ${columns} rows 24; exec $*" /dev/null`;
  return ["sh", "-c", `(printf "${answer}"${presses}) | ${terminal}`, "sh"];
}
