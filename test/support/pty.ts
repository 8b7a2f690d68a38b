/**
 * What starts a command on a terminal of its own with that many columns; its stdout is all that the terminal is sent.
 * `answer` is what a person types there.
 */
export function onTerminal(columns: number, answer = ""): readonly string[] {
  const typed = `printf "${answer}" | script --quiet --flush --return --command "stty cols ${columns} rows 24; exec $*" /dev/null`;
  return ["sh", "-c", typed, "sh"];
}
