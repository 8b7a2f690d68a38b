/** Selects a text where it is shown and copies it; false where the browser has no clipboard, so that the selection can be copied. */
export async function copyText(text: string, shown: Element | null): Promise<boolean> {
  if (shown !== null) getSelection()?.selectAllChildren(shown);
  // Only over HTTPS and on this machine does a browser have a clipboard.
  if (navigator.clipboard === undefined) return false;
  await navigator.clipboard.writeText(text);
  return true;
}
