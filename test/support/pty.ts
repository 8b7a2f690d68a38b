/** What starts a command on a terminal of its own with that many columns; its stdout is all that the terminal is sent. */
export function onTerminal(columns: number): readonly string[] {
  const typed = `exec script --quiet --flush --return --command "stty cols ${columns} rows 24; exec $*" /dev/null`;
  return ["sh", "-c", typed, "sh"];
}
