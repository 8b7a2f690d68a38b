/**
 * What CI runners would take for a command to them in what a step prints, line by line: GitHub's `::name::` at the
 * beginning and `##[name]` anywhere, Azure's `##vso[…]`, TeamCity's, and GitLab's marks of sections.
 */
export function runnerCommandsIn(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours, which some runners take away first
    const plain = line.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "").trimStart();
    const isCommand = [line, plain].some(
      (each) => (each.startsWith("::") && each.indexOf("::", 2) > 0) || /##\w*\[|section_(?:start|end):/.test(each),
    );
    return isCommand ? [line] : [];
  });
}
